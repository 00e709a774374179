// SPDX-License-Identifier: Apache-2.0
//
// Checks the commands that were selected: sorts out those that cannot be
// parsed, hands the rest to workers.
#ifndef TENSORSCOPE_TOOL_CHECKRUN_H
#define TENSORSCOPE_TOOL_CHECKRUN_H

#include "tool/Findings.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tensorscope {

class CompileDatabase;
struct RunSettings;

/// One report per command, in their order. A file that is absent has failed,
/// with the line of \p Database that names it. \p Done is called after each
/// file that was parsed.
std::vector<FileReport>
runChecks(llvm::ArrayRef<clang::tooling::CompileCommand> Commands,
          const CompileDatabase &Database, const RunSettings &Settings,
          unsigned Jobs, llvm::function_ref<void(const FileReport &)> Done);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_CHECKRUN_H
