// SPDX-License-Identifier: Apache-2.0
//
// Finds what `tensorscope repl` is made of. Every error is one line that says
// what is missing and what to do.
#ifndef TENSORSCOPE_TOOL_REPLPARTS_H
#define TENSORSCOPE_TOOL_REPLPARTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tensorscope {

struct ReplParts {
  /// The interpreter.
  std::string Program;
  /// The folder of tensorscope/repl.h.
  std::string Includes;
  /// LibTorch's folder.
  std::string Torch;
  /// Whether that is another than the one that the program was built with.
  bool OtherTorch = false;
};

/// \p Torch may be empty; \p Executable is the program `tensorscope`.
llvm::Expected<ReplParts> findReplParts(llvm::StringRef Torch,
                                        llvm::StringRef Executable);

/// The file of a library that is given as `-l` takes it, or by its file; its
/// name alone where no folder has it, for the system to find.
llvm::Expected<std::string> findLibrary(llvm::StringRef Name,
                                        llvm::ArrayRef<std::string> Folders);

/// Whether the system finds all libraries of \p Program.
llvm::Error checkLoads(llvm::StringRef Program);

llvm::Error problemOf(const llvm::Twine &What);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_REPLPARTS_H
