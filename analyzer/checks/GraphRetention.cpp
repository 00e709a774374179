// SPDX-License-Identifier: Apache-2.0
//
// Finds autograd graphs that are kept, and grow, in loops.
// User page: docs/checks/graph-retention.md
#include "checks/Check.h"

#include "checks/Edits.h"
#include "dataflow/GradientGrowth.h"
#include "dataflow/GradientUnit.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {
namespace {

/// The expression that \p At puts where it stays.
const Expr *storedExpr(const Stmt *At) {
  if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(At))
    return Operator->getNumArgs() == 2 ? Operator->getArg(1) : nullptr;
  const auto *Call = dyn_cast<CallExpr>(At);
  const Expr *Only = nullptr;
  for (unsigned I = 0; Call && I < Call->getNumArgs(); ++I) {
    const Expr *Arg = Call->getArg(I);
    if (isa<CXXDefaultArgExpr>(Arg) || !isTensor(Arg->getType()))
      continue;
    if (Only)
      return nullptr; // which of them is not known
    Only = Arg;
  }
  return Only;
}

/// Where nobody in the function can walk the graph back, the finding may still
/// depend on others. False where the function itself leaves it open.
bool dependsOnOthers(const Growth &G, CheckInput &Input, FlowFinding &F) {
  GradientFlow &Flow = *Input.Gradients;
  const FunctionFacts &Facts = Flow.facts();
  if (G.Walk && G.Kind != GrowthKind::Across)
    return true; // it was walked here, with gradients on
  GradientCondition C;
  C.Runs = Facts.Function;
  C.NeedsNoFreezing = true;
  if (G.Kind == GrowthKind::Created || G.Kind == GrowthKind::Kept ||
      G.Kind == GrowthKind::Copied)
    return true;
  PlaceID Root = Facts.Places.root(G.Target);
  if (G.Kind == GrowthKind::Across) {
    C.OwnOf = static_cast<const ValueDecl *>(Facts.Places[G.Target].Key);
  } else {
    unsigned Fate = Flow.fate(G.Target);
    std::vector<const ValueDecl *> Members = membersOf(Facts, G.Target);
    bool IsOwn = Facts.Places[Root].Kind == PlaceKind::Variable &&
                 !Facts.Places[Root].IsOuter &&
                 !llvm::is_contained(Facts.Params, Root);
    bool IsMember = Root == Facts.This && !Members.empty();
    const auto *Global =
        IsOwn || IsMember || Facts.Places[Root].Kind != PlaceKind::Variable
            ? nullptr
            : dyn_cast<VarDecl>(
                  static_cast<const ValueDecl *>(Facts.Places[Root].Key));
    bool IsFileStatic = Global && Global->hasGlobalStorage() &&
                        !Global->isExternallyVisible();
    unsigned Bad = WalkedBack | GivenAway | Returned |
                   (IsOwn ? unsigned(StoredOutside) : 0U);
    if ((Fate & Bad) || !(IsOwn || IsMember || IsFileStatic)) {
      Input.Silenced.insert(F.Loc);
      return false;
    }
    if (!IsOwn)
      C.Left = Members;
  }
  F.Condition = C;
  return true;
}

FlowFinding findingFor(const Growth &G, CheckInput &Input) {
  const FunctionFacts &Facts = Input.Gradients->facts();
  FlowFinding F;
  F.Loc = locationOf(G.At->At);
  F.Form = unsigned(G.Kind);
  PlaceID Named = G.Target;
  while (G.Kind == GrowthKind::Stored &&
         Facts.Places[Named].Kind == PlaceKind::Element)
    Named = Facts.Places[Named].Base;
  F.Subject = Facts.Places.name(Named, Input.Ctx);
  if (const FunctionDecl *Callee = G.At->Callee) {
    F.Holder = Callee->getNameAsString();
    F.Steps.push_back(
        {FlowStepKind::AddedThere, Callee->getLocation(), F.Holder});
  }
  if (G.Graph->At && G.Graph->At != G.At->At)
    F.Steps.push_back({FlowStepKind::GraphMade, locationOf(G.Graph->At), ""});
  if (G.Walk)
    F.Steps.push_back({FlowStepKind::WalkedBack, locationOf(G.Walk->At), ""});
  if (G.Loop != NoLoop)
    F.Steps.push_back(
        {FlowStepKind::LoopBegan, Facts.Loops[G.Loop].Loc, ""});
  F.Level = G.Kind == GrowthKind::Copied || G.Kind == GrowthKind::Kept;
  F.IsMaybe = F.Level > 0;
  if (G.Kind == GrowthKind::Copied)
    F.Subject = sourceText(cast<CXXOperatorCallExpr>(G.At->At)->getArg(0),
                           Input.Ctx);
  if (G.Kind == GrowthKind::Created || G.Kind == GrowthKind::Kept)
    return F;
  // What is still to be walked must not be cut.
  if (G.Kind == GrowthKind::Carried &&
      Input.Ctx.getSourceManager().isBeforeInTranslationUnit(
          G.At->At->getBeginLoc(), G.Walk->At->getBeginLoc()))
    return F;
  if (const Expr *Stored = storedExpr(G.At->At))
    F.Edits = callEdit(Stored, "detach()", Input.Ctx);
  return F;
}

} // namespace

std::vector<FlowFinding> findGraphRetentions(CheckInput &Input) {
  std::vector<FlowFinding> Findings;
  if (!Input.Gradients || Input.Gradients->facts().Gradients.size() < 2)
    return Findings;
  for (const Growth &G :
       findGrowth(*Input.Gradients, Input.Ctx.getSourceManager())) {
    FlowFinding F = findingFor(G, Input);
    if (dependsOnOthers(G, Input, F))
      Findings.push_back(std::move(F));
  }
  return Findings;
}

Diagnostic describeGraphRetention(const FlowFinding &F) {
  std::string Name = "'" + F.Subject + "'";
  std::string Through = F.Holder.empty() ? "" : ", through '" + F.Holder + "'";
  switch (GrowthKind(F.Form)) {
  case GrowthKind::Chain:
    return makeDiagnostic(
        F, Name + " keeps the autograd graph of every iteration" + Through +
               "; add a number ('item<float>()') or a detached tensor");
  case GrowthKind::Carried:
    return makeDiagnostic(
        F, Name + " links the autograd graph of each iteration to all earlier "
                  "ones" +
               Through + ", though backward runs in each; 'detach()' it");
  case GrowthKind::Stored:
    return makeDiagnostic(
        F, Name + " gets a tensor with its autograd graph in each iteration" +
               Through +
               ", and so keeps what was computed for it; 'detach()' it, or "
               "work under 'torch::NoGradGuard'");
  case GrowthKind::Across:
    return makeDiagnostic(
        F, Name + " is computed from itself with its autograd graph, which "
                  "grows in each call; 'detach()' it, or update it under "
                  "'torch::NoGradGuard'");
  case GrowthKind::Created:
    return makeDiagnostic(
        F, "'create_graph' gives gradients a graph that holds the tensors "
           "which hold the gradients, so neither is freed; use "
           "'torch::autograd::grad', or reset the gradients in each iteration");
  case GrowthKind::Kept:
    return makeDiagnostic(
        F, "'retain_graph' keeps the graph of " + Name +
               ", and nothing walks it again; leave it out");
  case GrowthKind::Copied:
    return makeDiagnostic(
        F, "an assignment to '" + F.Subject +
               "' copies into the tensor that is there: its autograd graph "
               "grows each time; assign to it without 'std::move', or "
               "'detach()' what is copied");
  }
  return makeDiagnostic(F, "");
}

} // namespace tensorscope
