// SPDX-License-Identifier: Apache-2.0
//
// Borrow facts of calls that a model's section `memory` describes.
#include "dataflow/BlobTypes.h"
#include "dataflow/BorrowBuilder.h"
#include "dataflow/UnitFacts.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

void BorrowBuilder::applyMemory(const MemoryModel &M, const Call &C) {
  bool Looks = llvm::none_of(M, [](const MemoryEffect &E) {
    return E.Kind == MemoryKind::LooksAtNone ||
           E.Kind == MemoryKind::PointsInto ||
           E.Kind == MemoryKind::Describes || E.Kind == MemoryKind::Passes ||
           E.Kind == MemoryKind::PassesWhole ||
           E.Kind == MemoryKind::Restrides || E.Kind == MemoryKind::MayPass ||
           E.Kind == MemoryKind::Orders || E.Kind == MemoryKind::Reshapes ||
           E.Kind == MemoryKind::Resets ||
           E.Kind == MemoryKind::Wraps || E.Kind == MemoryKind::Frees ||
           E.Kind == MemoryKind::Fills;
  });
  bool IsOfLibrary = isLibraryDecl(C.Callee, Unit.Ctx.getSourceManager());
  if (Looks || (IsOfLibrary && !C.Args.empty()))
    useAll(C, /*OnlyArrayRefs=*/!Looks);
  for (const MemoryEffect &E : M)
    applyEffect(E, C);
  applyResult(M, C);
  if (Looks && C.Object && IsOfLibrary)
    insert(C);
}

void BorrowBuilder::applyEffect(const MemoryEffect &E, const Call &C) {
  const Expr *Arg = argument(C, E.Arg);
  if (!Arg || (E.Arg == ThisArg && isThroughPointer(C.Object)))
    return;
  PlaceID P = objectOf(Arg);
  switch (E.Kind) {
  case MemoryKind::MayRealloc:
  case MemoryKind::Reserves:
  case MemoryKind::Reallocs: {
    if (P == NoPlace || P == Nothing)
      return;
    if (E.Kind == MemoryKind::MayRealloc && llvm::is_contained(Reserved, P)) {
      on(BorrowKind::Drop, P, C.E);
      return;
    }
    BorrowFact &F = emit(Types.role(Arg->getType()) == MemoryRole::Shared
                             ? BorrowKind::Resize
                             : BorrowKind::Realloc,
                         C.E);
    F.Src = P;
    F.IsMay = E.Kind != MemoryKind::Reallocs;
    if (E.Kind == MemoryKind::Reserves)
      Reserved.push_back(P);
    return;
  }
  case MemoryKind::Frees:
    on(BorrowKind::Free, valueOf(Arg), C.E);
    return;
  case MemoryKind::GivesUp:
    on(BorrowKind::Drop, P, C.E);
    if (P != NoPlace && Types.mayBorrow(Arg->getType()) && Arg->isLValue())
      emit(BorrowKind::Forget, C.E).Dst = P;
    return;
  case MemoryKind::Fills:
    if (P == NoPlace)
      return;
    on(BorrowKind::Keep, P, C.E);
    [[fallthrough]];
  case MemoryKind::Resets: {
    if (P == NoPlace)
      return;
    if (E.Kind == MemoryKind::Resets) {
      emit(BorrowKind::Reset, C.E).Dst = P;
      return;
    }
    BorrowFact &F = emit(BorrowKind::Create, C.E);
    F.Dst = P;
    F.Lender = Out.lender(LenderKind::Data, P, C.E);
    F.Shape = Out.lender(LenderKind::Shape, P, C.E);
    return;
  }
  default:
    return; // in the result
  }
}

void BorrowBuilder::applyResult(const MemoryModel &M, const Call &C) {
  PlaceID Pointer = NoPlace;
  for (const MemoryEffect &E : M) {
    const Expr *From = argument(C, E.Arg);
    switch (E.Kind) {
    case MemoryKind::Wraps:
      if (From)
        wrap(C, From);
      return;
    case MemoryKind::PointsInto:
    case MemoryKind::Describes: {
      if (!From)
        return;
      bool IsShared = Types.role(From->getType()) == MemoryRole::Shared;
      if (!IsShared) {
        pointInto(C, From);
        return;
      }
      PlaceID P = isThroughPointer(From) ? NoPlace : objectOf(From);
      if (P == NoPlace)
        return;
      BorrowFact &F = emit(E.Kind == MemoryKind::PointsInto
                               ? BorrowKind::TakeData
                               : BorrowKind::TakeShape,
                           C.E);
      F.Src = P;
      F.IsWeak = Pointer != NoPlace;
      F.Dst = Objects[C.E] = Pointer = temporary(C.E);
      if (C.E->isGLValue()) { // such as `mat.at<float>(0)`
        Objects.erase(C.E);
        Addresses[C.E] = Pointer;
      }
      break;
    }
    case MemoryKind::Allocates:
      Objects[C.E] = pointTo(Out.lender(LenderKind::Heap, NoPlace, C.E), C.E);
      return;
    case MemoryKind::LooksAtNone:
      if (C.E->isPRValue() && Types.mayBorrow(C.E->getType()))
        resultOf(MemoryKind::Makes, nullptr, C);
      return;
    case MemoryKind::Makes:
    case MemoryKind::Passes:
    case MemoryKind::PassesWhole:
    case MemoryKind::Restrides:
    case MemoryKind::MayPass:
    case MemoryKind::Orders:
    case MemoryKind::Reshapes:
      resultOf(E.Kind, From, C);
      return;
    default:
      break;
    }
  }
}

/// `contiguous()` of what a `transpose` gave.
static bool isOutOfOrder(const Expr *From, BorrowTypes &Types) {
  const auto *Made = dyn_cast<CallExpr>(stripForBorrow(From));
  const FunctionDecl *F = Made ? Made->getDirectCallee() : nullptr;
  const MemoryModel *M = F ? Types.memory(F) : nullptr;
  return M && llvm::any_of(*M, [](const MemoryEffect &E) {
           return E.Kind == MemoryKind::Restrides;
         });
}

void BorrowBuilder::resultOf(MemoryKind Kind, const Expr *From,
                             const Call &C) {
  if (!Types.mayBorrow(C.E->getType()))
    return;
  PlaceID P = From && !isThroughPointer(From) ? objectOf(From) : NoPlace;
  bool IsShared = Types.role(C.E->getType()) == MemoryRole::Shared;
  if (C.E->isGLValue() && Kind != MemoryKind::Makes) {
    if (P != NoPlace)
      Objects[C.E] = P;
    return;
  }
  bool IsReshape = Kind == MemoryKind::Reshapes;
  bool IsOrdering = Kind == MemoryKind::Orders || IsReshape;
  bool KeepsOrder = IsOrdering || Kind == MemoryKind::PassesWhole;
  if (IsOrdering) {
    useAll(C);
    bool IsCopy = isOutOfOrder(From, Types);
    Kind = IsCopy && !IsReshape ? MemoryKind::Makes : MemoryKind::MayPass;
    // Nobody expects that there is one of what lies in order.
    IsReshape &= !IsCopy;
  }
  if (!IsShared && Kind != MemoryKind::Makes) {
    // A view of a view, an iterator, a container of tensors.
    if (From) {
      PlaceID Temp = Objects[C.E] = temporary(C.E);
      if (Types.isArrayRef(From->getType()) &&
          !Types.mayKeepView(C.E->getType())) {
        emit(BorrowKind::Reset, C.E).Dst = Temp;
        add(Temp, C.E->getType(), From, C.E);
      } else {
        copy(Temp, valueOf(From), C.E);
      }
    }
    return;
  }
  BorrowKind Fact = Kind == MemoryKind::Makes     ? BorrowKind::Create
                    : Kind == MemoryKind::MayPass ? BorrowKind::MayView
                                                  : BorrowKind::View;
  if (Fact != BorrowKind::Create && P == NoPlace)
    return;
  PlaceID Temp = Objects[C.E] = temporary(C.E);
  LenderID Data = Out.lender(LenderKind::Data, NoPlace, C.E);
  Out.Lenders[Data].IsIfCopied = Fact == BorrowKind::MayView;
  Out.Lenders[Data].IsIfStrided = IsOrdering;
  LenderID Shape = Out.lender(LenderKind::Shape, NoPlace, C.E);
  Out.Lenders[Shape].IsIfCopied = Fact == BorrowKind::MayView;
  BorrowFact &F = emit(Fact, C.E);
  F.Src = P;
  F.Dst = Temp;
  F.Lender = Fact == BorrowKind::View || IsReshape ? NoLender : Data;
  F.Shape = Shape;
  F.KeepsOrder = KeepsOrder;
  F.IsIfStrided = IsOrdering;
  if (Kind != MemoryKind::MayPass || IsOrdering)
    return;
  if (std::optional<BlobElements> To = conversion(C)) {
    F.IsIfOther = F.KeepsOrder = true;
    F.Elements = *To;
  }
}

/// A deleter that gives the memory back, or keeps alive who owns it; one with
/// nothing in it does neither.
bool BorrowBuilder::isOwningDeleter(const Call &C) const {
  for (unsigned I = 1; I < C.Args.size(); ++I) {
    if (I >= C.Callee->getNumParams())
      continue;
    const CXXRecordDecl *Param = C.Callee->getParamDecl(I)
                                     ->getType()
                                     .getNonReferenceType()
                                     ->getAsCXXRecordDecl();
    if (!Param || qualifiedName(Param) != "std::function")
      continue;
    const Expr *Arg = stripForBorrow(C.Args[I]);
    while (const auto *Made = dyn_cast<CXXConstructExpr>(Arg)) {
      if (Made->getNumArgs() == 0)
        return false;
      Arg = stripForBorrow(Made->getArg(0));
    }
    if (Arg->isNullPointerConstant(const_cast<ASTContext &>(Unit.Ctx),
                                   Expr::NPC_ValueDependentIsNull))
      return false;
    const auto *Lambda = dyn_cast<LambdaExpr>(Arg);
    if (!Lambda)
      return true;
    const auto *Text = dyn_cast_or_null<CompoundStmt>(Lambda->getBody());
    return Lambda->capture_size() != 0 || !Text || !Text->body_empty();
  }
  return false;
}

/// What a type \p Choice names, as a number.
static std::optional<unsigned> numberOf(const DTypeChoice &Choice) {
  static const DTypeInfo *First = dtypeNamed("Byte");
  return Choice.Type ? std::optional<unsigned>(Choice.Type - First)
                     : std::nullopt;
}

/// What the options of a call that makes a tensor over memory say.
BlobElements BorrowBuilder::elementsIn(const Call &C) {
  BlobBuffers Buffers(Out.Function, *Body, Types, Unit.Ctx);
  BlobElements Elements;
  for (unsigned I = 0; I < C.Args.size() && I < C.Callee->getNumParams(); ++I) {
    if (!isTypeNamed(C.Callee->getParamDecl(I)->getType(), "TensorOptions"))
      continue;
    DTypeChoice Choice = DTypeReader(Buffers, Unit.Ctx).in(C.Args[I]);
    if (Choice.IsDefault && Unit.SetsDefaultType)
      Choice = {};
    Elements.Type = numberOf(Choice);
    Elements.IsOnHost = Elements.Type && !mayBeOnDevice(C.Args[I], Unit);
  }
  return Elements;
}

/// What `to(...)`, `toType(...)` and `cpu()` make of the elements; nothing
/// where that is not known.
std::optional<BlobElements> BorrowBuilder::conversion(const Call &C) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(C.Callee);
  llvm::StringRef Name = Method && Method->getDeclName().isIdentifier()
                             ? Method->getName()
                             : "";
  if (!C.Object || (Name != "to" && Name != "toType" && Name != "cpu"))
    return std::nullopt;
  BlobBuffers Buffers(Out.Function, *Body, Types, Unit.Ctx);
  DTypeReader Reader(Buffers, Unit.Ctx);
  BlobElements To;
  To.IsOnHost = Name == "cpu";
  for (unsigned I = 0; I < C.Args.size() && I < Method->getNumParams(); ++I) {
    const ParmVarDecl *Param = Method->getParamDecl(I);
    QualType T = Param->getType();
    if (isa<CXXDefaultArgExpr>(C.Args[I]) || Param->getName() == "non_blocking")
      continue;
    bool IsOptions = isTypeNamed(T, "TensorOptions");
    if (IsOptions || isTypeNamed(T, "ScalarType")) {
      DTypeChoice Choice = Reader.in(C.Args[I]);
      if (!Choice.Type)
        return std::nullopt;
      if (!Choice.IsDefault)
        To.Type = numberOf(Choice);
    } else if (!isTypeNamed(T, "Device")) {
      return std::nullopt; // a copy that was asked for, another layout
    }
    if (mayBeOnDevice(C.Args[I], Unit))
      return std::nullopt;
    To.IsOnHost |= IsOptions || isTypeNamed(T, "Device");
  }
  return To;
}

bool BorrowBuilder::hasStrides(const Call &C) const {
  return llvm::count_if(C.Callee->parameters(), [&](const ParmVarDecl *P) {
           return Types.isArrayRef(P->getType());
         }) > 1;
}

void BorrowBuilder::wrap(const Call &C, const Expr *Pointer) {
  PlaceID Temp = Objects[C.E] = temporary(C.E);
  bool IsOwning = isOwningDeleter(C);
  BorrowFact &F = emit(IsOwning ? BorrowKind::Create : BorrowKind::Wrap, C.E);
  F.Dst = Temp;
  F.Lender = Out.lender(LenderKind::Data, NoPlace, C.E);
  F.Shape = Out.lender(LenderKind::Shape, NoPlace, C.E);
  if (!IsOwning) {
    // The pointer first: it may be an array's.
    BorrowBlock &Block = Out.Blocks[Cur];
    BorrowFact Last = Block.Facts.back();
    Block.Facts.pop_back();
    Last.KeepsOrder = !hasStrides(C);
    Last.Elements = elementsIn(C);
    Last.Src = valueOf(Pointer);
    Block.Facts.push_back(Last);
  }
}

/// The result points into \p Into: an owner's elements, an object's bytes.
void BorrowBuilder::pointInto(const Call &C, const Expr *Into) {
  QualType T = Into->getType();
  PlaceID P = isThroughPointer(Into) ? NoPlace : objectOf(Into);
  if (Types.role(T) == MemoryRole::View || T->isPointerType()) {
    Objects[C.E] = valueOf(Into);
    return;
  }
  LenderID R = elementsOf(P, T);
  if (R == NoLender)
    return;
  if (C.E->isGLValue()) { // `vector[i]`
    Objects[C.E] = Out.Places.element(P, false);
    return;
  }
  PlaceID Pointer = Objects[C.E] = pointTo(R, C.E);
  // A position in a container of pointers leads to what they point to.
  if (Types.mayBorrow(T))
    copy(Pointer, P, C.E, /*IsWeak=*/true);
}

} // namespace tensorscope
