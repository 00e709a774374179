// SPDX-License-Identifier: Apache-2.0
//
// `tensorscope extract`, `link` and `models`: the parts of a whole program's
// check, for build systems that run them apart.
#include "tool/CheckRun.h"
#include "tool/CheckSelection.h"
#include "tool/Command.h"
#include "tool/FileRunner.h"
#include "tool/ParseInputs.h"
#include "tool/Paths.h"
#include "tool/WholeProgram.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

namespace tensorscope {
namespace {

/// Options and work of the commands that parse files for their summaries.
class ParsingCommand : public Command {
public:
  using Command::Command;

protected:
  /// Parses the files and links their summaries; those that could not be parsed
  /// are told, one line each.
  llvm::Expected<ProgramSummaries> summarize(bool Links, bool &AnyFailed);

  cl::list<std::string> Paths{cl::Positional, cl::desc("[file or folder...]"),
                              cl::sub(Sub), cl::cat(Category)};
  cl::opt<std::string> Build{
      "p",
      cl::desc("Folder with compile_commands.json, or the file "
               "(default: the nearest at or above the first path)"),
      cl::value_desc("folder"), cl::sub(Sub), cl::cat(Category)};
  cl::opt<std::string> ConfigPath{
      "config",
      cl::desc("Settings (default: the nearest .tensorscope.yml at "
               "or above the first path)"),
      cl::value_desc("file"), cl::sub(Sub), cl::cat(Category)};
  cl::opt<std::string> Jobs{
      "jobs",
      cl::desc("Files to parse at once (default: one per processor, "
               "as far as 1 GB of memory each allows)"),
      cl::value_desc("n"), cl::sub(Sub), cl::cat(Category)};
  HeaderOptions Headers{Sub, Category};

private:
  std::string startPath() const { return Paths.empty() ? "." : Paths.front(); }
};

llvm::Expected<ProgramSummaries>
ParsingCommand::summarize(bool Links, bool &AnyFailed) {
  llvm::Expected<unsigned> JobCount = readJobCount(Jobs);
  if (!JobCount)
    return JobCount.takeError();
  ModelSet Models = ModelSet::builtin();
  if (llvm::Expected<Config> Settings =
          readSettings(ConfigPath, startPath(), Models);
      !Settings)
    return Settings.takeError();
  llvm::Expected<ParseInputs> Inputs = findInputs(Build, startPath(), Paths);
  if (!Inputs)
    return Inputs.takeError();

  CheckSelection NoChecks(0);
  llvm::cantFail(NoChecks.apply("-*"));
  AnalyzerOptions Options;
  Options.ExportsSummaries = true;
  llvm::Expected<HeaderFolder> Folder = Headers.open();
  if (!Folder)
    return Folder.takeError();
  RunSettings Run{NoChecks, Models, Options, Inputs->ResourceFolder, &*Folder};
  std::vector<FileReport> Reports =
      runChecks(Inputs->Commands, Inputs->Database, Run, *JobCount,
                [](const FileReport &) {});
  for (const FileReport &Report : Reports)
    if (Report.Status == FileStatus::Failed) {
      AnyFailed = true;
      llvm::errs() << displayPath(Report.File) << ": not analysed: "
                   << Report.Reason.Message << '\n';
    }
  return linkReports(Reports, Links);
}

llvm::Error writeFile(const ProgramSummaries &Program, llvm::StringRef Output) {
  return llvm::writeToOutput(Output, [&](llvm::raw_ostream &Out) {
    Out << writeSummaryFile(Program.file());
    return llvm::Error::success();
  });
}

class ExtractCommand : public ParsingCommand {
public:
  ExtractCommand()
      : ParsingCommand("extract", "writes what the functions of files do to "
                                  "tensors, for the check of other files") {}

  int run() override {
    bool AnyFailed = false;
    llvm::Expected<ProgramSummaries> Program =
        summarize(/*Links=*/false, AnyFailed);
    if (!Program)
      return refuse(Program.takeError());
    if (llvm::Error Failure = writeFile(*Program, Output))
      return refuse("cannot write " + llvm::toString(std::move(Failure)));
    return AnyFailed ? ExitProblem : ExitClean;
  }

private:
  cl::opt<std::string> Output{
      "output",
      cl::desc("Write the summaries here, whole or not at all "
               "(default: standard output)"),
      cl::value_desc("file"), cl::init("-"), cl::sub(Sub), cl::cat(Category)};
};

class LinkCommand : public Command {
public:
  LinkCommand()
      : Command("link", "joins summary files into one, without any source") {}

  int run() override {
    llvm::Expected<ProgramSummaries> Program =
        loadSummaries(std::vector<std::string>(Files.begin(), Files.end()));
    if (!Program)
      return refuse(Program.takeError());
    if (llvm::Error Failure = writeFile(*Program, Output))
      return refuse("cannot write " + llvm::toString(std::move(Failure)));
    return ExitClean;
  }

private:
  cl::list<std::string> Files{cl::Positional, cl::OneOrMore,
                              cl::desc("summary file..."), cl::sub(Sub),
                              cl::cat(Category)};
  cl::opt<std::string> Output{
      "output",
      cl::desc("Write the summaries here, whole or not at all "
               "(default: standard output)"),
      cl::value_desc("file"), cl::init("-"), cl::sub(Sub), cl::cat(Category)};
};

class ModelsCommand : public ParsingCommand {
public:
  ModelsCommand()
      : ParsingCommand("models", "lists functions that code passes tensors to "
                                 "and of which nothing is known") {}

  int run() override {
    if (!Missing)
      return refuse("say --missing");
    bool AnyFailed = false;
    llvm::Expected<ProgramSummaries> Program =
        summarize(/*Links=*/true, AnyFailed);
    if (!Program)
      return refuse(Program.takeError());
    std::vector<UnknownCallee> Unknown = Program->missing();
    for (const UnknownCallee &Callee : Unknown)
      llvm::outs() << Callee.Calls << (Callee.Calls == 1 ? " call   " : " calls  ")
                   << Callee.Signature << "  first at "
                   << displayPath(Callee.First.File) << ':'
                   << Callee.First.Line << '\n';
    llvm::outs() << "tensorscope: " << Unknown.size()
                 << (Unknown.size() == 1 ? " function" : " functions")
                 << " without a model\n";
    return AnyFailed ? ExitProblem : ExitClean;
  }

private:
  cl::opt<bool> Missing{
      "missing",
      cl::desc("List the functions without a model, most called first"),
      cl::sub(Sub), cl::cat(Category)};
};

} // namespace

std::unique_ptr<Command> makeExtractCommand() {
  return std::make_unique<ExtractCommand>();
}

std::unique_ptr<Command> makeLinkCommand() {
  return std::make_unique<LinkCommand>();
}

std::unique_ptr<Command> makeModelsCommand() {
  return std::make_unique<ModelsCommand>();
}

} // namespace tensorscope
