// SPDX-License-Identifier: Apache-2.0
//
// The folder of a user's in which compiled headers are kept between runs.
#ifndef TENSORSCOPE_TOOL_CACHEFOLDER_H
#define TENSORSCOPE_TOOL_CACHEFOLDER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tensorscope {

/// `tensorscope` in XDG_CACHE_HOME, else in ~/.cache; empty where there is no
/// home.
std::string defaultCacheFolder();

/// Makes the folder, for this user alone. An error says why precompiled code
/// can't be kept there: others may write to it, or we can't.
llvm::Error prepareCacheFolder(llvm::StringRef Folder);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_CACHEFOLDER_H
