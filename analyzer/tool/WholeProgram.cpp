// SPDX-License-Identifier: Apache-2.0
#include "tool/WholeProgram.h"
#include "tool/CheckRun.h"
#include "tool/FileRunner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using clang::tooling::CompileCommand;

namespace tensorscope {

llvm::Expected<ProgramSummaries>
loadSummaries(llvm::ArrayRef<std::string> FileNames) {
  ProgramSummaries Program;
  for (const std::string &Name : FileNames) {
    auto Buffer = llvm::MemoryBuffer::getFile(Name);
    if (!Buffer)
      return llvm::createStringError(Buffer.getError(),
                                     Name + ": " + Buffer.getError().message());
    llvm::Expected<SummaryFile> File =
        readSummaryFile((*Buffer)->getBuffer(), Name);
    if (!File)
      return File.takeError();
    Program.add(*File);
  }
  Program.link();
  return Program;
}

/// Nothing for a file that was not parsed.
static SummaryFile summariesIn(const FileReport &Report) {
  if (Report.Summaries.empty())
    return {};
  // A worker of this same program wrote it.
  return llvm::cantFail(readSummaryFile(Report.Summaries, Report.File));
}

ProgramSummaries linkReports(llvm::ArrayRef<FileReport> Reports, bool Links) {
  ProgramSummaries Program;
  for (const FileReport &Report : Reports)
    Program.add(summariesIn(Report));
  if (Links)
    Program.link();
  return Program;
}

/// It calls a function of another file of which more is known now.
static bool wantsAnotherLook(const FileReport &Report,
                             const ProgramSummaries &Program) {
  return llvm::any_of(summariesIn(Report).Unknown,
                      [&](const UnknownCallee &Callee) {
                        const PortableSummary *S = Program.find(Callee.Usr);
                        return S && mattersToCallers(*S);
                      });
}

/// Both looks cost time; the second one's findings count.
static void takeSecond(FileReport &First, FileReport Second) {
  if (Second.Status != FileStatus::Analyzed)
    return;
  Second.ParseSeconds += First.ParseSeconds;
  Second.AnalysisSeconds += First.AnalysisSeconds;
  Second.PeakMegabytes = std::max(First.PeakMegabytes, Second.PeakMegabytes);
  First = std::move(Second);
}

std::vector<FileReport>
runWholeProgram(llvm::ArrayRef<CompileCommand> Commands,
                const CompileDatabase &Database, const RunSettings &Settings,
                unsigned Jobs,
                llvm::function_ref<void(const FileReport &)> Done) {
  RunSettings Exporting = Settings;
  Exporting.Options.ExportsSummaries = true;
  std::vector<FileReport> Reports =
      runChecks(Commands, Database, Exporting, Jobs, Done);
  ProgramSummaries Program = linkReports(Reports);

  std::vector<size_t> Again;
  std::vector<CompileCommand> AgainCommands;
  for (size_t I = 0; I < Reports.size(); ++I)
    if (wantsAnotherLook(Reports[I], Program)) {
      Again.push_back(I);
      AgainCommands.push_back(Commands[I]);
    }
  if (Again.empty())
    return Reports;
  RunSettings Knowing = Settings;
  Knowing.Options.Elsewhere = &Program;
  std::vector<FileReport> Second =
      runChecks(AgainCommands, Database, Knowing, Jobs, Done);
  for (size_t I = 0; I < Again.size(); ++I)
    takeSecond(Reports[Again[I]], std::move(Second[I]));
  return Reports;
}

} // namespace tensorscope
