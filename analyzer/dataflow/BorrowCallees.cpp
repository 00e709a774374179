// SPDX-License-Identifier: Apache-2.0
//
// Borrow facts of constructions, of callees that have a summary, and of those
// of which nothing is known.
#include "dataflow/BorrowBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

void BorrowBuilder::VisitCXXConstructExpr(const CXXConstructExpr *E) {
  Call C;
  C.E = E;
  C.Callee = E->getConstructor();
  for (const Expr *Arg : E->arguments())
    if (!isa<CXXDefaultArgExpr>(Arg))
      C.Args.push_back(Arg);
  const CXXConstructorDecl *Ctor = E->getConstructor();
  QualType T = E->getType();
  bool IsCopy = Ctor->isCopyOrMoveConstructor() && C.Args.size() == 1;
  if (IsCopy && Ctor->isMoveConstructor() && C.Args[0]->isXValue())
    on(BorrowKind::Drop, objectOf(C.Args[0]), E);
  if (!IsCopy)
    handOver(C);
  if (IsCopy && (Ctor->isDefaulted() ||
                 isLibraryDecl(Ctor, Unit.Ctx.getSourceManager()))) {
    if (!Types.mayBorrow(T))
      return;
    PlaceID Temp = Objects[E] = temporary(E);
    copy(Temp, valueOf(C.Args[0]), E);
    return;
  }
  if (Types.role(T) == MemoryRole::View) {
    enclose(C);
  } else if (Types.role(T) == MemoryRole::Shared) {
    constructShared(C);
  } else if (isLibraryDecl(Ctor, Unit.Ctx.getSourceManager())) {
    // Reading the elements that an iterator leads to.
    if (!Types.mayBorrow(T)) {
      useAll(C);
      Objects[E] = temporary(E);
    } else {
      collect(C);
    }
  } else {
    PlaceID Temp = Objects[E] = temporary(E);
    emit(BorrowKind::Reset, E).Dst = Temp;
    if (!Ctor->isDefaulted())
      visitUser(C, Temp);
  }
}

/// A view of what its first argument owns, or points to.
void BorrowBuilder::enclose(const Call &C) {
  PlaceID Temp = Objects[C.E] = temporary(C.E);
  emit(BorrowKind::Reset, C.E).Dst = Temp;
  if (C.Args.empty())
    return;
  const Expr *From = C.Args.front();
  QualType T = From->getType();
  PlaceID Pointer = NoPlace;
  if (T->isPointerType() || Types.role(T) == MemoryRole::View)
    Pointer = valueOf(From);
  else if (LenderID R = elementsOf(objectOf(From), T))
    Pointer = pointTo(R, C.E, /*Index=*/1);
  else if (T->isArithmeticType()) {
    // One element: the variable, or a temporary.
    PlaceID Object = objectOf(From);
    if (Object == NoPlace && From->isGLValue() &&
        isa<MaterializeTemporaryExpr>(From->IgnoreParens()))
      Object = temporary(C.E, /*Index=*/2);
    Pointer = Object == NoPlace
                  ? NoPlace
                  : pointTo(lenderOf(Object), C.E, /*Index=*/1);
  }
  bool IsRef = Types.isArrayRef(C.E->getType());
  BorrowFact &F =
      emit(IsRef ? BorrowKind::Enclose : BorrowKind::Copy, C.E);
  F.Dst = Temp;
  F.Src = Pointer;
  F.Sources.push_back(Pointer);
}

/// A tensor's handle, or an image of OpenCV's.
void BorrowBuilder::constructShared(const Call &C) {
  const Expr *Pointer = nullptr, *Other = nullptr;
  for (const Expr *Arg : C.Args) {
    if (Arg->getType()->isPointerType())
      Pointer = Arg;
    else if (Types.mayBorrow(Arg->getType()) && !Other)
      Other = Arg;
  }
  if (C.Args.empty()) {
    emit(BorrowKind::Reset, C.E).Dst = Objects[C.E] = temporary(C.E);
  } else if (Pointer) {
    wrap(C, Pointer);
  } else if (Other) {
    PlaceID Temp = Objects[C.E] = temporary(C.E);
    copy(Temp, valueOf(Other), C.E);
  } else {
    resultOf(MemoryKind::Makes, nullptr, C);
  }
}

// --- Summaries ------------------------------------------------------------

void BorrowBuilder::visitUser(const Call &C, PlaceID This) {
  const FunctionDecl *F = mayRunOverride(C.Callee, C.Object, C.E)
                              ? nullptr
                              : definitionOf(C.Callee);
  const BorrowSummary *S = F ? Summaries.borrowSummary(F) : nullptr;
  if (!S) {
    applyUnknown(C, This);
    return;
  }
  PlaceID Result = NoPlace;
  bool HasResult =
      !isa<CXXConstructorDecl>(F) && Types.mayBorrow(F->getReturnType()) &&
      !F->getReturnType()->isReferenceType();
  if (HasResult) {
    Result = Objects[C.E] = temporary(C.E);
    emit(BorrowKind::Reset, C.E).Dst = Result;
  }
  if (S->Reference)
    if (PlaceID P = placeAt(*S->Reference, C, This, Result))
      Objects[C.E] = P;
  applySummary(*S, C, This, Result);
}

PlaceID BorrowBuilder::placeAt(const Path &P, const Call &C, PlaceID This,
                               PlaceID Result) {
  PlaceID Place = NoPlace;
  switch (P.Root) {
  case PathRoot::Param:
    Place = P.Param < C.Args.size() ? valueOf(C.Args[P.Param]) : NoPlace;
    break;
  case PathRoot::This:
    Place = This;
    break;
  case PathRoot::Global:
    Place = placeOf(P.Global);
    break;
  case PathRoot::Result:
    Place = Result;
    break;
  }
  for (const PathStep &Step : P.Steps)
    if (Place != NoPlace)
      Place = Step.Kind == PlaceKind::Field
                  ? Out.Places.field(Place, Step.Field, false)
                  : Out.Places.element(Place, false);
  return Place == Nothing ? NoPlace : Place;
}

void BorrowBuilder::applySummary(const BorrowSummary &S, const Call &C,
                                 PlaceID This, PlaceID Result) {
  auto OnAll = [&](const std::vector<Path> &Paths, BorrowKind Kind) {
    for (const Path &P : Paths)
      if (PlaceID Place = placeAt(P, C, This, Result)) {
        BorrowFact &F = emit(Kind, C.E);
        F.Src = Place;
        F.Callee = C.Callee;
        F.IsMay = Kind != BorrowKind::Free;
      }
  };
  OnAll(S.Used, BorrowKind::Use);
  // Values first: they are what was there before the call.
  std::vector<std::pair<PlaceID, PlaceID>> Values;
  unsigned Index = 10;
  for (const BorrowSummary::Store &Store : S.Stores) {
    PlaceID To = placeAt(Store.To, C, This, Result);
    if (To == NoPlace)
      continue;
    PlaceID Temp = temporary(C.E, Index++);
    emit(BorrowKind::Reset, C.E).Dst = Temp;
    for (const BorrowSummary::Part &Part : Store.Parts)
      addPart(Part, placeAt(Part.From, C, This, Result), Temp, C, Index++);
    if (Store.IsNew) {
      BorrowFact &F = emit(BorrowKind::Create, C.E);
      F.Dst = Temp;
      F.IsWeak = true;
      F.Lender = Out.lender(LenderKind::Data, Temp, C.E);
      F.Shape = Out.lender(LenderKind::Shape, Temp, C.E);
    }
    if (Store.IsUnknown)
      Temp = NoPlace;
    Values.push_back({To, Temp});
  }
  OnAll(S.Freed, BorrowKind::Free);
  OnAll(S.Reallocated, BorrowKind::Realloc);
  OnAll(S.Resized, BorrowKind::Resize);
  OnAll(S.Dropped, BorrowKind::Drop);
  OnAll(S.Kept, BorrowKind::Keep);
  for (auto [To, Value] : Values)
    copy(To, Value, C.E);
}

void BorrowBuilder::addPart(const BorrowSummary::Part &Part, PlaceID From,
                            PlaceID To, const Call &C, unsigned Index) {
  BorrowKind Kind = BorrowKind::Copy;
  PlaceID Src = From;
  switch (Part.Kind) {
  case LenderKind::Own:
  case LenderKind::Content:
    if (From != NoPlace) {
      LenderID R = Part.Kind == LenderKind::Own ? lenderOf(From)
                                                : lenderAt(Part.Kind, From);
      Src = pointTo(R, C.E, Index);
    }
    break;
  case LenderKind::Heap:
    // Of its own for each call, and each place that it comes to.
    Src = pointTo(Out.lender(LenderKind::Heap, To, C.E), C.E, Index);
    break;
  case LenderKind::InitialData:
    Kind = Part.IsHeld ? BorrowKind::Copy : BorrowKind::TakeData;
    break;
  case LenderKind::InitialShape:
    Kind = Part.IsHeld ? BorrowKind::Copy : BorrowKind::TakeShape;
    break;
  default:
    break;
  }
  if (Src == NoPlace) {
    BorrowFact &F = emit(BorrowKind::Copy, C.E);
    F.Dst = To;
    F.IsWeak = true;
    F.Sources.push_back(NoPlace);
    return;
  }
  BorrowFact &F = emit(Part.IsBlob ? BorrowKind::Wrap : Kind, C.E);
  F.Dst = To;
  F.Src = Src;
  F.Sources.push_back(Src);
  F.IsWeak = true;
  F.Callee = C.Callee;
  if (Part.IsBlob)
    F.Shape = Out.lender(LenderKind::Shape, To, C.E);
}

// --- Unknown callees ------------------------------------------------------

/// What a lambda changes of the variables that it refers to.
void BorrowBuilder::noteLambda(const LambdaExpr *E) {
  const FunctionDecl *Operator =
      definitionOf(callOperator(E->getLambdaClass()));
  if (Operator)
    Out.Lambdas.push_back(Operator);
  const BorrowSummary *S =
      Operator ? Summaries.borrowSummary(Operator) : nullptr;
  for (const LambdaCapture &Capture : E->captures()) {
    if (!Capture.capturesVariable() || Capture.getCaptureKind() != LCK_ByRef)
      continue;
    const ValueDecl *V = Capture.getCapturedVar();
    auto IsNamed = [&](const Path &P) {
      return P.Root == PathRoot::Global && P.Global == V->getCanonicalDecl();
    };
    PlaceID P = placeOf(V);
    if (P == NoPlace)
      continue;
    bool IsStored = !S || llvm::any_of(S->Stores, [&](const auto &Store) {
      return IsNamed(Store.To);
    });
    bool IsMoved = !S || llvm::any_of(S->Reallocated, IsNamed) ||
                   llvm::any_of(S->Dropped, IsNamed) ||
                   llvm::any_of(S->Freed, IsNamed);
    if (IsMoved || IsStored)
      on(BorrowKind::Drop, P, E);
    on(BorrowKind::Keep, P, E);
    if (IsStored && Types.mayBorrow(V->getType()))
      emit(BorrowKind::Forget, E).Dst = P;
  }
}

void BorrowBuilder::giveToUnknown(const Expr *Arg, QualType Param,
                                  const Expr *At) {
  PlaceID P = objectOf(Arg);
  bool IsAddress = false;
  // `f(&x)` may write to x.
  if (const auto *Address = dyn_cast<UnaryOperator>(stripForBorrow(Arg));
      Address && Address->getOpcode() == UO_AddrOf) {
    P = objectOf(Address->getSubExpr());
    IsAddress = true;
  }
  if (P == NoPlace || P == Nothing)
    return;
  bool IsReference = IsAddress || Param.isNull() || Param->isReferenceType();
  bool MayWrite = Param.isNull() || IsAddress ||
                  (Param->isLValueReferenceType() &&
                   !Param->getPointeeType().isConstQualified());
  if (!IsAddress && Types.mayBorrow(Arg->getType()))
    on(BorrowKind::Use, P, At);
  on(BorrowKind::Keep, P, At);
  if (MayWrite && IsReference && (Arg->isLValue() || IsAddress)) {
    on(BorrowKind::Drop, P, At);
    emit(BorrowKind::Forget, At).Dst = P;
  }
}

void BorrowBuilder::applyUnknown(const Call &C, PlaceID This) {
  for (unsigned I = 0; I < C.Args.size(); ++I) {
    QualType Param = C.Callee && I < C.Callee->getNumParams()
                         ? C.Callee->getParamDecl(I)->getType()
                         : QualType();
    giveToUnknown(C.Args[I], Param, C.E);
  }
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(C.Callee);
  bool IsConst = Method && Method->isConst();
  if (This != NoPlace && Method && !IsConst) {
    on(BorrowKind::Keep, This, C.E);
    on(BorrowKind::Drop, This, C.E);
    emit(BorrowKind::Forget, C.E).Dst = This;
  }
}

} // namespace tensorscope
