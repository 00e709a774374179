// SPDX-License-Identifier: Apache-2.0
//
// Finds models, optimizers, data sets and data loaders that are made in the
// scope of an iteration.
// User page: docs/checks/long-lived-in-scope.md
#include "checks/Check.h"

#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

class LongLivedQuery {
public:
  explicit LongLivedQuery(CheckInput &Input) : Facts(Input.Flow.facts()) {
    Input.Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<State> Before) {
      if (F.Kind == FactKind::MakeLongLived)
        noteMaking(F, Before);
      else if (F.Kind == FactKind::GiveLongLived)
        Given.insert(F.Variable);
      else if (F.Kind == FactKind::FillLongLived)
        Filled.insert(F.Variable);
      else if (F.Kind == FactKind::Create || F.Kind == FactKind::CreateInside ||
               F.Kind == FactKind::Call)
        noteWork(F, Before);
    });
  }

  std::vector<FlowFinding> findings() const {
    std::vector<FlowFinding> Findings;
    for (const auto &[Making, Scope] : Makings) {
      const ValueDecl *V = Making->Variable;
      bool IsEmpty = Making->Value && !Filled.count(V);
      if (IsEmpty || Given.count(V) || ScopesWithLoops.count(Scope))
        continue;
      FlowFinding F;
      F.Loc = V->getLocation();
      F.Subject = V->getNameAsString();
      F.Holder = Facts.LongLived.at(V);
      F.Steps.push_back({FlowStepKind::ScopeBegan,
                         locationOf(Facts.Scopes[Scope].Begin), ""});
      Findings.push_back(std::move(F));
    }
    return Findings;
  }

private:
  /// Made in each iteration, and in a scope that is the iteration's own.
  void noteMaking(const Fact &F, llvm::ArrayRef<State> Before) {
    if (F.Loop == NoLoop || Facts.Loops[F.Loop].IsSmall)
      return;
    ScopeID Innermost = NoScope;
    for (const State &S : Before) {
      if (S.ScopesUnknown || S.Scopes.empty() ||
          (Innermost != NoScope && S.Scopes.back() != Innermost))
        return;
      Innermost = S.Scopes.back();
    }
    if (Innermost != NoScope &&
        Facts.Scopes[Innermost].Form != ScopeForm::Session &&
        Facts.Scopes[Innermost].Loop == F.Loop)
      Makings.push_back({&F, Innermost});
  }

  /// A scope in which a loop works is the scope of a whole training: another
  /// one may well begin with another model.
  void noteWork(const Fact &F, llvm::ArrayRef<State> Before) {
    LoopID Inner = F.Loop;
    while (Inner != NoLoop && Facts.Loops[Inner].IsOverModules)
      Inner = Facts.Loops[Inner].Outer;
    for (const State &S : Before)
      for (ScopeID Scope : S.Scopes)
        for (LoopID L = Inner; L != NoLoop && L != Facts.Scopes[Scope].Loop;
             L = Facts.Loops[L].Outer)
          ScopesWithLoops.insert(Scope);
  }

  const FunctionFacts &Facts;
  std::vector<std::pair<const Fact *, ScopeID>> Makings;
  std::set<const ValueDecl *> Given;
  /// Lists of layers that are given a layer with parameters.
  std::set<const ValueDecl *> Filled;
  std::set<ScopeID> ScopesWithLoops;
};

} // namespace

std::vector<FlowFinding> findLongLivedInScopes(CheckInput &Input) {
  if (Input.Flow.facts().LongLived.empty())
    return {};
  return LongLivedQuery(Input).findings();
}

Diagnostic describeLongLivedInScope(const FlowFinding &F) {
  return makeDiagnostic(
      F, F.Holder + " '" + F.Subject +
             "' is made anew in the scope of each iteration and released with "
             "it, with all that it learned or loaded; make it once, before the "
             "loop");
}

} // namespace tensorscope
