// SPDX-License-Identifier: Apache-2.0
//
// The walk that collects the facts of a translation unit.
#include "dataflow/UnitFacts.h"

#include "dataflow/UnitVisitor.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

bool isNamed(const FunctionDecl *F,
             std::initializer_list<llvm::StringRef> Names) {
  return F && F->getDeclName().isIdentifier() &&
         llvm::is_contained(Names, F->getName());
}

const Expr *stripConstructions(const Expr *E) {
  E = stripWrappers(E);
  for (const auto *Made = dyn_cast<CXXConstructExpr>(E);
       Made && Made->getNumArgs() == 1; Made = dyn_cast<CXXConstructExpr>(E))
    E = stripWrappers(Made->getArg(0));
  return E;
}

/// The variable or the member that an expression names.
const ValueDecl *namedBy(const Expr *E) {
  E = E ? stripWrappers(E) : nullptr;
  if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    return V ? V->getCanonicalDecl() : nullptr;
  }
  const auto *Member = dyn_cast_or_null<MemberExpr>(E);
  if (!Member)
    return nullptr;
  if (const auto *Static = dyn_cast<VarDecl>(Member->getMemberDecl()))
    return Static->getCanonicalDecl();
  const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
  return Field ? cast<ValueDecl>(Field->getCanonicalDecl()) : nullptr;
}

void UnitVisitor::visitAssignment(const CXXOperatorCallExpr *E) {
  const Expr *Target = stripWrappers(E->getArg(0));
  const Expr *Value = E->getArg(1);
  storeOnDevice(rootOf(Target), E, Value);
  if (isa<MemberExpr, CXXOperatorCallExpr>(Target) ||
      (rootOf(Target) && rootOf(Target)->hasGlobalStorage())) {
    keepView(Value, Target);
    noteStoredWhole(Value);
  }
  visitMemberStore(Target, Value, E);
  const auto *Subscript = dyn_cast<CXXOperatorCallExpr>(Target);
  if (!Subscript || Subscript->getOperator() != OO_Subscript)
    return;
  const Expr *Map = Subscript->getArg(0);
  Expr::EvalResult Known;
  if (const ValueDecl *D = namedBy(Map);
      D && isMap(Map->getType()) && hasNumberKey(Map->getType()) &&
      isContainer(Map->getType(), Unit.Types) &&
      !Subscript->getArg(1)->EvaluateAsInt(Known, Unit.Ctx))
    grow(D, E);
  // `ctx->saved_data["y"] = y`
  if (const auto *Member = dyn_cast<MemberExpr>(stripWrappers(Map));
      Member && Member->getMemberDecl()->getName() == "saved_data") {
    savePointer(Value, E);
    visitSave(Value, E, /*OnlyViews=*/false);
  }
}

bool UnitVisitor::VisitCallExpr(CallExpr *E) {
  noteEmptied(E);
  if (const FunctionModel *M =
          E->getDirectCallee() ? Unit.Api.find(E->getDirectCallee()) : nullptr)
    for (const Effect &X : M->Effects)
      if (X.Kind == EffectKind::RunInScope)
        for (const Expr *Arg : E->arguments())
          if (const FunctionDecl *Body = resolveCallable(Arg))
            ScopeBodies.insert(Body);
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E)) {
    if (Op->getOperator() == OO_Subscript && !isConstCast(Op->getArg(0)))
      account(Op->getArg(0));
    if (Op->getOperator() == OO_Equal && Op->getNumArgs() == 2)
      visitAssignment(Op);
    return true;
  }
  const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
  if (!Call || !Call->getMethodDecl())
    return true;
  const Expr *Object = Call->getImplicitObjectArgument();
  const CXXMethodDecl *Method = Call->getMethodDecl();
  if (const ValueDecl *D = namedBy(Object))
    if (isContainer(Object->getType(), Unit.Types))
      visitGrowth(Call, D);
  if (isNamed(Method, {"push_back", "emplace_back", "insert", "emplace",
                       "insert_or_assign", "push"}))
    for (const Expr *Arg : E->arguments()) {
      storeOnDevice(rootOf(Object), E, Arg);
      visitMemberStore(Object, Arg, E);
      if (Unit.Types.carriesTensors(Object->getType())) {
        keepView(Arg, Object);
        noteStoredWhole(Arg);
      }
    }
  // A module that is moved to a device.
  if (isNamed(Method, {"to"}) &&
      Unit.Types.role(Object->getType()) == TypeRole::Module)
    if (const VarDecl *V = rootOf(Object))
      for (const Expr *Arg : E->arguments())
        storeOnDevice(V, E, Arg);
  if (isNamed(Method, {"register_hook"}))
    visitHook(Call);
  if (isNamed(Method, {"remove_hook"}))
    noteUnhooked(Call);
  if (isNamed(Method, {"save_for_backward"}))
    for (const Expr *Arg : E->arguments())
      visitSave(Arg, E, /*OnlyViews=*/true);
  return true;
}

UnitFacts collectUnitFacts(UnitContext &Unit,
                           llvm::ArrayRef<const FunctionDecl *> Functions,
                           llvm::ArrayRef<const VarDecl *> Variables) {
  UnitFacts Out;
  UnitVisitor Visitor(Unit, Out);
  for (const VarDecl *V : Variables)
    Visitor.declare(V);
  for (const FunctionDecl *F : Functions)
    Visitor.walk(F);
  Visitor.finish();
  return Out;
}

} // namespace tensorscope
