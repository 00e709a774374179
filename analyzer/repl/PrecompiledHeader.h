// SPDX-License-Identifier: Apache-2.0
//
// What the prompt includes before its first input, compiled once and kept, so
// that later starts are quick.
#ifndef TENSORSCOPE_REPL_PRECOMPILEDHEADER_H
#define TENSORSCOPE_REPL_PRECOMPILEDHEADER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tensorscope {

/// The file of \p Header as compiled with \p Arguments, made anew where a file
/// that it was made of has changed since, or the compiler or the arguments are
/// others.
llvm::Expected<std::string>
precompiledHeader(llvm::StringRef Header,
                  const std::vector<std::string> &Arguments,
                  llvm::StringRef Folder);

} // namespace tensorscope

#endif // TENSORSCOPE_REPL_PRECOMPILEDHEADER_H
