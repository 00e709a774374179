// SPDX-License-Identifier: Apache-2.0
//
// What a callable owns by a capture, and callables that a part of what they own
// holds. Contexts of autograd functions are in ContextFacts.cpp.
#include "dataflow/UnitVisitor.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

const VarDecl *rootOf(const Expr *E, bool *IsMember) {
  while (E) {
    E = stripWrappers(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return dyn_cast<VarDecl>(Ref->getDecl());
    if (isa<CXXThisExpr>(E)) {
      if (IsMember)
        *IsMember = true;
      return nullptr;
    }
    const auto *Member = dyn_cast<MemberExpr>(E);
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
    const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
    const auto *Array = dyn_cast<ArraySubscriptExpr>(E);
    const auto *Unary = dyn_cast<UnaryOperator>(E);
    bool IsAccess =
        Op && (Op->getOperator() == OO_Arrow || Op->getOperator() == OO_Star ||
               Op->getOperator() == OO_Subscript);
    const CXXMethodDecl *Method = Call ? Call->getMethodDecl() : nullptr;
    bool IsGet = Method && Method->getDeclName().isIdentifier() &&
                 (Method->getName() == "get" || Method->getName() == "ptr" ||
                  Method->getName() == "at" || Method->getName() == "front" ||
                  Method->getName() == "back");
    if (const auto *Static =
            Member ? dyn_cast<VarDecl>(Member->getMemberDecl()) : nullptr)
      return Static;
    E = Member     ? Member->getBase()
        : IsAccess ? Op->getArg(0)
        : IsGet    ? Call->getImplicitObjectArgument()
        : Array    ? Array->getBase()
        : Unary && Unary->getOpcode() == UO_Deref ? Unary->getSubExpr()
                                                  : nullptr;
  }
  return nullptr;
}

/// The expression whose copy \p E is.
static const Expr *copied(const Expr *E) {
  while (E) {
    E = stripWrappers(E);
    const auto *Copy = dyn_cast<CXXConstructExpr>(E);
    const auto *Call = dyn_cast<CallExpr>(E);
    const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
    if (Copy && Copy->getNumArgs() == 1 &&
        Copy->getConstructor()->isCopyOrMoveConstructor())
      E = Copy->getArg(0);
    else if (F && Call->getNumArgs() == 1 && qualifiedName(F) == "std::move")
      E = Call->getArg(0);
    else
      return E;
  }
  return E;
}

/// A shared owner of the object of the function.
static bool isOwnerOfThis(const Expr *E) {
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  if (!F || !F->getDeclName().isIdentifier())
    return false;
  if (F->getName() == "shared_from_this")
    return true;
  return F->getName().contains("pointer_cast") && Call->getNumArgs() == 1 &&
         isOwnerOfThis(copied(Call->getArg(0)));
}

/// Gradients may be off where something in \p Body is computed.
static bool setsGradMode(const BodyIndex &Body, UnitContext &Unit) {
  return llvm::any_of(Body.Callees, [&](const FunctionDecl *F) {
    const auto *Method = dyn_cast<CXXMethodDecl>(F);
    GradientRole Role =
        Method ? Unit.Api.gradients(Method->getParent()) : GradientRole::Other;
    return Role == GradientRole::NoGradGuard ||
           Role == GradientRole::InferenceGuard ||
           Role == GradientRole::GradGuard ||
           Unit.Api.gradients(F) == GradientRole::SetMode;
  });
}

/// What \p E is computed from, if its graph leads to that: the operands of an
/// operator of LibTorch's.
static llvm::SmallVector<const Expr *, 2> operandsOf(const Expr *E,
                                                     UnitContext &Unit) {
  llvm::SmallVector<const Expr *, 2> Operands;
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  if (!F || !E->isPRValue() || !Unit.Types.isHandle(E->getType()) ||
      Unit.Api.gradients(F) != GradientRole::Operator)
    return Operands;
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call))
    Operands.push_back(Member->getImplicitObjectArgument());
  Operands.append(Call->arg_begin(), Call->arg_end());
  llvm::erase_if(Operands, [&](const Expr *Operand) {
    return !Unit.Types.isHandle(Operand->getType());
  });
  return Operands;
}

/// What \p E copies is \p Owner, or a variable that was made as a copy of it;
/// or one that was computed from it, if \p Unit is there.
static bool isCopyOf(const Expr *E, const VarDecl *Owner, const BodyIndex &Body,
                     UnitContext *Unit, unsigned Depth = 0) {
  if (Depth > 8)
    return false;
  E = copied(E);
  if (!Owner && isOwnerOfThis(E))
    return true;
  if (Owner && Unit)
    for (const Expr *Operand : operandsOf(E, *Unit))
      if (isCopyOf(Operand, Owner, Body, Unit, Depth + 1))
        return true;
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (!V || V == Owner)
    return V;
  bool IsAlias = V->hasLocalStorage() && V->getInit() &&
                 !Body.Reassigned.contains(V) &&
                 !(Owner && Body.Reassigned.contains(Owner));
  return IsAlias && isCopyOf(V->getInit(), Owner, Body, Unit, Depth + 1);
}

/// A raw pointer or a reference owns nothing.
static bool owns(QualType T) {
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  return RD && qualifiedName(RD) != "std::weak_ptr" &&
         qualifiedName(RD) != "std::reference_wrapper" &&
         qualifiedName(RD) != "c10::weak_intrusive_ptr";
}

/// Its body gives up what it captured.
static bool emptiesCapture(const LambdaExpr *E, const ValueDecl *Captured) {
  llvm::SmallVector<const Stmt *, 16> Todo{E->getBody()};
  while (!Todo.empty()) {
    const Stmt *S = Todo.pop_back_val();
    if (!S)
      continue;
    Todo.append(S->child_begin(), S->child_end());
    const Expr *Written = nullptr;
    if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(S);
        Op && Op->getOperator() == OO_Equal)
      Written = Op->getArg(0);
    if (const auto *Call = dyn_cast<CXXMemberCallExpr>(S))
      if (const CXXMethodDecl *M = Call->getMethodDecl();
          M && M->getDeclName().isIdentifier() && M->getName() == "reset")
        Written = Call->getImplicitObjectArgument();
    if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(
            Written ? stripWrappers(Written) : nullptr))
      if (Ref->getDecl() == Captured)
        return true;
  }
  return false;
}

bool ownsByCapture(const Expr *Callable, const VarDecl *Owner,
                   const BodyIndex &Body, UnitContext *Unit) {
  if (Unit && setsGradMode(Body, *Unit))
    Unit = nullptr;
  for (unsigned Hops = 0; Callable && Hops < 4; ++Hops) {
    Callable = copied(Callable);
    if (const auto *Lambda = dyn_cast<LambdaExpr>(Callable)) {
      auto Init = Lambda->capture_init_begin();
      for (const LambdaCapture &Capture : Lambda->captures()) {
        const Expr *Value = *Init++;
        if (!Capture.capturesVariable() ||
            Capture.getCaptureKind() != LCK_ByCopy)
          continue;
        const auto *V = cast<VarDecl>(Capture.getCapturedVar());
        const Expr *From = V->isInitCapture() ? V->getInit() : Value;
        if (From && owns(V->getType().getNonReferenceType()) &&
            isCopyOf(From, Owner, Body, Unit) && !emptiesCapture(Lambda, V))
          return true;
      }
      return false;
    }
    const auto *Call = dyn_cast<CallExpr>(Callable);
    const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
    if (F && (qualifiedName(F) == "std::bind" ||
              qualifiedName(F) == "std::bind_front"))
      return llvm::any_of(Call->arguments(), [&](const Expr *Arg) {
        return owns(Arg->getType()) && isCopyOf(Arg, Owner, Body, Unit);
      });
    // A `std::function` that is made of a lambda, or a variable that is one.
    const auto *Made = dyn_cast<CXXConstructExpr>(Callable);
    const auto *Ref = dyn_cast<DeclRefExpr>(Callable);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (Made && Made->getNumArgs() == 1)
      Callable = Made->getArg(0);
    else if (V && V->hasLocalStorage() && !Body.Reassigned.contains(V))
      Callable = V->getInit();
    else
      return false;
  }
  return false;
}

/// A class that shares what it points to, or a handle.
static bool isSharedOwner(QualType T, TypeModel &Types) {
  if (Types.isHandle(T))
    return true;
  const CXXRecordDecl *RD = T.getNonReferenceType()->getAsCXXRecordDecl();
  while (RD && RD->hasDefinition()) {
    std::string Name = qualifiedName(RD);
    if (Name == "std::shared_ptr" || Name == "torch::nn::ModuleHolder" ||
        Name == "c10::intrusive_ptr")
      return Types.carriesTensors(T);
    RD = RD->getNumBases() == 1
             ? RD->bases_begin()->getType()->getAsCXXRecordDecl()
             : nullptr;
  }
  return false;
}

/// A callable is put in a member of what it owns.
void UnitVisitor::visitMemberStore(const Expr *Target, const Expr *Callable,
                                   const Expr *At) {
  // An element of a member.
  Target = stripWrappers(Target);
  while (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Target)) {
    if (Op->getOperator() != OO_Subscript)
      return;
    Target = stripWrappers(Op->getArg(0));
  }
  const auto *Member = dyn_cast<MemberExpr>(Target);
  if (!Member || !isa<FieldDecl>(Member->getMemberDecl()) ||
      Unit.Types.isHandle(Target->getType()))
    return;
  bool IsMember = false;
  const VarDecl *Owner = rootOf(Member, &IsMember);
  bool IsShared = Owner && isSharedOwner(Owner->getType(), Unit.Types);
  const auto *Method = dyn_cast<CXXMethodDecl>(Function);
  if (!IsShared && !(IsMember && Method))
    return;
  if (ownsByCapture(Callable, Owner, Unit.body(Outer)))
    Out.Cycles.push_back({CycleForm::Member, At,
                          Owner ? Owner->getNameAsString() : "*this",
                          namedBy(Member), Function});
}

/// The variable, or else the member, of the tensor that a hook is put on.
static const ValueDecl *hookedBy(const Expr *Object) {
  const VarDecl *Root = rootOf(Object);
  return Root ? Root->getCanonicalDecl() : namedBy(Object);
}

void UnitVisitor::visitHook(const CXXMemberCallExpr *E) {
  if (E->getNumArgs() == 0)
    return;
  const Expr *Object = E->getImplicitObjectArgument();
  if (const auto *Lambda = dyn_cast<LambdaExpr>(stripWrappers(E->getArg(0))))
    Hooks.insert(Lambda);
  bool IsMember = false;
  const VarDecl *Owner = rootOf(Object, &IsMember);
  if ((!Owner && !IsMember) ||
      (Owner && !isSharedOwner(Owner->getType(), Unit.Types) &&
       !Unit.Types.carriesTensors(Owner->getType())))
    return;
  // What a tensor was computed from, it owns; a module has many tensors.
  bool IsTensor = Owner && Unit.Types.isHandle(Owner->getType());
  if (ownsByCapture(E->getArg(0), Owner, Unit.body(Outer),
                    IsTensor ? &Unit : nullptr))
    Out.Cycles.push_back({CycleForm::Hook, E,
                          Owner ? Owner->getNameAsString() : "*this",
                          hookedBy(Object), Function});
}

/// `x.remove_hook(h)`
void UnitVisitor::noteUnhooked(const CXXMemberCallExpr *E) {
  if (const ValueDecl *D = hookedBy(E->getImplicitObjectArgument()))
    Out.Unhooked.insert(D);
}

} // namespace tensorscope
