// SPDX-License-Identifier: Apache-2.0
#include "tool/FileRunner.h"
#include "tool/CheckSelection.h"
#include "tool/DiagnosticConversion.h"
#include "tool/Paths.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Timer.h"
#include <sys/resource.h>

using clang::tooling::CompileCommand;

namespace tensorscope {

namespace {

/// Processor time of this process, which on a busy machine says more than the
/// clock on the wall.
double secondsUsed() {
  return llvm::TimeRecord::getCurrentTime(/*Start=*/false).getProcessTime();
}

/// Counts the compiler's errors and keeps the first. One without a place comes
/// from the command line: it counts only when nothing could be parsed, since
/// other compilers' flags are unknown to Clang and mostly do not matter here.
class ErrorKeeper : public clang::DiagnosticConsumer {
public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &Info) override {
    if (Level < clang::DiagnosticsEngine::Error)
      return;
    llvm::SmallString<256> Text;
    Info.FormatDiagnostic(Text);
    std::string Message = Text.str().str();
    if (Info.getLocation().isInvalid() || !Info.hasSourceManager()) {
      if (WithoutPlace.Message.empty())
        WithoutPlace.Message = std::move(Message);
      return;
    }
    if (Errors++ == 0)
      First = {toPlace(Info.getLocation(), Info.getSourceManager()),
               std::move(Message)};
  }

  unsigned Errors = 0;
  Step First;
  Step WithoutPlace;
};

/// Analyses the translation unit as soon as it is parsed.
class AnalyzingConsumer : public clang::ASTConsumer {
public:
  AnalyzingConsumer(const RunSettings &Settings, FileReport &Report,
                    double Start)
      : Settings(Settings), Report(Report), Start(Start) {}

  void HandleTranslationUnit(clang::ASTContext &Context) override {
    Report.ParseSeconds = secondsUsed() - Start;
    double AnalysisStart = secondsUsed();
    AnalyzerResult Result = analyzeTranslationUnit(
        Context, Settings.Models, Settings.Options,
        [this](llvm::StringRef Rule) { return Settings.Checks.runs(Rule); });
    for (const Diagnostic &Found : Result.Diagnostics)
      if (Settings.Checks.reports(Found.Rule, Found.Level))
        Report.Findings.push_back(toFinding(Found, Context));
    Report.FunctionsAnalyzed = Result.Statistics.FunctionsAnalyzed;
    Report.FunctionsWithErrors = Result.Statistics.FunctionsWithErrors;
    Report.SilencedByUnknown = Result.Statistics.SilencedByUnknown;
    Report.FunctionsNotAnalyzed = std::move(Result.Statistics.NotAnalyzed);
    if (Settings.Options.ExportsSummaries)
      Report.Summaries = writeSummaryFile(Result.Summaries);
    Report.FilesWithNoLint = filesWithNoLint(Context.getSourceManager());
    Report.AnalysisSeconds = secondsUsed() - AnalysisStart;
    Report.Status = FileStatus::Analyzed;
  }

private:
  const RunSettings &Settings;
  FileReport &Report;
  double Start;
};

class AnalyzingAction : public clang::ASTFrontendAction {
public:
  AnalyzingAction(const RunSettings &Settings, FileReport &Report, double Start)
      : Settings(Settings), Report(Report), Start(Start) {}

  std::unique_ptr<clang::ASTConsumer>
  CreateASTConsumer(clang::CompilerInstance &Compiler,
                    llvm::StringRef /*File*/) override {
    // A missing header is one error among others: go on with what is known.
    Compiler.getDiagnostics().setFatalsAsError(true);
    return std::make_unique<AnalyzingConsumer>(Settings, Report, Start);
  }

private:
  const RunSettings &Settings;
  FileReport &Report;
  double Start;
};

class AnalyzingFactory : public clang::tooling::FrontendActionFactory {
public:
  AnalyzingFactory(const RunSettings &Settings, FileReport &Report)
      : Settings(Settings), Report(Report) {}

  std::unique_ptr<clang::FrontendAction> create() override {
    return std::make_unique<AnalyzingAction>(Settings, Report, Start);
  }

  bool runInvocation(std::shared_ptr<clang::CompilerInvocation> Invocation,
                     clang::FileManager *Files,
                     std::shared_ptr<clang::PCHContainerOperations> Operations,
                     clang::DiagnosticConsumer *Consumer) override {
    // The process ends after this file; taking the AST apart is wasted time.
    Invocation->getFrontendOpts().DisableFree = true;
    return FrontendActionFactory::runInvocation(
        std::move(Invocation), Files, std::move(Operations), Consumer);
  }

private:
  const RunSettings &Settings;
  FileReport &Report;
  double Start = secondsUsed();
};

} // namespace

static unsigned peakMegabytes() {
  struct rusage Usage;
  if (getrusage(RUSAGE_SELF, &Usage))
    return 0;
  return static_cast<unsigned>(Usage.ru_maxrss / 1024);
}

static FileReport failed(FileReport Report, Step Reason) {
  Report.Status = FileStatus::Failed;
  Report.Reason = std::move(Reason);
  if (Report.Reason.At.File.empty())
    Report.Reason.At.File = Report.File;
  return Report;
}

bool runFrontend(std::vector<std::string> Arguments,
                 clang::tooling::FrontendActionFactory &Factory,
                 clang::DiagnosticConsumer &Consumer) {
  llvm::IntrusiveRefCntPtr<clang::FileManager> Files(
      new clang::FileManager(clang::FileSystemOptions()));
  clang::tooling::ToolInvocation Invocation(
      std::move(Arguments), &Factory, Files.get(),
      std::make_shared<clang::PCHContainerOperations>());
  Invocation.setDiagnosticConsumer(&Consumer);
  return Invocation.run();
}

/// Analyses the file as \p Arguments say.
static FileReport parseAndAnalyze(const std::string &File,
                                  std::vector<std::string> Arguments,
                                  const RunSettings &Settings) {
  FileReport Report;
  Report.File = File;
  // Set to Analyzed by the consumer, so that a run that never gets there fails.
  Report.Status = FileStatus::Failed;
  ErrorKeeper Errors;
  AnalyzingFactory Factory(Settings, Report);
  runFrontend(std::move(Arguments), Factory, Errors);

  Report.Errors = Errors.Errors;
  Report.PeakMegabytes = peakMegabytes();
  if (Errors.Errors)
    return failed(std::move(Report), Errors.First);
  if (Report.Status == FileStatus::Failed)
    return failed(std::move(Report), Errors.WithoutPlace);
  return Report;
}

FileReport checkFile(const CompileCommand &Command, const RunSettings &Settings,
                     const std::string &CompiledHeader) {
  if (std::error_code Error =
          llvm::sys::fs::set_current_path(Command.Directory)) {
    FileReport Report;
    Report.File = Command.Filename;
    return failed(std::move(Report),
                  {{},
                   "its compile command's folder " + Command.Directory + ": " +
                       Error.message()});
  }
  std::vector<std::string> Arguments =
      argumentsToParse(Command, Settings.ResourceFolder);
  if (!CompiledHeader.empty()) {
    std::vector<std::string> Quicker = Arguments;
    Quicker.insert(Quicker.begin() + 1, {"-include-pch", CompiledHeader});
    FileReport Report =
        parseAndAnalyze(Command.Filename, std::move(Quicker), Settings);
    if (Report.Status == FileStatus::Analyzed)
      return Report;
  }
  return parseAndAnalyze(Command.Filename, std::move(Arguments), Settings);
}

} // namespace tensorscope
