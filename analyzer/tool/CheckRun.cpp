// SPDX-License-Identifier: Apache-2.0
#include "tool/CheckRun.h"
#include "tool/CompileDatabase.h"
#include "tool/FileRunner.h"
#include "tool/Paths.h"
#include "tool/WorkerPool.h"
#include "llvm/Support/FileSystem.h"

using clang::tooling::CompileCommand;

namespace tensorscope {

/// The report of a file that is not to be parsed, if it is such a one.
static std::optional<FileReport>
reportWithoutParsing(const CompileCommand &Command,
                     const CompileDatabase &Database) {
  FileReport Report;
  Report.File = Command.Filename;
  if (!llvm::sys::fs::exists(Command.Filename)) {
    Report.Status = FileStatus::Failed;
    Report.Reason.At = {absolutePath(Database.path()),
                        Database.lineOf(Command.Filename), 1};
    Report.Reason.Message =
        "names " + Command.Filename + ", which does not exist";
    return Report;
  }
  if (std::optional<std::string> Reason = reasonToSkip(Command)) {
    Report.Status = FileStatus::Skipped;
    Report.Reason.Message = std::move(*Reason);
    return Report;
  }
  return std::nullopt;
}

/// A worker that died cannot say which file it had.
static void nameFile(FileReport &Report, const std::string &File) {
  Report.File = File;
  if (Report.Status == FileStatus::Failed && Report.Reason.At.File.empty())
    Report.Reason.At.File = File;
}

std::vector<FileReport>
runChecks(llvm::ArrayRef<CompileCommand> Commands,
          const CompileDatabase &Database, const RunSettings &Settings,
          unsigned Jobs, llvm::function_ref<void(const FileReport &)> Done) {
  std::vector<FileReport> Reports(Commands.size());
  std::vector<size_t> ToParse;
  for (size_t I = 0; I < Commands.size(); ++I) {
    if (auto Ready = reportWithoutParsing(Commands[I], Database))
      Reports[I] = std::move(*Ready);
    else
      ToParse.push_back(I);
  }
  std::vector<FileReport> Parsed = runInWorkers(
      ToParse.size(), Jobs,
      [&](size_t Job) { return checkFile(Commands[ToParse[Job]], Settings); },
      [&](size_t Job, FileReport &Report) {
        nameFile(Report, Commands[ToParse[Job]].Filename);
        Done(Report);
      });
  for (size_t Job = 0; Job < Parsed.size(); ++Job)
    Reports[ToParse[Job]] = std::move(Parsed[Job]);
  return Reports;
}

} // namespace tensorscope
