// SPDX-License-Identifier: Apache-2.0
//
// Finds the library that `tensorscope run` preloads.
#ifndef TENSORSCOPE_TOOL_PRELOADLIBRARY_H
#define TENSORSCOPE_TOOL_PRELOADLIBRARY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tensorscope {

/// The absolute path of libtensorscope_preload.so: `Given` if that is not
/// empty, else in the library folder beside `Executable`'s, as in a build tree
/// or where the package is installed. An error says what was tried.
llvm::Expected<std::string> findPreloadLibrary(llvm::StringRef Given,
                                               llvm::StringRef Executable);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_PRELOADLIBRARY_H
