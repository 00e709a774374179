// SPDX-License-Identifier: Apache-2.0
#include "tool/Paths.h"
#include "tool/Report.h"
#include "tool/SourceTexts.h"
#include "tool/Writers.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Basic/LangOptions.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Basic/Version.h"
#include "clang/Frontend/TextDiagnostic.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

namespace tensorscope {

namespace {

/// Prints diagnostics as Clang does, over source texts read again: the source
/// manager that parsed them ended with its process.
class ClangStylePrinter {
public:
  ClangStylePrinter(llvm::raw_ostream &Out, SourceTexts &Sources, bool Colors)
      : Out(Out), Sources(Sources) {
    Options.ShowColors = Colors;
  }

  void print(const Place &At, clang::DiagnosticsEngine::Level Level,
             llvm::StringRef Message, llvm::ArrayRef<Edit> Fix) {
    clang::FullSourceLoc Loc = locate(At);
    if (Loc.isInvalid()) {
      // The file is gone or has changed; the place is still worth its line.
      Out << displayPath(At.File) << ':' << At.Line << ':' << At.Column << ": "
          << (Level == clang::DiagnosticsEngine::Note ? "note: " : "warning: ")
          << Message << '\n';
      return;
    }
    std::vector<clang::FixItHint> Hints;
    for (const Edit &E : Fix)
      if (E.Begin.File == At.File)
        Hints.push_back(clang::FixItHint::CreateReplacement(
            clang::CharSourceRange::getCharRange(locate(E.Begin),
                                                 locate(E.End)),
            E.Text));
#if CLANG_VERSION_MAJOR >= 21
    clang::TextDiagnostic Printer(Out, Language, Options);
#else
    clang::TextDiagnostic Printer(Out, Language, &Options);
#endif
    Printer.emitDiagnostic(Loc, Level, Message, {}, Hints);
  }

private:
  clang::FullSourceLoc locate(const Place &At) {
    const SourceText *Text = Sources.get(At.File);
    if (!Text || At.Line == 0)
      return {};
    auto &Manager = Managers[At.File];
    if (!Manager)
      Manager = std::make_unique<clang::SourceManagerForFile>(
          displayPath(At.File), Text->text());
    clang::SourceManager &SM = Manager->get();
    clang::SourceLocation Start = SM.getLocForStartOfFile(SM.getMainFileID());
    return clang::FullSourceLoc(
        Start.getLocWithOffset(Text->offset(At.Line, At.Column)), SM);
  }

  llvm::raw_ostream &Out;
  SourceTexts &Sources;
  clang::LangOptions Language;
#if CLANG_VERSION_MAJOR >= 21
  clang::DiagnosticOptions Options;
#else
  // Its printer takes shared ownership; this keeps one share.
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> Shared =
      new clang::DiagnosticOptions;
  clang::DiagnosticOptions &Options = *Shared;
#endif
  std::map<std::string, std::unique_ptr<clang::SourceManagerForFile>> Managers;
};

std::string plural(unsigned Count, llvm::StringRef Noun) {
  return llvm::formatv("{0} {1}{2}", Count, Noun, Count == 1 ? "" : "s").str();
}

} // namespace

std::string summaryLine(const Report &Result) {
  Totals T = Result.totals();
  std::string Line = "tensorscope: " + plural(T.Findings, "finding");
  if (T.Findings)
    Line += " in " + plural(T.FilesWithFindings, "file");
  if (T.Suppressed)
    Line += ", " + llvm::utostr(T.Suppressed) + " suppressed";
  Line += "; " + plural(T.Analyzed, "file") + " analysed";
  if (T.Skipped)
    Line += ", " + llvm::utostr(T.Skipped) + " skipped";
  if (T.Failed)
    Line += ", " + llvm::utostr(T.Failed) + " failed";
  Line += "; " + plural(T.FunctionsAnalyzed, "function") + " analysed";
  if (T.FunctionsWithErrors)
    Line += ", " + llvm::utostr(T.FunctionsWithErrors) + " with errors";
  if (T.FunctionsNotAnalyzed) {
    std::vector<std::string> Names;
    for (const FileReport &File : Result.Files)
      llvm::append_range(Names, File.FunctionsNotAnalyzed);
    constexpr size_t Shown = 3;
    bool More = Names.size() > Shown;
    Names.resize(std::min(Names.size(), Shown));
    Line += ", " + llvm::utostr(T.FunctionsNotAnalyzed) +
            " too large to analyse (" + llvm::join(Names, ", ") +
            (More ? ", ...)" : ")");
  }
  if (T.Silenced)
    Line += "; " + plural(T.Silenced, "place") + " silenced as unknown";
  return Line;
}

void writeText(llvm::raw_ostream &Out, const Report &Result,
               SourceTexts &Sources, bool Colors) {
  using Level = clang::DiagnosticsEngine::Level;
  Out.enable_colors(Colors);
  ClangStylePrinter Printer(Out, Sources, Colors);
  for (const Finding &F : Result.Findings) {
    if (F.Suppressed)
      continue;
    Printer.print(F.At, Level::Warning,
                  F.Message + " [tensorscope-" + F.Rule + "]", F.Fix);
    for (const Step &S : F.Steps)
      Printer.print(S.At, Level::Note, S.Message, {});
  }
  for (const NoLintProblem &P : Result.NoLintProblems)
    Out << displayPath(P.File) << ':' << P.Problem.Line
        << ": note: " << P.Problem.Message << '\n';
  Out << summaryLine(Result) << '\n';
}

void writeFileProblems(llvm::raw_ostream &Out, const Report &Result,
                       bool WithSkipped) {
  for (const FileReport &File : Result.Files) {
    if (File.Status == FileStatus::Failed) {
      Out << displayPath(File.Reason.At.File);
      if (File.Reason.At.Line)
        Out << ':' << File.Reason.At.Line;
      Out << ": error: " << File.Reason.Message;
      if (File.Errors > 1)
        Out << " (the first of " << File.Errors << " errors)";
      Out << '\n';
    } else if (File.Status == FileStatus::Skipped && WithSkipped) {
      Out << displayPath(File.File) << ": skipped: " << File.Reason.Message
          << '\n';
    }
  }
}

void writeTiming(llvm::raw_ostream &Out, const Report &Result) {
  double Parse = 0, Analysis = 0;
  Out << "   parse  analysis   peak  file\n";
  for (const FileReport &File : Result.Files) {
    Out << llvm::formatv("{0,7:f3}s {1,8:f3}s {2,4}MB  {3}\n",
                         File.ParseSeconds, File.AnalysisSeconds,
                         File.PeakMegabytes, displayPath(File.File));
    Parse += File.ParseSeconds;
    Analysis += File.AnalysisSeconds;
  }
  Out << llvm::formatv("{0,7:f3}s {1,8:f3}s         {2}; parsing and analysis "
                       "take {3:f3} times parsing\n",
                       Parse, Analysis, plural(Result.Files.size(), "file"),
                       Parse > 0 ? (Parse + Analysis) / Parse : 1.0);
}

} // namespace tensorscope
