// SPDX-License-Identifier: Apache-2.0
//
// Names a finding so that it keeps its name while lines move. For baselines and
// for SARIF's partialFingerprints.
#ifndef TENSORSCOPE_TOOL_FINGERPRINT_H
#define TENSORSCOPE_TOOL_FINGERPRINT_H

#include "tool/Findings.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tensorscope {

class SourceTexts;

/// Sets the fingerprint of each finding: a hash of the rule, the path from \p
/// Root, the enclosing function, the line without white space, and the ordinal
/// among those that agree in all of these. No line number takes part.
/// \p Findings must be in their final order.
void setFingerprints(llvm::MutableArrayRef<Finding> Findings,
                     llvm::StringRef Root, SourceTexts &Sources);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_FINGERPRINT_H
