// SPDX-License-Identifier: Apache-2.0
//
// Runs each file in a process of its own. A parser that crashes, or that the
// kernel ends for want of memory, costs that file alone; the memory of a parsed
// file (about 1 GB with LibTorch) goes back at once; and Clang's and LLVM's
// process-wide settings need no guard. Processes are forked, not started, so a
// worker inherits models and settings, and LLVM is loaded once.
#ifndef TENSORSCOPE_TOOL_WORKERPOOL_H
#define TENSORSCOPE_TOOL_WORKERPOOL_H

#include "tool/Findings.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>

namespace tensorscope {

/// As many as there are processors, and no more than free memory allows.
unsigned defaultJobs();

/// Calls \p Check for 0 .. Count-1, each in a child process, at most \p Jobs at
/// once, and returns the reports in that order. A child that ends without a
/// report gives one with status failed and the reason; its file is left empty.
/// \p Done is called in this process after each and may add to the report. The
/// caller must have no other thread.
std::vector<FileReport>
runInWorkers(size_t Count, unsigned Jobs,
             llvm::function_ref<FileReport(size_t Index)> Check,
             llvm::function_ref<void(size_t Index, FileReport &)> Done);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_WORKERPOOL_H
