// SPDX-License-Identifier: Apache-2.0
//
// What the `forward` of an autograd function saves in its context.
#include "dataflow/UnitVisitor.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

/// The variables among \p E, in the lists and tuples that it is made of.
static void collectParts(const Expr *E,
                         llvm::SmallVectorImpl<const Expr *> &Out) {
  E = E ? stripWrappers(E) : nullptr;
  if (!E)
    return;
  if (isa<DeclRefExpr>(E)) {
    Out.push_back(E);
  } else if (isa<InitListExpr, CXXConstructExpr>(E)) {
    for (const Stmt *Part : E->children())
      collectParts(dyn_cast_or_null<Expr>(Part), Out);
  } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
    const FunctionDecl *F = Call->getDirectCallee();
    if (F && (qualifiedName(F) == "std::make_tuple" ||
              qualifiedName(F) == "std::move"))
      for (const Expr *Arg : Call->arguments())
        collectParts(Arg, Out);
    else
      Out.push_back(E);
  }
}

/// Notes what the `forward` of an autograd function gives back, apart from its
/// parameters and what has no gradient.
void UnitVisitor::noteSaved(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!Method || !Method->isStatic() || !isNamed(F, {"forward"}) ||
      F->getNumParams() == 0)
    return;
  const CXXRecordDecl *Context =
      F->getParamDecl(0)->getType()->getPointeeCXXRecordDecl();
  if (!Context || Context->getName() != "AutogradContext")
    return;
  llvm::SmallVector<const Stmt *, 16> Todo{F->getBody()};
  llvm::SmallVector<const Expr *, 8> Given, Plain;
  while (!Todo.empty()) {
    const Stmt *S = Todo.pop_back_val();
    if (!S || isa<LambdaExpr>(S))
      continue;
    if (const auto *Return = dyn_cast<ReturnStmt>(S))
      collectParts(Return->getRetValue(), Given);
    if (const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
        Call && isNamed(Call->getMethodDecl(), {"mark_non_differentiable"}))
      collectParts(Call->getArg(0), Plain);
    Todo.append(S->child_begin(), S->child_end());
  }
  auto Variable = [](const Expr *E) -> const VarDecl * {
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    return V && !isa<ParmVarDecl>(V) ? V : nullptr;
  };
  for (const Expr *E : Given)
    if (const VarDecl *V = Variable(E); V && Unit.Types.isHandle(V->getType()))
      Returned.insert(V);
  for (const Expr *E : Plain)
    Returned.erase(Variable(E));
}

/// A view that keeps the tensor it was made of.
static const Expr *viewed(const Expr *E) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
  return Call && isNamed(Call->getMethodDecl(),
                         {"view", "view_as", "select", "slice", "narrow", "t",
                          "transpose", "permute", "squeeze", "unsqueeze",
                          "expand", "diagonal"})
             ? stripWrappers(Call->getImplicitObjectArgument())
             : nullptr;
}

void UnitVisitor::visitSave(const Expr *Value, const Expr *At, bool OnlyViews) {
  llvm::SmallVector<const Expr *, 4> Parts;
  collectParts(Value, Parts);
  for (const Expr *Part : Parts) {
    const Expr *Whole = Part;
    while (const Expr *Of = viewed(Whole))
      Whole = Of;
    const auto *Ref = dyn_cast<DeclRefExpr>(Whole);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!V || !Returned.contains(V) || (OnlyViews && Whole == Part))
      continue;
    Out.Cycles.push_back(
        {Whole == Part ? CycleForm::SavedOutput : CycleForm::SavedView, At,
         V->getNameAsString(), /*Slot=*/nullptr, Function});
    return;
  }
}

/// A part of \p S that casts in that way.
static bool casts(const Stmt *S, CastKind Kind) {
  if (!S)
    return false;
  const auto *Cast = dyn_cast<CastExpr>(S);
  return (Cast && Cast->getCastKind() == Kind) ||
         llvm::any_of(S->children(),
                      [&](const Stmt *Part) { return casts(Part, Kind); });
}

void UnitVisitor::savePointer(const Expr *Value, const Expr *At) {
  const auto *Method = dyn_cast<CXXMethodDecl>(Function);
  if (Method && casts(Value, CK_PointerToIntegral))
    Out.SavedPointers.push_back({At, Method->getParent(), Function});
}

void UnitVisitor::noteDeleted(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!Method || !isNamed(F, {"backward"}))
    return;
  llvm::SmallVector<const Stmt *, 16> Todo{F->getBody()};
  while (!Todo.empty()) {
    const Stmt *S = Todo.pop_back_val();
    if (!S)
      continue;
    Todo.append(S->child_begin(), S->child_end());
    const auto *Delete = dyn_cast<CXXDeleteExpr>(S);
    const Expr *Freed = Delete ? stripWrappers(Delete->getArgument()) : nullptr;
    const auto *Ref = dyn_cast_or_null<DeclRefExpr>(Freed);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    const Expr *From = V        ? V->getInit()
                       : Delete ? Delete->getArgument()
                                : nullptr;
    if (casts(From, CK_IntegralToPointer))
      Out.DeletedInBackward[Method->getParent()] = Delete;
  }
}

} // namespace tensorscope
