// SPDX-License-Identifier: Apache-2.0
#include "tool/Report.h"
#include "tool/CheckSelection.h"
#include "tool/Config.h"
#include "tool/Fingerprint.h"
#include "tool/Paths.h"
#include "tool/SourceTexts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>
#include <tuple>

namespace tensorscope {

/// What makes two findings one.
static auto identity(const Finding &F) {
  return std::tie(F.At.File, F.At.Line, F.At.Column, F.Rule);
}

static std::vector<Finding> mergeFindings(std::vector<FileReport> &Files) {
  std::vector<Finding> All;
  for (FileReport &File : Files) {
    for (Finding &F : File.Findings)
      All.push_back(std::move(F));
    File.Findings.clear();
  }
  llvm::stable_sort(All, [](const Finding &A, const Finding &B) {
    return identity(A) < identity(B);
  });
  All.erase(std::unique(All.begin(), All.end(),
                        [](const Finding &A, const Finding &B) {
                          return identity(A) == identity(B);
                        }),
            All.end());
  return All;
}

/// Files must be sorted. The statistics of two commands add up.
static std::vector<FileReport> mergeFiles(std::vector<FileReport> Files) {
  std::vector<FileReport> Merged;
  for (FileReport &File : Files) {
    if (Merged.empty() || Merged.back().File != File.File) {
      Merged.push_back(std::move(File));
      continue;
    }
    FileReport &Other = Merged.back();
    bool Worse =
        File.Status == FileStatus::Failed && Other.Status != FileStatus::Failed;
    bool Better = File.Status == FileStatus::Analyzed &&
                  Other.Status == FileStatus::Skipped;
    if (Worse || Better) {
      Other.Status = File.Status;
      Other.Reason = std::move(File.Reason);
    }
    Other.Errors += File.Errors;
    Other.FunctionsAnalyzed += File.FunctionsAnalyzed;
    Other.FunctionsWithErrors += File.FunctionsWithErrors;
    Other.SilencedByUnknown += File.SilencedByUnknown;
    llvm::append_range(Other.FunctionsNotAnalyzed, File.FunctionsNotAnalyzed);
    llvm::append_range(Other.FilesWithNoLint, File.FilesWithNoLint);
    Other.ParseSeconds += File.ParseSeconds;
    Other.AnalysisSeconds += File.AnalysisSeconds;
    Other.PeakMegabytes = std::max(Other.PeakMegabytes, File.PeakMegabytes);
  }
  return Merged;
}

/// The files whose NOLINT comments are known to silence nothing if they did
/// not: those that were checked, and headers when all of their users were.
static std::set<std::string> filesToJudge(llvm::ArrayRef<FileReport> Files,
                                          bool WholeDatabase) {
  std::set<std::string> Judged;
  bool AllAnalyzed = llvm::all_of(Files, [](const FileReport &File) {
    return File.Status != FileStatus::Failed;
  });
  for (const FileReport &File : Files)
    for (const std::string &Name : File.FilesWithNoLint)
      if ((WholeDatabase && AllAnalyzed) ||
          (Name == File.File && File.Status == FileStatus::Analyzed))
        Judged.insert(Name);
  return Judged;
}

static void applySuppressions(Report &Result, const CheckSelection &Checks,
                              bool WholeDatabase, SourceTexts &Sources) {
  std::set<std::string> Judged = filesToJudge(Result.Files, WholeDatabase);
  std::map<std::string, Suppressions> ByFile;
  auto suppressionsOf = [&](const std::string &File) -> Suppressions & {
    auto It = ByFile.find(File);
    if (It == ByFile.end()) {
      const SourceText *Text = Sources.get(File);
      It = ByFile.emplace(File, Text ? Text->text() : llvm::StringRef()).first;
    }
    return It->second;
  };
  for (Finding &F : Result.Findings)
    F.Suppressed = suppressionsOf(F.At.File).suppress(F.Rule, F.At.Line);
  for (const std::string &File : Judged)
    for (SuppressionProblem &P : suppressionsOf(File).problems(
             [&Checks](llvm::StringRef Rule) { return Checks.runs(Rule); }))
      Result.NoLintProblems.push_back({File, std::move(P)});
}

Report makeReport(std::vector<FileReport> Files, std::string Root,
                  const CheckSelection &Checks, bool WholeDatabase,
                  SourceTexts &Sources) {
  llvm::stable_sort(Files, [](const FileReport &A, const FileReport &B) {
    return A.File < B.File;
  });
  Report Result;
  Result.Root = std::move(Root);
  Result.Findings = mergeFindings(Files);
  Result.Files = mergeFiles(std::move(Files));
  applySuppressions(Result, Checks, WholeDatabase, Sources);
  setFingerprints(Result.Findings, Result.Root, Sources);
  return Result;
}

Totals Report::totals() const {
  Totals T;
  std::set<std::string> FilesWithFindings;
  for (const Finding &F : Findings) {
    if (F.Suppressed) {
      ++T.Suppressed;
      continue;
    }
    ++T.Findings;
    FilesWithFindings.insert(F.At.File);
  }
  T.FilesWithFindings = FilesWithFindings.size();
  for (const FileReport &File : Files) {
    T.Analyzed += File.Status == FileStatus::Analyzed;
    T.Skipped += File.Status == FileStatus::Skipped;
    T.Failed += File.Status == FileStatus::Failed;
    T.FunctionsAnalyzed += File.FunctionsAnalyzed;
    T.FunctionsNotAnalyzed += File.FunctionsNotAnalyzed.size();
    T.FunctionsWithErrors += File.FunctionsWithErrors;
    T.Silenced += File.SilencedByUnknown;
  }
  return T;
}

std::string findRoot(llvm::StringRef Start) {
  if (auto Marker = findUpward(Start, {Config::FileName, ".git"}))
    return llvm::sys::path::parent_path(*Marker).str();
  return absolutePath(".");
}

} // namespace tensorscope
