// SPDX-License-Identifier: Apache-2.0
//
// Facts of calls that cost more than they bring where they run in each
// iteration, and of how often they run.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"
#include "utils/LoopBounds.h"

using namespace clang;

namespace tensorscope {

static bool hasEffect(const FunctionModel *M, EffectKind Kind) {
  return M && llvm::any_of(M->Effects,
                           [&](const Effect &E) { return E.Kind == Kind; });
}

bool FactsBuilder::isDeclaredIn(const VarDecl *V, const Stmt *Loop) const {
  const SourceManager &SM = Unit.Ctx.getSourceManager();
  return SM.isBeforeInTranslationUnit(Loop->getBeginLoc(), V->getLocation()) &&
         SM.isBeforeInTranslationUnit(V->getLocation(), Loop->getEndLoc());
}

/// The answer may be another in the next iteration of \p Loop (null: in the
/// next call of the function).
bool FactsBuilder::varies(const Stmt *Asked, const Stmt *Loop,
                          const BodyIndex &Body) {
  if (!Asked || isa<MemberExpr>(Asked) || isa<LambdaExpr>(Asked))
    return Asked;
  if (const auto *Call = dyn_cast<CallExpr>(Asked)) {
    const FunctionDecl *F = Call->getDirectCallee();
    return !F || !hasEffect(Unit.Api.find(F), EffectKind::QueryDevice);
  }
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Asked)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (!V || V->getType().isConstQualified())
      return V && V->hasLocalStorage() && V->getInit() &&
             varies(V->getInit(), Loop, Body);
    return !Loop || !V->hasLocalStorage() || isDeclaredIn(V, Loop) ||
           Body.WrittenElsewhere.contains(V) ||
           llvm::any_of(Body.Writes.lookup(V),
                        [](const ScalarWrite &W) { return W.Loop; }) ||
           V->getDeclContext() != Body.Function;
  }
  return llvm::any_of(Asked->children(), [&](const Stmt *Part) {
    return varies(Part, Loop, Body);
  });
}

/// `step % 100`, `step & mask`, `++count < 100`: every so often.
static bool countsRounds(const Stmt *Asked) {
  const auto *Binary = dyn_cast_or_null<BinaryOperator>(Asked);
  if (Binary &&
      (Binary->getOpcode() == BO_Rem || Binary->getOpcode() == BO_And))
    return true;
  const auto *Unary = dyn_cast_or_null<UnaryOperator>(Asked);
  if (Unary && Unary->isIncrementDecrementOp())
    return true;
  return Asked && llvm::any_of(Asked->children(), countsRounds);
}

/// \p At does not run in each iteration of the loop around it, or in each call
/// of the function.
bool FactsBuilder::runsRarely(const Stmt *At) {
  for (const Frame *F = Top; F; At = F->CallSite, F = F->Caller) {
    const BodyIndex &Body = *F->Body;
    const Stmt *Loop = Body.LoopOf.lookup(At);
    const IfStmt *Skip = Body.SkippedBy.lookup(At);
    if (Body.Handled.contains(At) || (Skip && countsRounds(Skip->getCond())))
      return true;
    for (const Stmt *B = Body.BranchOf.lookup(At);
         B && Body.LoopOf.lookup(B) == Loop; B = Body.BranchOf.lookup(B))
      if (varies(conditionOf(B), Loop, Body))
        return true;
    if (Loop)
      return false;
  }
  return false;
}

void FactsBuilder::collectGarbage(const CallSite &C) {
  bool IsRare = runsRarely(C.E);
  LoopID Loop = loopOf(C.E);
  Fact &F = emit(FactKind::CollectGarbage, C.E);
  F.Loop = Loop;
  F.Value = IsRare;
  F.Callee = C.Callee;
}

} // namespace tensorscope
