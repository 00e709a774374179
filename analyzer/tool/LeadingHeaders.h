// SPDX-License-Identifier: Apache-2.0
//
// Which of LibTorch's headers a file includes, and what it defines before, so
// that they may come first where the definitions don't change what they mean.
#ifndef TENSORSCOPE_TOOL_LEADINGHEADERS_H
#define TENSORSCOPE_TOOL_LEADINGHEADERS_H

#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace tensorscope {

struct LeadingHeader {
  /// As in `torch/torch.h`.
  std::string Name;
  /// Of the macros of the file, those before it.
  size_t MacrosBefore = 0;
};

struct LeadingHeaders {
  std::vector<LeadingHeader> Headers;
  /// Defined or undefined, in any branch of a condition.
  std::vector<std::string> Macros;
};

/// In the order of the file and of the project's own headers that it includes;
/// without what is included under a condition. Ends early at a header that a
/// macro names.
LeadingHeaders leadingHeaders(const clang::tooling::CompileCommand &Command);

/// The one of \p Headers that includes most of LibTorch, by its name alone, so
/// that files of different runs share it; null if none includes much.
const LeadingHeader *largestHeader(llvm::ArrayRef<LeadingHeader> Headers);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_LEADINGHEADERS_H
