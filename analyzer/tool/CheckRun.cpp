// SPDX-License-Identifier: Apache-2.0
#include "tool/CheckRun.h"
#include "tool/CompileDatabase.h"
#include "tool/FileRunner.h"
#include "tool/Paths.h"
#include "tool/SharedHeaders.h"
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

/// Its process did not live to say why: a compiled header can be the reason.
static bool endedEarly(const FileReport &Report) {
  return Report.Status == FileStatus::Failed && Report.PeakMegabytes == 0;
}

static SharedHeaders shareHeaders(llvm::ArrayRef<size_t> ToParse,
                                  llvm::ArrayRef<CompileCommand> Commands,
                                  const RunSettings &Settings, unsigned Jobs) {
  std::vector<CompileCommand> Parsed;
  for (size_t Index : ToParse)
    Parsed.push_back(Commands[Index]);
  if (Settings.Headers)
    return shareHeaders(Parsed, Settings.ResourceFolder, *Settings.Headers,
                        Jobs);
  return SharedHeaders(Parsed.size());
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
  SharedHeaders Shared =
      shareHeaders(ToParse, Commands, Settings, Jobs);
  auto Check = [&](size_t Job) {
    return checkFile(Commands[ToParse[Job]], Settings, Shared.Compiled[Job]);
  };
  auto Name = [&](size_t Job, FileReport &Report) {
    nameFile(Report, Commands[ToParse[Job]].Filename);
    Report.ParseSeconds += Shared.Seconds[Job];
  };
  std::vector<size_t> Again;
  std::vector<FileReport> Parsed = runInWorkers(
      ToParse.size(), Jobs, Check, [&](size_t Job, FileReport &Report) {
        Name(Job, Report);
        if (endedEarly(Report) && !Shared.Compiled[Job].empty())
          Again.push_back(Job);
        else
          Done(Report);
      });
  for (size_t Job : Again)
    Shared.Compiled[Job].clear();
  std::vector<FileReport> Second = runInWorkers(
      Again.size(), Jobs, [&](size_t I) { return Check(Again[I]); },
      [&](size_t I, FileReport &Report) {
        Name(Again[I], Report);
        Done(Report);
      });
  for (size_t I = 0; I < Again.size(); ++I)
    Parsed[Again[I]] = std::move(Second[I]);
  for (size_t Job = 0; Job < Parsed.size(); ++Job)
    Reports[ToParse[Job]] = std::move(Parsed[Job]);
  return Reports;
}

} // namespace tensorscope
