// SPDX-License-Identifier: Apache-2.0
//
// The outcome of a run: the files' reports put together, in an order that does
// not depend on how they were made. Read by the writers.
#ifndef TENSORSCOPE_TOOL_REPORT_H
#define TENSORSCOPE_TOOL_REPORT_H

#include "tool/Findings.h"
#include "tool/Suppressions.h"
#include "llvm/ADT/ArrayRef.h"

namespace tensorscope {

class CheckSelection;
class SourceTexts;

/// A problem with a NOLINT comment.
struct NoLintProblem {
  std::string File;
  SuppressionProblem Problem;
};

struct Totals {
  unsigned Analyzed = 0;
  unsigned Skipped = 0;
  unsigned Failed = 0;
  unsigned Findings = 0;
  unsigned Suppressed = 0;
  unsigned FilesWithFindings = 0;
  unsigned FunctionsAnalyzed = 0;
  unsigned FunctionsNotAnalyzed = 0;
  unsigned FunctionsWithErrors = 0;
  unsigned Silenced = 0;
};

struct Report {
  /// Fingerprints and paths in SARIF are relative to it.
  std::string Root;
  /// Sorted by file, line, column and rule; one that several files' parses gave
  /// (it lies in a header) comes once.
  std::vector<Finding> Findings;
  /// One per file: of two commands for one file the worse status.
  std::vector<FileReport> Files;
  std::vector<NoLintProblem> NoLintProblems;

  Totals totals() const;
};

/// Merges, sorts, suppresses and fingerprints. \p WholeDatabase tells whether
/// every file was checked, so that a NOLINT in a header which silences nothing
/// is known to.
Report makeReport(std::vector<FileReport> Files, std::string Root,
                  const CheckSelection &Checks, bool WholeDatabase,
                  SourceTexts &Sources);

/// The folder that names a project: the nearest one at or above \p Start with
/// a .tensorscope.yml or .git, else the current one.
std::string findRoot(llvm::StringRef Start);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_REPORT_H
