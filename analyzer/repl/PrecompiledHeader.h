// SPDX-License-Identifier: Apache-2.0
//
// What the prompt includes before its first input, compiled once and kept in a
// folder of the user's, so that later starts are quick.
#ifndef TENSORSCOPE_REPL_PRECOMPILEDHEADER_H
#define TENSORSCOPE_REPL_PRECOMPILEDHEADER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tensorscope {

/// `tensorscope` in XDG_CACHE_HOME, else in ~/.cache; empty where there is no
/// home.
std::string defaultCacheFolder();

/// Makes the folder, for this user alone. An error says why precompiled code
/// can't be kept there: others may write to it, or we can't.
llvm::Error prepareCacheFolder(llvm::StringRef Folder);

/// The file of \p Header as compiled with \p Arguments, made anew where a file
/// that it was made of has changed since, or the compiler or the arguments are
/// others. Two programs may do this at the same time: the file is complete
/// whenever it is there.
llvm::Expected<std::string>
precompiledHeader(llvm::StringRef Header,
                  const std::vector<std::string> &Arguments,
                  llvm::StringRef Folder);

} // namespace tensorscope

#endif // TENSORSCOPE_REPL_PRECOMPILEDHEADER_H
