// SPDX-License-Identifier: Apache-2.0
//
// Finds calls that empty a memory cache in each iteration of a loop.
// User page: docs/checks/gc-in-loop.md
#include "checks/Check.h"

#include "dataflow/Repetition.h"
#include "utils/TestCode.h"

using namespace clang;

namespace tensorscope {
namespace {

class CollectionQuery {
public:
  explicit CollectionQuery(CheckInput &Input)
      : Facts(Input.Flow.facts()), Repeating(Facts) {
    Input.Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<State>) {
      bool IsWork = F.Kind == FactKind::Create ||
                    F.Kind == FactKind::CreateInside ||
                    F.Kind == FactKind::Call || F.Kind == FactKind::ScopeBegin;
      if (IsWork)
        noteWork(F);
    });
  }

  /// The loop in each of whose iterations \p F runs.
  LoopID loopOf(const Fact &F) {
    for (LoopID L = F.Loop; L != NoLoop; L = Facts.Loops[L].Outer) {
      if (Facts.Loops[L].IsInTest || HasInnerWork.count(L))
        return NoLoop;
      if (!Facts.Loops[L].IsSmall)
        return Repeating.goesOn(L, F) ? L : NoLoop;
    }
    return NoLoop;
  }

private:
  /// A loop around another one that works does much in one iteration: an epoch.
  void noteWork(const Fact &F) {
    LoopID Inner =
        F.Kind == FactKind::ScopeBegin ? Facts.Scopes[F.Scope].Loop : F.Loop;
    while (Inner != NoLoop && Facts.Loops[Inner].IsOverModules)
      Inner = Facts.Loops[Inner].Outer;
    if (Inner == NoLoop)
      return;
    if (F.Kind == FactKind::Call && F.Value)
      HasInnerWork.insert(Inner);
    for (LoopID L = Facts.Loops[Inner].Outer; L != NoLoop;
         L = Facts.Loops[L].Outer)
      HasInnerWork.insert(L);
  }

  const FunctionFacts &Facts;
  Repetition Repeating;
  std::set<LoopID> HasInnerWork;
};

} // namespace

std::vector<FlowFinding> findCollectionsInLoops(CheckInput &Input) {
  std::vector<FlowFinding> Findings;
  const FunctionFacts &Facts = Input.Flow.facts();
  std::vector<const Fact *> Calls;
  Input.Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<State>) {
    if (F.Kind == FactKind::CollectGarbage && !F.Value)
      Calls.push_back(&F);
  });
  if (Calls.empty() || isTestCode(Facts.Function, Input.Ctx.getSourceManager()))
    return Findings;
  CollectionQuery Query(Input);
  for (const Fact *Call : Calls) {
    LoopID Loop = Query.loopOf(*Call);
    if (Loop == NoLoop)
      continue;
    FlowFinding F;
    F.Loc = Call->At->getBeginLoc();
    F.Subject = calleeName(*Call);
    F.Steps.push_back({FlowStepKind::LoopBegan, Facts.Loops[Loop].Loc, ""});
    Findings.push_back(std::move(F));
  }
  return Findings;
}

Diagnostic describeCollectionInLoop(const FlowFinding &F) {
  return makeDiagnostic(
      F, "'" + F.Subject +
             "' empties a memory cache in each iteration of this loop, and the "
             "next iteration fills it again; call it after the loop, or only "
             "when memory has run out");
}

} // namespace tensorscope
