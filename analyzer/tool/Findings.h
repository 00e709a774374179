// SPDX-License-Identifier: Apache-2.0
//
// What checking a file gives, as plain data: no Clang type, so that it can
// leave the process that parsed the file. Filled by FileRunner, read by the
// writers.
#ifndef TENSORSCOPE_TOOL_FINDINGS_H
#define TENSORSCOPE_TOOL_FINDINGS_H

#include "checks/Diagnostic.h"
#include <string>
#include <vector>

namespace tensorscope {

/// A position in a file. Lines and columns count from 1, columns in bytes; line
/// 0 is the file as a whole.
struct Place {
  std::string File;
  unsigned Line = 0;
  unsigned Column = 0;
};

/// One step of the story that led to a finding.
struct Step {
  Place At;
  std::string Message;
};

/// Replaces the text from \c Begin up to \c End, which is not part of it.
struct Edit {
  Place Begin;
  Place End;
  std::string Text;
};

struct Finding {
  /// Without the "tensorscope-" prefix.
  std::string Rule;
  unsigned Level = 0;
  Confidence Conf = Confidence::Definite;
  Place At;
  std::string Message;
  std::vector<Step> Steps;
  /// All or nothing.
  std::vector<Edit> Fix;
  std::string Function;
  /// Set when the reports of all files are put together.
  std::string Fingerprint;
  bool Suppressed = false;
};

enum class FileStatus { Analyzed, Skipped, Failed };

/// What one compile command of the database gave.
struct FileReport {
  std::string File;
  FileStatus Status = FileStatus::Analyzed;
  /// Why it was skipped or failed: for a file that does not compile, the
  /// compiler's first error, with its place.
  Step Reason;
  unsigned Errors = 0;
  std::vector<Finding> Findings;
  /// Files outside system headers whose text has a NOLINT.
  std::vector<std::string> FilesWithNoLint;
  unsigned FunctionsAnalyzed = 0;
  unsigned FunctionsWithErrors = 0;
  unsigned SilencedByUnknown = 0;
  std::vector<std::string> FunctionsNotAnalyzed;
  /// A summary file's text, if the run wants one.
  std::string Summaries;
  /// Processor time.
  double ParseSeconds = 0;
  double AnalysisSeconds = 0;
  unsigned PeakMegabytes = 0;
};

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_FINDINGS_H
