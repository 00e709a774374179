// SPDX-License-Identifier: Apache-2.0
//
// Facts of raw pointers that own: what each expression does with one. What
// happens to a pointer in a way that is not listed here gives it away: then it
// is somebody else's, and nothing is said about it. Calls are in
// OwnershipCalls.cpp.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

/// Notes the branch or loop around each part of a body.
static void
noteConditions(const Stmt *S, const Stmt *Around,
               llvm::DenseMap<const Stmt *, const Stmt *> &ConditionOf) {
  llvm::SmallVector<std::pair<const Stmt *, const Stmt *>, 32> Todo{
      {S, Around}};
  while (!Todo.empty()) {
    auto [Part, Condition] = Todo.pop_back_val();
    if (!Part)
      continue;
    if (Condition)
      ConditionOf[Part] = Condition;
    if (isa<LambdaExpr>(Part))
      continue;
    const auto *Binary = dyn_cast<BinaryOperator>(Part);
    bool IsCondition =
        isa<IfStmt, SwitchStmt, ForStmt, WhileStmt, CXXForRangeStmt,
            AbstractConditionalOperator>(Part) ||
        (Binary && Binary->isLogicalOp());
    for (const Stmt *Child : Part->children())
      Todo.push_back({Child, IsCondition ? Part : Condition});
  }
}

/// What is inside of the parentheses and of what is not in the graph of a body.
static const Expr *stripParens(const Expr *E) {
  while (true) {
    const Expr *Inner = E->IgnoreParens();
    if (const auto *Full = dyn_cast<FullExpr>(Inner))
      Inner = Full->getSubExpr();
    if (Inner == E)
      return E;
    E = Inner;
  }
}

/// A local variable that holds a pointer.
static const VarDecl *pointerVariable(const ValueDecl *D) {
  const auto *V = dyn_cast<VarDecl>(D);
  return V && V->hasLocalStorage() && !V->isInitCapture() ? V : nullptr;
}

/// An array of pointers whose length is known.
static bool isPointerArray(QualType T) {
  const auto *Array = dyn_cast<ConstantArrayType>(T.getTypePtr());
  return Array && Array->getElementType()->isPointerType();
}

void FactsBuilder::noteBodyOfOwners(Frame &F) {
  const BodyIndex &Body = *F.Body;
  F.FollowsOwners = FollowsParameters && !F.Caller;
  if (!F.FollowsOwners)
    F.FollowsOwners = !Body.News.empty() || Body.HasDelete;
  for (unsigned I = 0; I < Body.Callees.size() && !F.FollowsOwners; ++I)
    F.FollowsOwners = mayAcquire(Body.Callees[I]);
  if (!F.FollowsOwners)
    return;
  Out.HasExceptions |= Body.HasTryOrThrow;
  if (const Stmt *S = F.Function->getBody())
    noteConditions(S, nullptr, Out.ConditionOf);
}

PointerUse FactsBuilder::pointerIn(const Expr *E) const {
  return E ? Top->Pointers.lookup(stripParens(E)) : PointerUse();
}

Fact &FactsBuilder::emitOwner(FactKind Kind, PlaceID Src, const Stmt *At) {
  Fact &F = emit(Kind, At);
  F.Src = Src;
  return F;
}

/// \p Dst becomes the owner of something new.
void FactsBuilder::acquire(PlaceID Dst, const Expr *At, unsigned Number,
                           bool IsMemory) {
  Out.HasOwners = true;
  Fact &F = emit(FactKind::Acquire, At);
  F.Dst = Dst;
  F.Storage = Out.Storages.created(At, FirstOwner + Number, Top->ID);
  F.Value = IsMemory;
  if (const auto *Call = dyn_cast<CallExpr>(At))
    F.Callee = Call->getDirectCallee();
}

void FactsBuilder::giveAway(const Expr *E, const Stmt *At) {
  PointerUse Use = pointerIn(E);
  switch (Use.Form) {
  case PointerForm::Value:
    emitOwner(FactKind::GiveAway, Use.Place, At);
    break;
  case PointerForm::Variable:
  case PointerForm::Address:
  case PointerForm::Array:
    Out.Unfollowed.insert(Out.Places.root(Use.Place));
    break;
  case PointerForm::List:
    for (const Expr *Part : cast<InitListExpr>(stripParens(E))->inits())
      giveAway(Part, At);
    break;
  case PointerForm::None:
  case PointerForm::Object:
  case PointerForm::Null:
    break;
  }
}

/// The pointer, or the object that it points to.
void FactsBuilder::giveAwayAll(const Expr *E, const Stmt *At) {
  PointerUse Use = pointerIn(E);
  if (Use.Form == PointerForm::Object)
    emitOwner(FactKind::GiveAway, Use.Place, At);
  else
    giveAway(E, At);
}

void FactsBuilder::giveAwayChildren(const Stmt *S) {
  for (const Stmt *Child : S->children())
    if (const auto *E = dyn_cast_or_null<Expr>(Child))
      giveAway(E, S);
}

void FactsBuilder::pointAt(PlaceID Dst, const Expr *Value, const Stmt *At) {
  PointerUse Use = pointerIn(Value);
  if (Use.Form == PointerForm::Null) {
    emit(FactKind::PointNowhere, At).Dst = Dst;
    return;
  }
  if (Use.Form != PointerForm::Value)
    giveAway(Value, At);
  emitOwner(FactKind::PointAt,
            Use.Form == PointerForm::Value ? Use.Place : NoPlace, At)
      .Dst = Dst;
}

void FactsBuilder::followOwners(const Stmt *S) {
  if (!Top->FollowsOwners)
    return;
  if (const auto *E = dyn_cast<DeclRefExpr>(S))
    followName(E);
  else if (const auto *Cast = dyn_cast<CastExpr>(S))
    followCast(Cast);
  else if (const auto *Unary = dyn_cast<UnaryOperator>(S))
    followUnary(Unary);
  else if (const auto *Binary = dyn_cast<BinaryOperator>(S))
    followBinary(Binary);
  else if (const auto *Member = dyn_cast<MemberExpr>(S))
    followMember(Member);
  else if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(S))
    followSubscript(Subscript);
  else if (const auto *Call = dyn_cast<CallExpr>(S))
    followCall(Call);
  else if (const auto *New = dyn_cast<CXXNewExpr>(S))
    followNew(New);
  else if (const auto *Construction = dyn_cast<CXXConstructExpr>(S))
    followConstruction(Construction);
  else if (const auto *Return = dyn_cast<ReturnStmt>(S))
    followReturn(Return);
  else if (const auto *List = dyn_cast<InitListExpr>(S);
           List && isPointerArray(List->getType()))
    setPointer(List, PointerForm::List, NoPlace);
  else if (const auto *Delete = dyn_cast<CXXDeleteExpr>(S)) {
    PointerUse Use = pointerIn(Delete->getArgument());
    if (Use.Form == PointerForm::Value || Use.Form == PointerForm::None)
      emitOwner(FactKind::GiveBack, Use.Place, Delete);
  } else if (const auto *Declaration = dyn_cast<DeclStmt>(S)) {
    for (const Decl *D : Declaration->decls())
      if (const auto *V = dyn_cast<VarDecl>(D))
        followDeclaration(V, Declaration);
  } else {
    giveAwayChildren(S);
  }
}

void FactsBuilder::followName(const DeclRefExpr *E) {
  const VarDecl *V = pointerVariable(E->getDecl());
  if (!V || E->refersToEnclosingVariableOrCapture())
    return;
  QualType T = V->getType();
  if (T->isReferenceType()) {
    // Of an object that a pointer points to, if it was so declared.
    PlaceID P = Out.Places.variable(V, isHandle(T));
    emitOwner(FactKind::LookInto, P, E);
    setPointer(E, PointerForm::Object, P);
  } else if (T->isPointerType()) {
    setPointer(E, PointerForm::Variable, Out.Places.variable(V, isHandle(T)));
  } else if (isPointerArray(T)) {
    setPointer(E, PointerForm::Array, Out.Places.variable(V, isHandle(T)));
  }
}

void FactsBuilder::followCast(const CastExpr *E) {
  const Expr *From = E->getSubExpr();
  PointerUse Use = pointerIn(From);
  switch (E->getCastKind()) {
  case CK_LValueToRValue:
    if (Use.Form == PointerForm::Variable)
      setPointer(E, PointerForm::Value, Use.Place);
    return;
  case CK_NullToPointer:
    setPointer(E, PointerForm::Null, NoPlace);
    return;
  case CK_PointerToBoolean:
    return;
  case CK_NoOp:
  case CK_BitCast:
  case CK_LValueBitCast:
  case CK_DerivedToBase:
  case CK_UncheckedDerivedToBase:
  case CK_BaseToDerived:
  case CK_ConstructorConversion:
  case CK_UserDefinedConversion:
    if (Use.Form != PointerForm::None && Use.Form != PointerForm::Array)
      setPointer(E, Use.Form, Use.Place);
    return;
  case CK_ArrayToPointerDecay:
    if (Use.Form == PointerForm::Array)
      setPointer(E, PointerForm::Array, Use.Place);
    return;
  default:
    giveAway(From, E);
  }
}

void FactsBuilder::followUnary(const UnaryOperator *E) {
  PointerUse Use = pointerIn(E->getSubExpr());
  if (E->getOpcode() == UO_AddrOf) {
    if (Use.Form == PointerForm::Variable)
      setPointer(E, PointerForm::Address, Use.Place);
    else if (Use.Form == PointerForm::Object)
      setPointer(E, PointerForm::Value, Use.Place);
    else
      giveAway(E->getSubExpr(), E);
  } else if (E->getOpcode() == UO_Deref) {
    if (Use.Form == PointerForm::Value) {
      emitOwner(FactKind::LookInto, Use.Place, E);
      setPointer(E, PointerForm::Object, Use.Place);
    } else if (Use.Form == PointerForm::Address) {
      setPointer(E, PointerForm::Variable, Use.Place);
    } else {
      giveAway(E->getSubExpr(), E);
    }
  } else if (E->getOpcode() != UO_LNot && E->getOpcode() != UO_Extension) {
    giveAway(E->getSubExpr(), E);
  }
}

void FactsBuilder::followBinary(const BinaryOperator *E) {
  PointerUse Left = pointerIn(E->getLHS());
  PointerUse Right = pointerIn(E->getRHS());
  if (E->isComparisonOp() || E->isLogicalOp())
    return;
  if (E->getOpcode() == BO_Comma) {
    if (Right.Form != PointerForm::None)
      setPointer(E, Right.Form, Right.Place);
    return;
  }
  // `p + n` leads to where `p` does.
  if (E->isAdditiveOp() && E->getType()->isPointerType()) {
    const PointerUse &From = Left.Form == PointerForm::Value ? Left : Right;
    if (From.Form == PointerForm::Value) {
      setPointer(E, PointerForm::Value, From.Place);
      return;
    }
  }
  if (E->getOpcode() != BO_Assign) {
    giveAwayChildren(E);
    return;
  }
  if (const auto *Ref = dyn_cast<DeclRefExpr>(stripWrappers(E->getLHS())))
    noteOutcome(Ref->getDecl(), E->getRHS());
  if (Left.Form == PointerForm::Variable) {
    pointAt(Left.Place, E->getRHS(), E);
    setPointer(E, PointerForm::Variable, Left.Place);
    return;
  }
  // `*out = p`, where `out` is a parameter.
  if (Left.Form == PointerForm::Object && E->getType()->isPointerType())
    emitOwner(FactKind::StoreOwner,
              Right.Form == PointerForm::Value ? Right.Place : NoPlace, E)
        .Dst = Left.Place;
  giveAway(E->getRHS(), E);
}

void FactsBuilder::followMember(const MemberExpr *E) {
  PointerUse Use = pointerIn(E->getBase());
  if (E->isArrow() && Use.Form == PointerForm::Value)
    emitOwner(FactKind::LookInto, Use.Place, E);
  else if (Use.Form != PointerForm::Object)
    giveAway(E->getBase(), E);
}

void FactsBuilder::followSubscript(const ArraySubscriptExpr *E) {
  PointerUse Use = pointerIn(E->getBase());
  Expr::EvalResult Index;
  if (Use.Form == PointerForm::Array && E->getType()->isPointerType() &&
      !E->getIdx()->isValueDependent() &&
      E->getIdx()->EvaluateAsInt(Index, Unit.Ctx))
    setPointer(E, PointerForm::Variable,
               Out.Places.part(Use.Place, Index.Val.getInt().getExtValue(),
                               /*IsHandle=*/false));
  else if (Use.Form == PointerForm::Value)
    emitOwner(FactKind::LookInto, Use.Place, E);
  else
    giveAway(E->getBase(), E);
}

void FactsBuilder::followDeclaration(const VarDecl *V, const Stmt *At) {
  const Expr *Init = V->getInit();
  QualType T = V->getType();
  if (Init)
    noteOutcome(V, Init);
  PointerUse Use = pointerIn(Init);
  if (!V->hasLocalStorage()) {
    giveAwayAll(Init, At);
    return;
  }
  PlaceID P = Out.Places.variable(V, isHandle(T));
  if (T->isPointerType()) {
    pointAt(P, Init, At);
  } else if (T->isReferenceType()) {
    if (Use.Form != PointerForm::Object)
      giveAway(Init, At);
    emitOwner(FactKind::PointAt,
              Use.Form == PointerForm::Object ? Use.Place : NoPlace, At)
        .Dst = P;
  } else if (isPointerArray(T) && Use.Form == PointerForm::List) {
    unsigned Number = 0;
    for (const Expr *Part : cast<InitListExpr>(stripParens(Init))->inits())
      pointAt(Out.Places.part(P, Number++, /*IsHandle=*/false), Part, At);
  } else if (Init) {
    giveAway(Init, At);
  }
}

void FactsBuilder::followReturn(const ReturnStmt *S) {
  const Expr *Value = S->getRetValue();
  if (!Value)
    return;
  PointerUse Use = pointerIn(Value);
  bool IsPointer = Use.Form == PointerForm::Value ||
                   (Use.Form == PointerForm::Object && Value->isLValue());
  if (!Top->Caller && (IsPointer || Use.Form == PointerForm::Null ||
                       Value->getType()->isPointerType())) {
    Fact &F =
        emitOwner(FactKind::ReturnOwner, IsPointer ? Use.Place : NoPlace, S);
    F.Value = Use.Form == PointerForm::Null;
  } else if (IsPointer) {
    emitOwner(FactKind::GiveAway, Use.Place, S);
  } else {
    giveAway(Value, S);
  }
}

} // namespace tensorscope
