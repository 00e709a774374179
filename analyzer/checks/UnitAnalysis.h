// SPDX-License-Identifier: Apache-2.0
//
// Runs the dataflow over the functions of a translation unit, callees first,
// and answers for their summaries.
#ifndef TENSORSCOPE_CHECKS_UNITANALYSIS_H
#define TENSORSCOPE_CHECKS_UNITANALYSIS_H

#include "checks/Check.h"
#include "dataflow/FactsGenerator.h"
#include "dataflow/GradientUnit.h"
#include "dataflow/StorageFlow.h"
#include "dataflow/UnitFacts.h"
#include "llvm/ADT/MapVector.h"

namespace tensorscope {

class UnitAnalysis : public SummaryProvider {
public:
  using Visitor =
      std::function<void(const clang::FunctionDecl *, StorageFlow &)>;

  UnitAnalysis(clang::ASTContext &Ctx, const ModelSet &Models,
               const AnalyzerOptions &Options);

  /// Calls \p Visit once for each analysed function; its dataflow is gone
  /// afterwards.
  void run(const Visitor &Visit);

  /// Every call of \p F that this translation unit shows is made inside a
  /// scope, and there is one.
  bool onlyRunsInScope(const clang::FunctionDecl *F) const;

  /// The dataflow of \p F with the ways of its exceptions; null past a budget.
  std::unique_ptr<OwnedFlow> withExceptions(const clang::FunctionDecl *F);

  /// What \p F does with borrowed memory.
  const BorrowFindings &borrows(const clang::FunctionDecl *F) {
    return Borrows.findings(F);
  }
  /// What \p F does on the streams of a device that may go wrong.
  std::vector<StreamReport> streams(const clang::FunctionDecl *F) {
    return Streams.findings(F);
  }
  /// What \c run met, without paths.
  UnitFacts unitFacts();
  /// Autograd's graphs in the function that is visited; null past a budget.
  GradientFlow *gradients() { return Gradients.get(); }
  /// Complete when all functions have been visited.
  const GradientUnit &gradientUnit() const { return AllGradients; }

  const Summary *summary(const clang::FunctionDecl *F) override;
  const Summary *elsewhere(const clang::FunctionDecl *F) override;
  void noteUnknown(const clang::FunctionDecl *F,
                   const clang::Expr *Call) override;
  /// Of the functions that other translation units can call, and what this one
  /// wants to know of theirs.
  SummaryFile exportSummaries() const;

  const OwnershipSummary *ownership(const clang::FunctionDecl *F) override;
  const AnalyzerStatistics &statistics() const { return Statistics; }

private:
  struct CallFrom {
    const clang::FunctionDecl *Caller = nullptr;
    bool IsInScope = false;
  };

  void analyze(const clang::FunctionDecl *F, const Visitor &Visit);
  void analyzeWithCallees(const clang::FunctionDecl *F, const Visitor &Visit);
  void followGradients(const clang::FunctionDecl *F, FunctionFacts &Facts);
  void collectCalls(const clang::FunctionDecl *Caller, StorageFlow &Flow);
  bool isAnalyzable(const clang::FunctionDecl *F);

  UnitContext Unit;
  BorrowAnalysis Borrows;
  StreamAnalysis Streams;
  const AnalyzerOptions &Options;
  AnalyzerStatistics Statistics;
  /// Null: nothing is known of it.
  llvm::DenseMap<const clang::FunctionDecl *, std::unique_ptr<Summary>>
      Summaries;
  /// The same of functions without a body here.
  llvm::DenseMap<const clang::FunctionDecl *, std::unique_ptr<Summary>>
      Elsewhere;
  /// With the first call of each.
  llvm::MapVector<const clang::FunctionDecl *,
                  std::pair<const clang::Expr *, unsigned>>
      Unknown;
  /// Made when they are asked for; null while that is under way.
  llvm::DenseMap<const clang::FunctionDecl *, std::unique_ptr<OwnershipSummary>>
      Ownership;
  unsigned OwnershipDepth = 0;
  /// Functions with a body, without lambdas, and variables outside of them.
  std::vector<const clang::FunctionDecl *> Bodies;
  std::vector<const clang::VarDecl *> Variables;
  llvm::DenseSet<const clang::FunctionDecl *> Started;
  std::unique_ptr<GradientFlow> Gradients;
  GradientUnit AllGradients;
  llvm::DenseMap<const clang::FunctionDecl *, llvm::SmallVector<CallFrom, 2>>
      Calls;
};

} // namespace tensorscope

#endif // TENSORSCOPE_CHECKS_UNITANALYSIS_H
