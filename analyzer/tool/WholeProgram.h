// SPDX-License-Identifier: Apache-2.0
//
// What files know of each other's functions: each file is parsed once and gives
// summaries, these are joined without sources, and only a file that calls a
// function of which more is known now is looked at again.
#ifndef TENSORSCOPE_TOOL_WHOLEPROGRAM_H
#define TENSORSCOPE_TOOL_WHOLEPROGRAM_H

#include "dataflow/ProgramSummaries.h"
#include "tool/Findings.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace tensorscope {

class CompileDatabase;
struct RunSettings;

/// Reads summary files, and joins and links what is in them.
llvm::Expected<ProgramSummaries>
loadSummaries(llvm::ArrayRef<std::string> FileNames);

/// Joins the summaries in the reports of files that were parsed, and links them
/// if \p Links.
ProgramSummaries linkReports(llvm::ArrayRef<FileReport> Reports,
                             bool Links = true);

/// As runChecks(), with what the files know of each other. \p Done is called
/// again for a file that is looked at again.
std::vector<FileReport>
runWholeProgram(llvm::ArrayRef<clang::tooling::CompileCommand> Commands,
                const CompileDatabase &Database, const RunSettings &Settings,
                unsigned Jobs,
                llvm::function_ref<void(const FileReport &)> Done);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_WHOLEPROGRAM_H
