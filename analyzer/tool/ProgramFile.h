// SPDX-License-Identifier: Apache-2.0
//
// What a program's file must be, for a library to be preloaded into it.
#ifndef TENSORSCOPE_TOOL_PROGRAMFILE_H
#define TENSORSCOPE_TOOL_PROGRAMFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tensorscope {

/// The file that the system would start for that name: itself if it has a
/// slash, else the first in PATH. An error says where it was looked for.
llvm::Expected<std::string> findProgram(llvm::StringRef Name);

/// Whether the preloaded library reaches that program: it is a file that may be
/// run, of the same kind as the library, and dynamically linked. A script is
/// what its interpreter is. An error says what is wrong and what to do.
llvm::Error checkProgram(llvm::StringRef Program, llvm::StringRef Preload);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_PROGRAMFILE_H
