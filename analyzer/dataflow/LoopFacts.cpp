// SPDX-License-Identifier: Apache-2.0
//
// Facts of loops: which stand in which, and which run just a few times.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"
#include "utils/LoopBounds.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace tensorscope {

/// `layers[i]`, `layers.at(i)`: the index, if it is one.
static const Expr *indexOf(const Expr *E) {
  if (const auto *Array = dyn_cast<ArraySubscriptExpr>(E))
    return Array->getIdx();
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E))
    return Op->getOperator() == OO_Subscript && Op->getNumArgs() == 2
               ? Op->getArg(1)
               : nullptr;
  const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
  return Call && Call->getNumArgs() == 1 ? Call->getArg(0) : nullptr;
}

/// Each iteration takes a module of its own out of a container by its number.
bool FactsBuilder::countsModules(const Stmt *Loop) {
  llvm::SmallVector<const Stmt *, 16> Todo{Loop};
  while (!Todo.empty()) {
    const Stmt *S = Todo.pop_back_val();
    if (!S)
      continue;
    const auto *E = dyn_cast<Expr>(S);
    const Expr *Index = E ? indexOf(E) : nullptr;
    const auto *Ref =
        Index ? dyn_cast<DeclRefExpr>(stripWrappers(Index)) : nullptr;
    if (Ref && Unit.Types.holdsModules(E->getType()) &&
        isCounterOf(Ref->getDecl(), Loop, *Top->Body))
      return true;
    Todo.append(S->child_begin(), S->child_end());
  }
  return false;
}

/// A loop over the layers of a model runs as often as the model has layers.
bool FactsBuilder::isOverModules(const Stmt *Loop) {
  if (const auto *Range = dyn_cast<CXXForRangeStmt>(Loop))
    return Unit.Types.holdsModules(Range->getRangeInit()->getType()) ||
           Unit.Types.holdsModules(Range->getLoopVariable()->getType());
  if (const auto *For = dyn_cast<ForStmt>(Loop))
    if (const auto *Init = dyn_cast_or_null<DeclStmt>(For->getInit()))
      for (const Decl *D : Init->decls())
        if (const auto *V = dyn_cast<VarDecl>(D);
            V && V->getType()->isRecordType() &&
            Unit.Types.holdsModules(V->getType()))
          return true;
  return countsModules(Loop);
}

LoopID FactsBuilder::loopFor(const Stmt *Loop) {
  if (!Loop)
    return Top->OuterLoop;
  if (auto It = Top->Loops.find(Loop); It != Top->Loops.end())
    return It->second;
  LoopInfo Info;
  Info.Loc = Loop->getBeginLoc();
  Info.Text = Loop;
  Info.Outer = loopFor(Top->Body->OuterLoop.lookup(Loop));
  auto Count = constantIterations(Loop, *Top->Body, Unit.Ctx);
  Info.IsOverModules = isOverModules(Loop);
  Info.IsSmall = (Count && *Count <= Unit.SmallLoopBound) || Info.IsOverModules;
  Out.Loops.push_back(Info);
  return Top->Loops[Loop] = Out.Loops.size() - 1;
}

LoopID FactsBuilder::loopOf(const Stmt *S) {
  return loopFor(Top->Body->LoopOf.lookup(S));
}

} // namespace tensorscope
