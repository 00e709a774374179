// SPDX-License-Identifier: Apache-2.0
//
// Facts of declarations and of expressions that are no calls.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

PlaceID FactsBuilder::valueOf(const Expr *E) const {
  return E ? Top->Values.lookup(stripWrappers(E)) : NoPlace;
}

PlaceID FactsBuilder::temporary(const Expr *E, unsigned Index) {
  PlaceID P =
      Out.Places.temporary(E, Index, Top->ID, isHandle(E->getType()));
  Out.Places[P].Depth = depthAt(E->getBeginLoc());
  Top->PendingTemporaries.push_back(P);
  return P;
}

/// True for a variable that no body on the way declares: a global, a static,
/// or what a lambda that is analysed alone captures.
static bool livesOutside(const ValueDecl *V, const Frame *Top) {
  const auto *Var = dyn_cast<VarDecl>(V);
  if (!Var || Var->hasGlobalStorage())
    return true;
  const DeclContext *Owner = Var->getDeclContext();
  for (const Frame *F = Top; F; F = F->Caller)
    if (Owner == F->Function)
      return false;
  return true;
}

PlaceID FactsBuilder::placeOf(const ValueDecl *V) {
  if (auto It = Aliases.find(V); It != Aliases.end())
    return It->second;
  if (const auto *Binding = dyn_cast<BindingDecl>(V))
    return bindingPlace(Binding);
  PlaceID P = Out.Places.variable(V, isHandle(V->getType()));
  PlaceInfo &Info = Out.Places[P];
  Info.IsOuter |= livesOutside(V, Top);
  Info.IsShared = Unit.Types.sharesContents(V->getType());
  Info.IsExposed |= Top->Body->Exposed.contains(V);
  Info.IsAdopted |= Unit.Types.holdsAdoption(
      V->getType().getNonReferenceType()->getAsCXXRecordDecl());
  return P;
}

PlaceID FactsBuilder::bindingPlace(const BindingDecl *B) {
  PlaceID Whole = placeOf(B->getDecomposedDecl());
  bool Handle = isHandle(B->getType());
  const Expr *Access = B->getBinding();
  if (const auto *Member =
          dyn_cast_or_null<MemberExpr>(Access ? stripWrappers(Access) : nullptr))
    if (const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl()))
      return Out.Places.field(Whole, Field, Handle);
  const auto *Parts = cast<DecompositionDecl>(B->getDecomposedDecl());
  const auto *Found = llvm::find(Parts->bindings(), B);
  if (PlaceID Part = partOf(Whole, Parts->getType(),
                            Found - Parts->bindings().begin()))
    return Part;
  return Out.Places.element(Whole, Handle);
}

/// The left side of an assignment, else null.
static const Expr *assignedExpr(const Expr *E) {
  if (const auto *Assignment = dyn_cast<BinaryOperator>(E))
    return stripWrappers(Assignment->getLHS());
  if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(E))
    return stripWrappers(Call->getArg(0));
  return nullptr;
}

void FactsBuilder::VisitDeclRefExpr(const DeclRefExpr *E) {
  const ValueDecl *V = E->getDecl();
  noteFunctionName(E);
  giveLongLived(E);
  if (!isa<VarDecl, BindingDecl>(V))
    return;
  PlaceID P = placeOf(V);
  setValue(E, P);
  // The names of a structured binding are read, not what they are parts of.
  if (!carries(V->getType()) || isa<DecompositionDecl>(V))
    return;
  if (const Expr *Call = Top->Body->ObjectOf.lookup(E)) {
    // Writing to it, or adding to it, is not looking at it; writing to an
    // element of a tensor is.
    const Expr *Target = assignedExpr(Call);
    if (Target && (Target == E || !isHandle(V->getType())))
      return;
    const auto *Member = dyn_cast<CXXMemberCallExpr>(Call);
    const FunctionDecl *F = Member ? Member->getDirectCallee() : nullptr;
    const FunctionModel *M = F ? Unit.Api.find(F) : nullptr;
    if (M && !M->Effects.empty() &&
        llvm::all_of(M->Effects, [](const Effect &X) {
          return X.Kind == EffectKind::Insert || X.Kind == EffectKind::Clear ||
                 X.Kind == EffectKind::Reset;
        }))
      return;
  }
  // A lambda that refers to it is a read of its own.
  if (!Top->Body->Captured.contains(E))
    on(FactKind::Read, Out.Places.root(P), E);
}

void FactsBuilder::VisitMemberExpr(const MemberExpr *E) {
  const ValueDecl *Member = E->getMemberDecl();
  if (const auto *Field = dyn_cast<FieldDecl>(Member)) {
    if (PlaceID Base = valueOf(E->getBase()))
      setValue(E, Out.Places.field(Base, Field, isHandle(Field->getType())));
  } else if (isa<VarDecl>(Member)) {
    setValue(E, placeOf(Member));
  }
}

void FactsBuilder::VisitCXXThisExpr(const CXXThisExpr *E) {
  setValue(E, Top->This);
}

void FactsBuilder::VisitLambdaExpr(const LambdaExpr *E) {
  noteClosure(E);
  PlaceID Closure = temporary(E);
  emit(FactKind::Null, E).Dst = Closure;
  auto Init = E->capture_init_begin();
  for (const LambdaCapture &Capture : E->captures()) {
    const Expr *Value = *Init++;
    if (!Capture.capturesVariable())
      continue;
    const ValueDecl *V = Capture.getCapturedVar();
    if (!carries(V->getType()))
      continue;
    PlaceID P = placeOf(V);
    const auto *Var = dyn_cast<VarDecl>(V);
    if (Var && Var->isInitCapture()) {
      Out.Places[P].Depth = depthAt(E->getBeginLoc());
      assign(P, valueOf(Value), E);
    } else {
      on(FactKind::Read, Out.Places.root(P), E);
    }
    if (Capture.getCaptureKind() == LCK_ByCopy)
      assign(Closure, P, E, /*IsWeak=*/true);
  }
  setValue(E, Closure);
}

void FactsBuilder::VisitInitListExpr(const InitListExpr *E) {
  noteReferences(E, E->inits());
  if (!carries(E->getType()) || !E->isSemanticForm())
    return;
  PlaceID Temp = temporary(E);
  setValue(E, Temp);
  emit(FactKind::Null, E).Dst = Temp;
  const auto *RD = E->getType()->getAsCXXRecordDecl();
  unsigned Index = RD ? RD->getNumBases() : 0;
  if (!RD) {
    for (const Expr *Init : E->inits())
      assign(Temp, valueOf(Init), E, /*IsWeak=*/true);
    return;
  }
  for (const FieldDecl *Field : RD->fields()) {
    if (Index >= E->getNumInits())
      return;
    const Expr *Init = E->getInit(Index++);
    if (carries(Field->getType()))
      if (PlaceID Value = valueOf(Init))
        assign(Out.Places.field(Temp, Field, isHandle(Field->getType())),
               Value, Init);
  }
}

void FactsBuilder::VisitArraySubscriptExpr(const ArraySubscriptExpr *E) {
  PlaceID Base = valueOf(E->getBase());
  if (Base == NoPlace)
    return;
  if (carries(E->getType()))
    setValue(E, Out.Places.element(Base, isHandle(E->getType())));
  else
    on(FactKind::Use, Base, E);
}

static const ValueDecl *writtenDecl(const Expr *Target) {
  Target = stripWrappers(Target);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Target))
    return Ref->getDecl();
  if (const auto *Member = dyn_cast<MemberExpr>(Target))
    return Member->getMemberDecl();
  return nullptr;
}

void FactsBuilder::VisitUnaryOperator(const UnaryOperator *E) {
  const Expr *Operand = E->getSubExpr();
  PlaceID P = valueOf(Operand);
  if (E->isIncrementDecrementOp()) {
    noteMemoryWrite(Operand, E);
    // A flag that counts is set under a condition; a loop's counter is not.
    const BodyIndex &Body = *Top->Body;
    if (const Stmt *Branch = Body.BranchOf.lookup(E);
        Branch && Body.LoopOf.lookup(Branch) == Body.LoopOf.lookup(E))
      noteWrite(Operand, E);
    recordScalarWrite(writtenDecl(Operand), nullptr, E);
    setValue(E, P);
  } else if (E->getOpcode() == UO_AddrOf) {
    setValue(E, P);
  } else if (E->getOpcode() == UO_Deref) {
    setValue(E, P);
    if (!carries(E->getType()))
      on(FactKind::Use, P, E);
  }
}

void FactsBuilder::VisitBinaryOperator(const BinaryOperator *E) {
  if (E->getOpcode() == BO_Comma) {
    setValue(E, valueOf(E->getRHS()));
  } else if (E->isAssignmentOp()) {
    PlaceID To = valueOf(E->getLHS());
    PlaceID Value = valueOf(E->getRHS());
    QualType T = E->getLHS()->getType();
    noteMemoryWrite(E->getLHS(), E);
    if (E->getOpcode() == BO_Assign)
      noteWrite(E->getLHS(), E);
    if (carries(T) || (T->isPointerType() && Value != NoPlace))
      assign(To, Value, E);
    else
      recordScalarWrite(writtenDecl(E->getLHS()),
                        E->getOpcode() == BO_Assign ? E->getRHS() : nullptr, E);
    setValue(E, To);
  }
}

/// `a ?: b`; the arms of another one are its value where they are evaluated.
void FactsBuilder::VisitBinaryConditionalOperator(
    const BinaryConditionalOperator *E) {
  PlaceID True = valueOf(E->getTrueExpr());
  PlaceID False = valueOf(E->getFalseExpr());
  if (!carries(E->getType()) || (!True && !False))
    return;
  PlaceID Temp = temporary(E);
  assign(Temp, {True, False}, E);
  setValue(E, Temp);
}

void FactsBuilder::VisitCXXNewExpr(const CXXNewExpr *E) {
  if (const Expr *Init = E->getInitializer())
    setValue(E, valueOf(Init));
}

void FactsBuilder::VisitCXXDefaultInitExpr(const CXXDefaultInitExpr *E) {
  if (carries(E->getType()))
    emit(FactKind::Null, E).Dst = temporary(E);
}

void FactsBuilder::VisitReturnStmt(const ReturnStmt *S) {
  const Expr *Value = S->getRetValue();
  if (!Value || !carries(Value->getType()))
    return;
  assign(Top->Return, valueOf(Value), S);
  if (!Top->Caller)
    Out.Returned.insert(valueOf(Value));
}

void FactsBuilder::VisitCXXThrowExpr(const CXXThrowExpr *) {
  IsDead = !FollowsExceptions || Top->Caller;
}

void FactsBuilder::VisitDeclStmt(const DeclStmt *S) {
  for (const Decl *D : S->decls())
    if (const auto *V = dyn_cast<VarDecl>(D))
      declareVariable(V, S);
}

/// A reference names what it is bound to; so does an iterator, and a pointer
/// that is never set again.
bool FactsBuilder::bindsAsAlias(const VarDecl *V, PlaceID Init) const {
  if (Init == NoPlace || Out.Places[Init].Kind == PlaceKind::Temporary ||
      Out.Places[Init].Kind == PlaceKind::Return)
    return false;
  QualType T = V->getType();
  if (T->isReferenceType())
    return true;
  if (T->isPointerType())
    return !Top->Body->Reassigned.contains(V);
  // A position in a container is a call's prvalue that names a place; a copy
  // of an object is a construction.
  const Expr *E = V->getInit() ? stripWrappers(V->getInit()) : nullptr;
  return isa_and_nonnull<CallExpr>(E) && !Top->Body->Reassigned.contains(V);
}

void FactsBuilder::declareVariable(const VarDecl *V, const Stmt *At) {
  QualType T = V->getType();
  Aliases.erase(V);
  noteLongLived(V, At);
  if (declareModeGuard(V, At) || declareStream(V, At))
    return;
  if (!T->isReferenceType() && !T->isPointerType()) {
    TypeRole Role = Unit.Types.role(T);
    if (Role == TypeRole::Scope || Role == TypeRole::Session) {
      declareGuard(V, Role == TypeRole::Scope ? ScopeForm::Guard
                                              : ScopeForm::Session, At);
      return;
    }
  }
  // Whether, and until when, a scope is open in it is not followed.
  if (Unit.Types.mayHoldScope(T))
    emit(FactKind::ScopeForget, At).Value = true;
  if (ScopeID Named = guardNamedBy(V->getInit()))
    Guards[V] = Named;
  PlaceID Init = valueOf(V->getInit());
  if (bindsAsAlias(V, Init)) {
    Aliases[V] = Init;
    return;
  }
  if (V->isStaticLocal() || (!carries(T) && Init == NoPlace)) {
    if (T->isScalarType())
      recordScalarWrite(V, V->getInit(), At);
    return;
  }
  PlaceID P = placeOf(V);
  Out.Places[P].Depth = depthAt(V->getLocation());
  if (Init != NoPlace)
    assign(P, Init, At);
  else if (!V->getInit() || isa<CXXConstructExpr>(stripWrappers(V->getInit())))
    emit(FactKind::Null, At).Dst = P;
  else
    emit(FactKind::Forget, At).Dst = P;
}

} // namespace tensorscope
