// SPDX-License-Identifier: Apache-2.0
//
// Every identifier in the text of files, whatever the conditions around it: a
// macro of another name changes nothing in them.
#ifndef TENSORSCOPE_TOOL_HEADERWORDS_H
#define TENSORSCOPE_TOOL_HEADERWORDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tensorscope {

/// Writes the identifiers in \p Files to the file \p To; false if it can't.
bool writeWords(llvm::ArrayRef<std::string> Files, llvm::StringRef To);

/// Whether one of \p Names is among the identifiers in the file \p Written; yes
/// if that can't be read.
bool hasAnyWord(llvm::StringRef Written, llvm::ArrayRef<std::string> Names);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_HEADERWORDS_H
