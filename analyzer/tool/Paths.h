// SPDX-License-Identifier: Apache-2.0
//
// Paths as the tool compares, prints and stores them.
#ifndef TENSORSCOPE_TOOL_PATHS_H
#define TENSORSCOPE_TOOL_PATHS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace tensorscope {

/// Absolute and without `.` and `..`; links are not followed, so that two
/// spellings of one path agree while a linked source keeps its own name.
std::string absolutePath(llvm::StringRef Path, llvm::StringRef Directory = "");

/// Whether \p File is \p Folder or lies under it; both as of absolutePath().
bool liesUnder(llvm::StringRef File, llvm::StringRef Folder);

/// \p File as seen from \p Folder where it lies under it, else unchanged.
std::string relativeTo(llvm::StringRef File, llvm::StringRef Folder);

/// \p File as the user would type it here.
std::string displayPath(llvm::StringRef File);

/// The nearest of \p Names in \p Start or a folder above it.
std::optional<std::string> findUpward(llvm::StringRef Start,
                                      llvm::ArrayRef<llvm::StringRef> Names);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_PATHS_H
