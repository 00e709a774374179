// SPDX-License-Identifier: Apache-2.0
//
// Runs the dataflow on a few lines of code and answers what it knows at marked
// points. No clang-tidy, no LibTorch: the code sees a handful of declarations.
#ifndef TENSORSCOPE_TEST_ANALYZEDCODE_H
#define TENSORSCOPE_TEST_ANALYZEDCODE_H

#include "checks/UnitAnalysis.h"
#include <map>
#include <memory>
#include <set>
#include <string>

namespace clang {
class ASTUnit;
} // namespace clang

namespace tensorscope::test {

/// Code whose function `f` is analysed. `point("name")` in it marks a place.
class AnalyzedCode {
public:
  explicit AnalyzedCode(const std::string &Code, AnalyzerOptions Options = {});
  ~AnalyzedCode();

  /// How the storages that \p Variable holds fare at the point, over all states:
  /// "live", "released", "ended", "unknown", "nothing" for an undefined handle,
  /// "unseen" for a storage of which nothing is known.
  std::set<std::string> lives(const std::string &Variable,
                              const std::string &Point) const;
  /// The variables hold one and the same storage at the point, in each state.
  bool share(const std::string &A, const std::string &B,
             const std::string &Point) const;
  /// Number of scopes that are open at the point, over all states.
  std::set<size_t> openScopes(const std::string &Point) const;
  /// Number of states at the point.
  size_t states(const std::string &Point) const;
  /// The summary of a function by its name.
  const Summary *summary(const std::string &Function) const;
  const AnalyzerStatistics &statistics() const { return Unit->statistics(); }

private:
  struct Known {
    std::map<std::string, std::vector<std::string>> Lives; ///< per state
    std::map<std::string, std::vector<std::set<StorageID>>> Storages;
    std::vector<size_t> Scopes;
  };
  void record(StorageFlow &Flow);
  const Known &at(const std::string &Point) const;

  std::unique_ptr<clang::ASTUnit> Ast;
  ModelSet Models;
  AnalyzerOptions Options;
  std::unique_ptr<UnitAnalysis> Unit;
  std::map<std::string, Known> Points;
};

} // namespace tensorscope::test

#endif // TENSORSCOPE_TEST_ANALYZEDCODE_H
