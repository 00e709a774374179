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

enum Form : unsigned { Evaluation, ThrownAway };

class ForwardQuery {
public:
  explicit ForwardQuery(CheckInput &Input)
      : Input(Input), Flow(*Input.Gradients), Facts(Flow.facts()) {
    for (const FactBlock &B : Facts.Blocks)
      for (const Fact &F : B.Facts)
        if (F.Kind == FactKind::Gradient && isTraining(kindOf(F)))
          Training.push_back(&F);
        else if (F.Kind == FactKind::Gradient &&
                 kindOf(F) == GradientKind::Call && givesTensors(F))
          Asked.insert(Facts.Gradients[F.Event].Module);
  }

  void visit(const Fact &F, const GradientState &S) {
    if (F.Kind != FactKind::Gradient)
      return;
    const GradientEvent &E = Facts.Gradients[F.Event];
    bool IsRecorded = S.Mode == GradientMode::On ||
                      S.Mode == GradientMode::Inherited;
    if (E.Kind != GradientKind::Derive || !E.IsForward || !IsRecorded)
      return;
    unsigned Fate = fateOf(F, E, S);
    LoopID Loop = countedLoop(F);
    bool IsEvaluated = Flow.isEvaluated(S, E.Module);
    bool IsForNobody = Fate == 0 && !E.MayKeepGraph;
    bool IsTried =
        IsForNobody && !IsEvaluated && Loop == NoLoop && trainsInALoop(F);
    bool IsWaste = IsTried || (IsForNobody && Loop != NoLoop &&
                               (IsEvaluated ? walksBackIn(Loop)
                                            : isInTraining(F)));
    if ((Fate & WalkedBack) ||
        (!IsWaste && !Seen.insert({Loop, E.Module}).second))
      return;
    FlowFinding Found;
    Found.Loc = locationOf(F.At);
    Found.Subject = Facts.Places.name(E.Module, Input.Ctx);
    Found.Form = IsWaste ? ThrownAway : Evaluation;
    Found.Condition = conditionFor(E, S, Fate);
    Found.Condition->NeedsEvaluation = !IsWaste;
    Found.Condition->NeedsLoopAround = Loop == NoLoop && !IsTried;
    if (IsWaste && E.IsUnseen && mayBeHeld(E.Module))
      Found.Level = 2;
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
  GradientKind kindOf(const Fact &F) const {
    return Facts.Gradients[F.Event].Kind;
  }

  static bool isTraining(GradientKind Kind) {
    return Kind == GradientKind::Backward || Kind == GradientKind::Train ||
           Kind == GradientKind::ResetGradients;
  }

  /// Of the place, but for what it is walked back from at another time.
  unsigned fateOf(const Fact &F, const GradientEvent &E,
                  const GradientState &S) {
    unsigned Fate = Flow.fate(F.Dst);
    if (!(Fate & WalkedBack))
      return Fate;
    GradientValue Made{{GradientAtomKind::Graph, &F, NoPlace}};
    for (PlaceID P : E.Passed) {
      GradientValue V = Flow.reachable(S, P);
      Made.insert(Made.end(), V.begin(), V.end());
    }
    return Flow.mayBeWalkedBack(Made) ? Fate : Fate & ~unsigned(WalkedBack);
  }

  LoopID countedLoop(const Fact &F) {
    LoopID L = F.Loop;
    while (L != NoLoop && (Facts.Loops[L].IsSmall || !Repeating.goesOn(L, F)))
      L = Facts.Loops[L].Outer;
    return L;
  }

  GradientCondition conditionFor(const GradientEvent &E, const GradientState &S,
                                 unsigned Fate) {
    GradientCondition C;
    C.Runs = Facts.Function;
    C.NeedsNoFreezing = true;
    C.IsEvaluated = Flow.isEvaluated(S, E.Module);
    // What a function that sets to evaluation and trains nothing gives to
    // others is not given to be trained with.
    C.NeedsNoTraining =
        (Fate & ~unsigned(GivenAway)) ||
        ((Fate & GivenAway) && (!Training.empty() || !C.IsEvaluated));
    PlaceID Root = Facts.Places.root(E.Module);
    auto Param = llvm::find(Facts.Params, Root);
    if (Param != Facts.Params.end() && !S.Evaluated.count(E.Module))
      C.EvaluatedParam = Param - Facts.Params.begin();
    else if (!S.Evaluated.count(E.Module))
      C.EvaluatedMembers = modulesOf(Facts, E.Module);
    return C;
  }

  /// Backward runs in a loop around \p F.
  bool isInTraining(const Fact &F) {
    for (LoopID L = F.Loop; L != NoLoop; L = Facts.Loops[L].Outer)
      if (walksBackIn(L))
        return true;
    return false;
  }

  bool walksBackIn(LoopID Loop) {
    return llvm::any_of(Training, [&](const Fact *Step) {
      return kindOf(*Step) == GradientKind::Backward &&
             Flow.isInLoop(Step, Loop);
    });
  }

  /// A member function that is no forward.
  static bool givesTensors(const Fact &Call) {
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Call.Callee);
    return Method && !Method->getReturnType()->isVoidType() &&
           Method->getDeclName().isIdentifier() &&
           Method->getName() != "forward";
  }

  /// A module of which the forward is not seen may keep a graph, and give it to
  /// who asks for it.
  bool mayBeHeld(PlaceID Module) {
    return (Flow.fate(Module) & WalkedBack) || Asked.count(Module);
  }

  /// The function trains in a loop, and \p F tries the outcome after it.
  bool trainsInALoop(const Fact &F) {
    return llvm::any_of(Training, [&](const Fact *Step) {
      return kindOf(*Step) == GradientKind::Backward && Step->Loop != NoLoop &&
             Input.Ctx.getSourceManager().isBeforeInTranslationUnit(
                 Step->At->getBeginLoc(), F.At->getBeginLoc());
    });
  }

  /// A guard for the whole iteration would switch training off.
  bool trainsIn(LoopID Loop) {
    return llvm::any_of(
        Training, [&](const Fact *Step) { return Flow.isInLoop(Step, Loop); });
  }

  CheckInput &Input;
  GradientFlow &Flow;
  const FunctionFacts &Facts;
  /// What trains something, as far as it is in the function.
  std::vector<const Fact *> Training;
  Repetition Repeating{Facts};
  /// Modules that are asked for something beside running.
  std::set<PlaceID> Asked;
  /// One guard is for all forwards of a module in a loop.
  std::set<std::pair<LoopID, PlaceID>> Seen;
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
  if (F.Form == ThrownAway)
    return makeDiagnostic(
        F, "nothing walks back the graph that '" + F.Subject +
               "' records here; run it under a 'torch::NoGradGuard'");
  return makeDiagnostic(
      F, "'" + F.Subject +
             "' is evaluated with gradients on: each forward records a graph "
             "that nothing walks back; open a 'torch::NoGradGuard'");
}

} // namespace tensorscope
