// SPDX-License-Identifier: Apache-2.0
//
// `tensorscope check`: options, then database, workers, report, output.
#include "tool/CheckRun.h"
#include "tool/CheckSelection.h"
#include "tool/Command.h"
#include "tool/FileRunner.h"
#include "tool/ParseInputs.h"
#include "tool/Paths.h"
#include "tool/Report.h"
#include "tool/SourceTexts.h"
#include "tool/WholeProgram.h"
#include "tool/Writers.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

namespace tensorscope {

namespace {

class CheckCommand : public Command {
public:
  CheckCommand()
      : Command("check", "finds mistakes in the files of a compile database") {}

  int run() override;

private:
  llvm::Error readOutputOptions();
  llvm::Error readConfig();
  llvm::Error selectChecks();
  llvm::Error readAnalysisOptions();
  llvm::Expected<Report> check(SourceTexts &Sources);
  llvm::Error writeOutput(const Report &Result, SourceTexts &Sources);
  void writeMessages(const Report &Result);
  bool useColors() const;
  std::string startPath() const { return Paths.empty() ? "." : Paths.front(); }

  template <typename T> using Opt = cl::opt<T>;
  cl::list<std::string> Paths{cl::Positional, cl::desc("[file or folder...]"),
                              cl::sub(Sub), cl::cat(Category)};
  Opt<std::string> Build{
      "p",
      cl::desc("Folder with compile_commands.json, or the file "
               "(default: the nearest at or above the first path)"),
      cl::value_desc("folder"), cl::sub(Sub), cl::cat(Category)};
  Opt<std::string> Level{
      "level",
      cl::desc("Report findings up to this level: 0 certain, 1 "
               "likely, 2 advice (default: 1)"),
      cl::value_desc("0|1|2"), cl::sub(Sub), cl::cat(Category)};
  Opt<std::string> Checks{
      "checks",
      cl::desc("Comma-separated checks to switch on, or off with a "
               "'-' before; wildcards work"),
      cl::value_desc("list"), cl::sub(Sub), cl::cat(Category)};
  Opt<std::string> Scopes{
      "scopes",
      cl::desc("When a loop needs a scope: auto (in code that "
               "includes tensorscope.h), required, off"),
      cl::value_desc("mode"), cl::sub(Sub), cl::cat(Category)};
  Opt<std::string> ConfigPath{
      "config",
      cl::desc("Settings (default: the nearest .tensorscope.yml at "
               "or above the first path)"),
      cl::value_desc("file"), cl::sub(Sub), cl::cat(Category)};
  cl::list<std::string> Summaries{
      "summaries",
      cl::desc("What functions of other files do, as extract and link wrote it "
               "(default: as the checked files show it)"),
      cl::value_desc("file"), cl::sub(Sub), cl::cat(Category)};
  Opt<std::string> Format{"format",
                          cl::desc("text (default), json or sarif"),
                          cl::value_desc("name"),
                          cl::init("text"),
                          cl::sub(Sub),
                          cl::cat(Category)};
  Opt<std::string> Output{
      "output",
      cl::desc("Write the findings here, whole or not at all "
               "(default: standard output)"),
      cl::value_desc("file"),
      cl::init("-"),
      cl::sub(Sub),
      cl::cat(Category)};
  Opt<std::string> Jobs{
      "jobs",
      cl::desc("Files to check at once (default: one per processor, "
               "as far as 1 GB of memory each allows)"),
      cl::value_desc("n"), cl::sub(Sub), cl::cat(Category)};
  Opt<std::string> Color{"color",
                         cl::desc("auto (default), always or never"),
                         cl::value_desc("when"),
                         cl::init("auto"),
                         cl::sub(Sub),
                         cl::cat(Category)};
  HeaderOptions Headers{Sub, Category};
  Opt<bool> Timing{"timing", cl::desc("Print parse and analysis times"),
                   cl::sub(Sub), cl::cat(Category)};
  Opt<bool> Quiet{"quiet",
                  cl::desc("Print findings and errors alone: no progress, no "
                           "totals beside a file, no skipped files"),
                  cl::sub(Sub), cl::cat(Category)};

  // What the options and the configuration come to.
  Config Settings;
  std::optional<CheckSelection> Selection;
  ModelSet Models = ModelSet::builtin();
  AnalyzerOptions Analysis;
  unsigned JobCount = 1;
};

} // namespace

static llvm::Error problem(const llvm::Twine &Text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Text);
}

static llvm::Error badValue(llvm::StringRef Option, llvm::StringRef Value,
                            llvm::StringRef Expected) {
  return problem("--" + Option + " takes " + Expected + ", not '" + Value +
                 "'");
}

llvm::Error CheckCommand::readOutputOptions() {
  if (Format != "text" && Format != "json" && Format != "sarif")
    return badValue("format", Format, "text, json or sarif");
  if (Color != "auto" && Color != "always" && Color != "never")
    return badValue("color", Color, "auto, always or never");
  llvm::Expected<unsigned> Count = readJobCount(Jobs);
  if (!Count)
    return Count.takeError();
  JobCount = *Count;
  // Known before the work is done rather than after it.
  std::string Folder = llvm::sys::path::parent_path(absolutePath(Output)).str();
  if (Output != "-" && !llvm::sys::fs::is_directory(Folder))
    return problem("cannot write " + Output + ": no folder " + Folder);
  return llvm::Error::success();
}

/// Read before the analysis' options, so that the command line wins.
llvm::Error CheckCommand::readConfig() {
  llvm::Expected<Config> Read = readSettings(ConfigPath, startPath(), Models);
  if (!Read)
    return Read.takeError();
  Settings = std::move(*Read);
  return llvm::Error::success();
}

llvm::Error CheckCommand::selectChecks() {
  unsigned HighestLevel = Settings.Level.value_or(1);
  if (Level.getNumOccurrences() &&
      (llvm::StringRef(Level).getAsInteger(10, HighestLevel) ||
       HighestLevel > CheckSelection::HighestLevel))
    return badValue("level", Level, "0, 1 or 2");
  Selection.emplace(HighestLevel);
  llvm::SmallVector<llvm::StringRef> Entries(Settings.Checks.begin(),
                                             Settings.Checks.end());
  llvm::StringRef(Checks).split(Entries, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef Entry : Entries)
    if (llvm::Error Failure = Selection->apply(Entry))
      return Failure;
  return llvm::Error::success();
}

llvm::Error CheckCommand::readAnalysisOptions() {
  Analysis.Scopes = Settings.Scopes.value_or(Analysis.Scopes);
  if (Scopes.getNumOccurrences()) {
    std::optional<ScopesMode> Mode = scopesMode(Scopes);
    if (!Mode)
      return badValue("scopes", Scopes, "auto, required or off");
    Analysis.Scopes = *Mode;
  }
  Analysis.SmallLoopBound =
      Settings.SmallLoopBound.value_or(Analysis.SmallLoopBound);
  return llvm::Error::success();
}

bool CheckCommand::useColors() const {
  if (Color != "auto")
    return Color == "always";
  return Output == "-" && llvm::outs().has_colors();
}

llvm::Error CheckCommand::writeOutput(const Report &Result,
                                      SourceTexts &Sources) {
  return llvm::writeToOutput(Output, [&](llvm::raw_ostream &Out) {
    if (Format == "json")
      writeJson(Out, Result, Timing);
    else if (Format == "sarif")
      writeSarif(Out, Result, Sources);
    else
      writeText(Out, Result, Sources, useColors());
    Out.flush(); // before what goes to standard error
    return llvm::Error::success();
  });
}

/// What the user is told beside the output.
void CheckCommand::writeMessages(const Report &Result) {
  writeFileProblems(llvm::errs(), Result, /*WithSkipped=*/!Quiet);
  if (Timing)
    writeTiming(llvm::errs(), Result);
  bool TotalsShown = Format == "text" && Output == "-";
  if (!TotalsShown && !Quiet)
    llvm::errs() << summaryLine(Result) << '\n';
}

llvm::Expected<Report> CheckCommand::check(SourceTexts &Sources) {
  llvm::Expected<ParseInputs> Inputs = findInputs(Build, startPath(), Paths);
  if (!Inputs)
    return Inputs.takeError();

  llvm::Expected<ProgramSummaries> Given =
      loadSummaries(std::vector<std::string>(Summaries.begin(), Summaries.end()));
  if (!Given)
    return Given.takeError();
  llvm::Expected<HeaderFolder> Folder = Headers.open();
  if (!Folder)
    return Folder.takeError();
  RunSettings Run{*Selection, Models, Analysis, Inputs->ResourceFolder,
                  &*Folder};
  Run.Options.Elsewhere = &*Given;
  size_t Finished = 0;
  bool ShowProgress = !Quiet && llvm::sys::Process::StandardErrIsDisplayed();
  auto Done = [&](const FileReport &F) {
    if (!ShowProgress)
      return;
    if (++Finished <= Inputs->Commands.size())
      llvm::errs() << '[' << Finished << '/' << Inputs->Commands.size() << "] ";
    else
      llvm::errs() << "[again] ";
    llvm::errs() << displayPath(F.File) << '\n';
  };
  // With summaries given, somebody else joins the parts.
  std::vector<FileReport> Files =
      Summaries.empty()
          ? runWholeProgram(Inputs->Commands, Inputs->Database, Run, JobCount,
                            Done)
          : runChecks(Inputs->Commands, Inputs->Database, Run, JobCount, Done);
  return makeReport(std::move(Files), findRoot(startPath()), *Selection,
                    /*WholeDatabase=*/Paths.empty(), Sources);
}

int CheckCommand::run() {
  for (auto Read :
       {&CheckCommand::readOutputOptions, &CheckCommand::readConfig,
        &CheckCommand::selectChecks, &CheckCommand::readAnalysisOptions})
    if (llvm::Error Failure = (this->*Read)())
      return refuse(std::move(Failure));
  SourceTexts Sources;
  llvm::Expected<Report> Result = check(Sources);
  if (!Result)
    return refuse(Result.takeError());
  if (llvm::Error Failure = writeOutput(*Result, Sources))
    return refuse("cannot write " + llvm::toString(std::move(Failure)));
  writeMessages(*Result);
  Totals T = Result->totals();
  return T.Failed ? ExitProblem : T.Findings ? ExitFindings : ExitClean;
}

std::unique_ptr<Command> makeCheckCommand() {
  return std::make_unique<CheckCommand>();
}

} // namespace tensorscope
