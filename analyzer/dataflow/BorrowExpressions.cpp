// SPDX-License-Identifier: Apache-2.0
//
// Borrow facts of declarations and of expressions that are no calls.
#include "dataflow/BorrowBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

void BorrowBuilder::VisitDeclRefExpr(const DeclRefExpr *E) {
  if (const auto *Binding = dyn_cast<BindingDecl>(E->getDecl())) {
    // A part of a structured binding is a part of the whole, where the whole
    // is one of the user's classes.
    const auto *Member = dyn_cast_or_null<MemberExpr>(
        Binding->getBinding() ? stripForBorrow(Binding->getBinding())
                              : nullptr);
    const auto *Field =
        Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
    if (Field)
      if (PlaceID Whole = placeOf(Binding->getDecomposedDecl()))
        Objects[E] = Out.Places.field(Whole, Field, false);
    return;
  }
  if (PlaceID P = placeOf(E->getDecl()))
    Objects[E] = P;
}

void BorrowBuilder::VisitCXXThisExpr(const CXXThisExpr *E) {
  // In a lambda it is that of another function.
  const auto *Method = dyn_cast<CXXMethodDecl>(Out.Function);
  if (Method && !Method->getParent()->isLambda())
    Objects[E] = Out.This;
}

void BorrowBuilder::VisitMemberExpr(const MemberExpr *E) {
  const auto *Field = dyn_cast<FieldDecl>(E->getMemberDecl());
  if (!Field) {
    if (isa<VarDecl>(E->getMemberDecl()))
      Objects[E] = placeOf(E->getMemberDecl());
    return;
  }
  const Expr *Base = stripForBorrow(E->getBase());
  PlaceID P = objectOf(Base);
  if (E->isArrow() && !isa<CXXThisExpr>(Base)) {
    PlaceID Pointer = valueOf(E->getBase());
    on(BorrowKind::Use, Pointer, E);
    Addresses[E] = Pointer;
    return;
  }
  if (P == NoPlace) {
    Addresses[E] = Addresses.lookup(Base);
    return;
  }
  // Such as `cv::Mat::data`.
  if (Types.role(Base->getType()) == MemoryRole::Shared &&
      E->getType()->isPointerType()) {
    BorrowFact &F = emit(BorrowKind::TakeData, E);
    F.Src = P;
    F.Dst = Objects[E] = temporary(E);
    return;
  }
  Objects[E] = Out.Places.field(P, Field, false);
}

void BorrowBuilder::VisitArraySubscriptExpr(const ArraySubscriptExpr *E) {
  PlaceID Array = objectOf(E->getBase());
  if (Array != NoPlace &&
      stripForBorrow(E->getBase())->getType()->isArrayType()) {
    Objects[E] = Out.Places.element(Array, false);
    return;
  }
  PlaceID Pointer = valueOf(E->getBase());
  on(BorrowKind::Use, Pointer, E);
  Addresses[E] = Pointer;
}

void BorrowBuilder::VisitUnaryOperator(const UnaryOperator *E) {
  const Expr *Operand = E->getSubExpr();
  if (E->isIncrementDecrementOp()) {
    Objects[E] = objectOf(Operand);
  } else if (E->getOpcode() == UO_AddrOf) {
    // `&x` of an object of the user's is looked through where it is used.
    if (PlaceID Address = addressOf(Operand)) {
      PlaceID Temp = Objects[E] = temporary(E);
      copy(Temp, Address, E);
    }
  } else if (E->getOpcode() == UO_Deref) {
    const Expr *Pointer = stripForBorrow(Operand);
    if (isa<CXXThisExpr>(Pointer)) {
      Objects[E] = objectOf(Pointer);
      return;
    }
    Addresses[E] = valueOf(Operand);
    on(BorrowKind::Use, Addresses[E], E);
  }
}

/// `to = value` of anything but a class.
void BorrowBuilder::store(const Expr *To, const Expr *Value, const Stmt *At) {
  if (!Types.mayBorrow(To->getType()))
    return;
  PlaceID Dst = objectOf(To);
  PlaceID Src = valueOf(Value);
  if (Dst != NoPlace)
    copy(Dst, Src, At);
  else
    on(BorrowKind::Keep, Src, At);
}

void BorrowBuilder::VisitBinaryOperator(const BinaryOperator *E) {
  if (E->getOpcode() == BO_Comma) {
    Objects[E] = valueOf(E->getRHS());
  } else if (E->getOpcode() == BO_Assign) {
    store(E->getLHS(), E->getRHS(), E);
    Objects[E] = objectOf(E->getLHS());
  } else if (E->isCompoundAssignmentOp()) {
    Objects[E] = objectOf(E->getLHS());
  } else if (E->isAdditiveOp() && E->getType()->isPointerType()) {
    const Expr *Pointer = E->getLHS()->getType()->isPointerType() ||
                                  E->getLHS()->getType()->isArrayType()
                              ? E->getLHS()
                              : E->getRHS();
    Objects[E] = valueOf(Pointer);
  }
}

void BorrowBuilder::VisitConditionalOperator(const ConditionalOperator *E) {
  if (!Types.mayBorrow(E->getType()) ||
      (E->isGLValue() && !E->getType()->isPointerType() &&
       Types.role(E->getType()) != MemoryRole::Shared))
    return;
  PlaceID True = valueOf(E->getTrueExpr());
  PlaceID False = valueOf(E->getFalseExpr());
  BorrowFact &F = emit(BorrowKind::Copy, E);
  F.Sources = {True, False};
  F.Dst = Objects[E] = temporary(E);
}

void BorrowBuilder::VisitCXXNewExpr(const CXXNewExpr *E) {
  if (E->getNumPlacementArgs() == 0)
    Objects[E] = pointTo(Out.lender(LenderKind::Heap, NoPlace, E), E);
}

void BorrowBuilder::VisitCXXDeleteExpr(const CXXDeleteExpr *E) {
  on(BorrowKind::Free, valueOf(E->getArgument()), E);
}

void BorrowBuilder::VisitCXXStdInitializerListExpr(
    const CXXStdInitializerListExpr *E) {
  const auto *Made = dyn_cast<MaterializeTemporaryExpr>(E->getSubExpr());
  if (Made && Made->getStorageDuration() != SD_FullExpression)
    return;
  // The array behind it.
  PlaceID Array = temporary(E, /*Index=*/1);
  PlaceID List = Objects[E] = pointTo(lenderAt(LenderKind::Own, Array), E);
  const auto *Inits = dyn_cast<InitListExpr>(stripForBorrow(E->getSubExpr()));
  if (!Inits || Inits->getNumInits() == 0 ||
      !Types.mayBorrow(Inits->getInit(0)->getType()))
    return;
  for (const Expr *Init : Inits->inits())
    copy(List, valueOf(Init), E, /*IsWeak=*/true);
}

void BorrowBuilder::VisitInitListExpr(const InitListExpr *E) {
  if (!E->isSemanticForm() || !Types.mayBorrow(E->getType()))
    return;
  const auto *RD = E->getType()->getAsCXXRecordDecl();
  // A list of one value that initialises the same.
  if (!RD && !E->getType()->isArrayType()) {
    if (E->getNumInits() == 1)
      Objects[E] = valueOf(E->getInit(0));
    return;
  }
  PlaceID Temp = Objects[E] = temporary(E);
  emit(BorrowKind::Reset, E).Dst = Temp;
  if (!RD) {
    for (const Expr *Init : E->inits())
      copy(Temp, valueOf(Init), E, /*IsWeak=*/true);
    return;
  }
  unsigned Index = RD->getNumBases();
  for (const FieldDecl *Field : RD->fields()) {
    if (Index >= E->getNumInits())
      return;
    const Expr *Init = E->getInit(Index++);
    if (Types.mayBorrow(Field->getType()))
      copy(Out.Places.field(Temp, Field, false), valueOf(Init), Init);
  }
}

void BorrowBuilder::VisitLambdaExpr(const LambdaExpr *E) {
  PlaceID Closure = Objects[E] = temporary(E);
  emit(BorrowKind::Reset, E).Dst = Closure;
  auto Init = E->capture_init_begin();
  for (const LambdaCapture &Capture : E->captures()) {
    const Expr *Value = *Init++;
    if (!Capture.capturesVariable() ||
        Capture.getCaptureKind() != LCK_ByCopy ||
        !Types.mayBorrow(Capture.getCapturedVar()->getType()))
      continue;
    copy(Closure, valueOf(Value), E, /*IsWeak=*/true);
  }
  noteLambda(E);
}

void BorrowBuilder::VisitReturnStmt(const ReturnStmt *S) {
  const Expr *Value = S->getRetValue();
  if (!Value)
    return;
  // A local object that is named is moved out, or is the result itself.
  const Expr *Named = stripForBorrow(Value);
  if (const auto *Made = dyn_cast<CXXConstructExpr>(Named);
      Made && Made->getNumArgs() == 1)
    Named = stripForBorrow(Made->getArg(0));
  if (isa<DeclRefExpr>(Named) && !Types.mayBorrow(Value->getType()))
    on(BorrowKind::Drop, objectOf(Named), S);
  if (Out.Function->getReturnType()->isReferenceType()) {
    PlaceID P = objectOf(Value);
    Out.Returned = !HasReturned || P == Out.Returned ? P : NoPlace;
    HasReturned = true;
    return;
  }
  if (!Types.mayBorrow(Value->getType()))
    return;
  PlaceID P = valueOf(Value);
  copy(Out.Return, P, S);
  on(BorrowKind::Return, P, S);
}

void BorrowBuilder::VisitDeclStmt(const DeclStmt *S) {
  for (const Decl *D : S->decls())
    if (const auto *V = dyn_cast<VarDecl>(D))
      declare(V, S);
}

/// `begin()` of a container: what it leads to are the container's elements.
static const Expr *containerBehind(const Expr *Position) {
  const auto *Call = dyn_cast_or_null<CallExpr>(
      Position ? stripForBorrow(Position) : nullptr);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  if (!F || !F->getDeclName().isIdentifier())
    return nullptr;
  static constexpr llvm::StringLiteral Names[] = {
      "begin", "end", "rbegin", "rend", "data", "find", "front", "back"};
  if (!llvm::is_contained(Names, F->getName()))
    return nullptr;
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call))
    return Member->getImplicitObjectArgument();
  return Call->getNumArgs() == 1 ? Call->getArg(0) : nullptr;
}

void BorrowBuilder::notePosition(const VarDecl *V) {
  Positions.erase(V);
  if (const Expr *Container = containerBehind(V->getInit()))
    if (PlaceID P = objectOf(Container); P != NoPlace && P != Nothing)
      Positions[V] = P;
}

/// An algorithm may write to the elements behind the position \p Arg.
void BorrowBuilder::forgetBehind(const Expr *Arg, const Stmt *At) {
  const Expr *Container = containerBehind(Arg);
  PlaceID P = Container ? objectOf(Container) : NoPlace;
  if (P == NoPlace)
    if (const auto *Ref = dyn_cast<DeclRefExpr>(stripForBorrow(Arg)))
      P = Positions.lookup(Ref->getDecl());
  if (P == NoPlace || !Types.mayBorrow(typeOf(P)))
    return;
  on(BorrowKind::Keep, P, At);
  emit(BorrowKind::Forget, At).Dst = P;
}

void BorrowBuilder::declare(const VarDecl *V, const Stmt *At) {
  Aliases.erase(V);
  llvm::erase(Reserved, placeOf(V));
  if (V->isStaticLocal())
    return;
  const Expr *Init = V->getInit();
  if (V->getType()->isReferenceType()) {
    PlaceID Object = objectOf(Init);
    if (Object == NoPlace || Object == Nothing) {
      PlaceID P = placeOf(V);
      if (Types.mayBorrow(V->getType()))
        emit(BorrowKind::Forget, At).Dst = P;
      return;
    }
    Aliases[V] = Object;
    // A temporary lives as long as the reference that it is bound to.
    llvm::erase(Pending, Object);
    return;
  }
  notePosition(V);
  if (!Types.mayBorrow(V->getType()))
    return;
  PlaceID P = placeOf(V);
  if (!Init)
    emit(BorrowKind::Reset, At).Dst = P;
  else
    copy(P, valueOf(Init), At);
}

} // namespace tensorscope
