// SPDX-License-Identifier: Apache-2.0
//
// Finds Clang's own headers (stddef.h and the like) for the Clang that the tool
// is linked with.
#ifndef TENSORSCOPE_TOOL_RESOURCEFOLDER_H
#define TENSORSCOPE_TOOL_RESOURCEFOLDER_H

#include "llvm/Support/Error.h"
#include <string>

namespace tensorscope {

/// Beside the program, then where LLVM's libraries were loaded from, then where
/// they were at build time; an error names what was tried.
llvm::Expected<std::string> findResourceFolder();

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_RESOURCEFOLDER_H
