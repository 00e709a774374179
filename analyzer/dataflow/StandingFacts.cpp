// SPDX-License-Identifier: Apache-2.0
//
// Facts of variables that stand for a condition: `const bool big = n > 3`. From
// there on each way knows both.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

/// Ways on which a condition may come true, or false, that are told apart.
static constexpr unsigned MaxWays = 4;

/// A condition that tells something where it is asked.
bool FactsBuilder::isUnderstood(const Expr *Condition) {
  bool Value = true;
  Condition = stripDenials(Condition, Value);
  llvm::SmallVector<const ValueDecl *, 2> Variables;
  if (const auto *Call = dyn_cast<CallExpr>(Condition)) {
    const FunctionDecl *F = Call->getDirectCallee();
    const FunctionModel *M = F ? Unit.Api.find(F) : nullptr;
    return M && llvm::any_of(M->Effects, [](const Effect &E) {
             return E.Kind == EffectKind::QueryDefined ||
                    E.Kind == EffectKind::QueryAlive;
           });
  }
  if (const auto *Binary = dyn_cast<BinaryOperator>(Condition);
      Binary && Binary->isLogicalOp())
    return isUnderstood(Binary->getLHS()) || isUnderstood(Binary->getRHS());
  return readsOnlyVariables(Condition, Variables) && !Variables.empty();
}

bool FactsBuilder::isAskedByABranch(const ValueDecl *V) const {
  return llvm::any_of(*Unit.cfg(Top->Function), [&](const CFGBlock *B) {
    const Stmt *Asked = B->getTerminatorCondition();
    llvm::SmallVector<const Stmt *, 8> Todo{Asked};
    while (!Todo.empty()) {
      const Stmt *Part = Todo.pop_back_val();
      const auto *Ref = dyn_cast_or_null<DeclRefExpr>(Part);
      if (Ref && Ref->getDecl() == V)
        return true;
      if (Part)
        Todo.append(Part->child_begin(), Part->child_end());
    }
    return false;
  });
}

/// The blocks at the ends of the ways, from the end of \p From, on which
/// \p Condition has the given answer: `a && b` is true on one, false on two.
void FactsBuilder::waysTo(const Expr *Condition, bool Value, BlockID From,
                          llvm::SmallVectorImpl<BlockID> &Ends) {
  Condition = stripDenials(Condition, Value);
  const auto *Logical = dyn_cast<BinaryOperator>(Condition);
  if (!Logical || !Logical->isLogicalOp() || Ends.size() >= MaxWays) {
    Cur = newBlock();
    link(From, Cur);
    suppose(Condition, Value);
    Ends.push_back(Cur);
    return;
  }
  bool NeedsBoth = (Logical->getOpcode() == BO_LAnd) == Value;
  llvm::SmallVector<BlockID, 4> AfterLeft;
  waysTo(Logical->getLHS(), NeedsBoth ? Value : !Value, From, AfterLeft);
  if (!NeedsBoth)
    waysTo(Logical->getLHS(), Value, From, Ends);
  for (BlockID Left : AfterLeft)
    waysTo(Logical->getRHS(), Value, Left, Ends);
}

/// \p V is set to what \p Condition says; false where nothing can be told.
bool FactsBuilder::standFor(const ValueDecl *V, const Expr *Condition,
                            const Stmt *At) {
  const auto *Var = dyn_cast<VarDecl>(V);
  if (!Var || !Var->hasLocalStorage() ||
      !stripWrappers(Condition)->getType()->isBooleanType() ||
      !isUnderstood(Condition) || !isAskedByABranch(V))
    return false;
  llvm::FoldingSetNodeID Key;
  Key.AddPointer(V);
  GuardID Guard = internGuard(Key, V);
  BlockID From = Cur, After = newBlock();
  for (bool Value : {true, false}) {
    llvm::SmallVector<BlockID, 4> Ends;
    waysTo(Condition, Value, From, Ends);
    for (BlockID End : Ends) {
      Cur = End;
      // What it was is asked before it is set: `done = !done`.
      emit(FactKind::DropGuards, At).Variable = V;
      Fact &F = emit(FactKind::SetGuard, At);
      F.Guard = Guard;
      F.Value = Value;
      link(End, After);
    }
  }
  Cur = After;
  return true;
}

} // namespace tensorscope
