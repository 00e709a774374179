// SPDX-License-Identifier: Apache-2.0
//
// From locations in Clang's source manager to places in files.
#ifndef TENSORSCOPE_TOOL_DIAGNOSTICCONVERSION_H
#define TENSORSCOPE_TOOL_DIAGNOSTICCONVERSION_H

#include "tool/Findings.h"

namespace clang {
class ASTContext;
class SourceManager;
} // namespace clang

namespace tensorscope {

/// The place in the text that is read, not where a #line directive points: in a
/// macro's argument the argument, else where the macro is expanded.
Place toPlace(clang::SourceLocation Loc, const clang::SourceManager &Sources);

/// A fix that touches the inside of a macro is left out.
Finding toFinding(const Diagnostic &Found, const clang::ASTContext &Context);

/// The files outside system headers that have a NOLINT in them.
std::vector<std::string> filesWithNoLint(const clang::SourceManager &Sources);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_DIAGNOSTICCONVERSION_H
