// SPDX-License-Identifier: Apache-2.0
//
// Finds evaluation that records graphs which nothing walks back.
// User page: docs/checks/missing-no-grad.md
#include "checks/Check.h"

#include "checks/Edits.h"
#include "dataflow/GradientUnit.h"
#include "dataflow/Repetition.h"

using namespace clang;

namespace tensorscope {
namespace {

class ForwardQuery {
public:
  explicit ForwardQuery(CheckInput &Input)
      : Input(Input), Flow(*Input.Gradients), Facts(Flow.facts()) {}

  void visit(const Fact &F, const GradientState &S) {
    if (F.Kind != FactKind::Gradient)
      return;
    const GradientEvent &E = Facts.Gradients[F.Event];
    bool IsRecorded = S.Mode == GradientMode::On ||
                      S.Mode == GradientMode::Inherited;
    if (E.Kind != GradientKind::Derive || !E.IsForward || !IsRecorded)
      return;
    unsigned Fate = Flow.fate(F.Dst);
    LoopID Loop = countedLoop(F);
    if ((Fate & WalkedBack) || !Seen.insert(Loop).second)
      return;
    FlowFinding Found;
    Found.Loc = locationOf(F.At);
    Found.Subject = Facts.Places.name(E.Module, Input.Ctx);
    Found.Condition = conditionFor(F, E, S);
    Found.Condition->NeedsNoTraining = Fate != 0;
    Found.Condition->NeedsLoopAround = Loop == NoLoop;
    if (Loop != NoLoop) {
      Found.Steps.push_back(
          {FlowStepKind::LoopBegan, Facts.Loops[Loop].Loc, ""});
      if (!trainsIn(Loop))
        Found.Edits = firstStatementEdit(Facts.Loops[Loop].Text,
                                         "torch::NoGradGuard no_grad;",
                                         Input.Ctx);
    }
    Findings.push_back(std::move(Found));
  }

  std::vector<FlowFinding> Findings;

private:
  LoopID countedLoop(const Fact &F) {
    LoopID L = F.Loop;
    while (L != NoLoop && (Facts.Loops[L].IsSmall || !Repeating.goesOn(L, F)))
      L = Facts.Loops[L].Outer;
    return L;
  }

  GradientCondition conditionFor(const Fact &, const GradientEvent &E,
                                 const GradientState &S) {
    GradientCondition C;
    C.Runs = Facts.Function;
    C.NeedsNoFreezing = C.NeedsEvaluation = true;
    C.IsEvaluated = Flow.isEvaluated(S, E.Module);
    PlaceID Root = Facts.Places.root(E.Module);
    auto Param = llvm::find(Facts.Params, Root);
    if (Param != Facts.Params.end() && !S.Evaluated.count(E.Module))
      C.EvaluatedParam = Param - Facts.Params.begin();
    else if (!S.Evaluated.count(E.Module))
      C.EvaluatedMembers = modulesOf(Facts, E.Module);
    return C;
  }

  /// A guard for the whole iteration would switch training off.
  bool trainsIn(LoopID Loop) {
    for (const FactBlock &B : Facts.Blocks)
      for (const Fact &F : B.Facts)
        if (F.Kind == FactKind::Gradient && Flow.isInLoop(&F, Loop)) {
          GradientKind Kind = Facts.Gradients[F.Event].Kind;
          if (Kind == GradientKind::Backward || Kind == GradientKind::Train ||
              Kind == GradientKind::ResetGradients)
            return true;
        }
    return false;
  }

  CheckInput &Input;
  GradientFlow &Flow;
  const FunctionFacts &Facts;
  Repetition Repeating{Facts};
  /// One guard is for all forwards of a loop.
  std::set<LoopID> Seen;
};

} // namespace

std::vector<FlowFinding> findMissingNoGrads(CheckInput &Input) {
  if (!Input.Gradients ||
      llvm::none_of(Input.Gradients->facts().Gradients,
                    [](const GradientEvent &E) { return E.IsForward; }))
    return {};
  ForwardQuery Query(Input);
  Input.Gradients->forEachFact([&](const Fact &F, const GradientState &S) {
    Query.visit(F, S);
  });
  return std::move(Query.Findings);
}

Diagnostic describeMissingNoGrad(const FlowFinding &F) {
  if (F.IsOnThread)
    return makeDiagnostic(
        F, "the guard of the function that starts this thread does not cover "
           "it: '" +
               F.Subject +
               "' records a graph here; open a 'torch::NoGradGuard' in the "
               "thread");
  return makeDiagnostic(
      F, "'" + F.Subject +
             "' is evaluated with gradients on: each forward records a graph "
             "that nothing walks back; open a 'torch::NoGradGuard'");
}

} // namespace tensorscope
