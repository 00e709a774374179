// SPDX-License-Identifier: Apache-2.0
//
// The one entry of the analyzer: from a parsed translation unit to
// diagnostics. Called by every front.
#ifndef TENSORSCOPE_CHECKS_ANALYZER_H
#define TENSORSCOPE_CHECKS_ANALYZER_H

#include "checks/Diagnostic.h"
#include "dataflow/SummaryFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <functional>

namespace clang {
class ASTContext;
} // namespace clang

namespace tensorscope {

class ModelSet;
class ProgramSummaries;

/// When `unscoped-loop` speaks: Auto = only in a translation unit that includes
/// the runtime's header, itself or by a project header.
enum class ScopesMode { Auto, Required, Off };

struct AnalyzerOptions {
  ScopesMode Scopes = ScopesMode::Auto;
  /// A loop with a constant bound up to this many iterations is not "a loop
  /// that creates tensors without a scope".
  unsigned SmallLoopBound = 16;
  /// Transfer steps for one function of up to some thousand lines, more in
  /// proportion for a longer one; past it the function is not analysed.
  unsigned StepLimit = 200000;
  /// Blocks for one function; past it the function is not analysed.
  unsigned BlockLimit = 40000;
  /// What functions of other translation units do; may be null.
  const ProgramSummaries *Elsewhere = nullptr;
  /// Whether the result has summaries for other translation units.
  bool ExportsSummaries = false;
};

/// What was looked at, and what was not; fronts print it, never hide it.
struct AnalyzerStatistics {
  unsigned FunctionsAnalyzed = 0;
  /// Over a budget: their signatures, for the summary.
  std::vector<std::string> NotAnalyzed;
  /// Functions skipped since they contain errors.
  unsigned FunctionsWithErrors = 0;
  /// Places where a finding was kept back since something was unknown.
  unsigned SilencedByUnknown = 0;
};

struct AnalyzerResult {
  /// Sorted by location; no two with the same rule and location.
  std::vector<Diagnostic> Diagnostics;
  AnalyzerStatistics Statistics;
  /// What others may want to know of this unit, and this unit of others.
  SummaryFile Summaries;
};

/// Name, level and sentence of a check; the table of all checks.
struct CheckInfo {
  llvm::StringRef Rule;
  unsigned Level;
  llvm::StringRef Sentence;
};
llvm::ArrayRef<CheckInfo> allChecks();

/// False for a translation unit that sees neither LibTorch nor the runtime:
/// nothing is ever found in it.
bool isAnalyzed(clang::ASTContext &Context);

/// Runs the checks whose rule \p Enabled accepts. Reports only on functions
/// outside system headers. Never throws and never prints.
AnalyzerResult analyzeTranslationUnit(
    clang::ASTContext &Context, const ModelSet &Models,
    const AnalyzerOptions &Options,
    const std::function<bool(llvm::StringRef Rule)> &Enabled);

} // namespace tensorscope

#endif // TENSORSCOPE_CHECKS_ANALYZER_H
