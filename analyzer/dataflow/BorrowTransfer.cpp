// SPDX-License-Identifier: Apache-2.0
//
// What each borrow fact does to a state.
#include "dataflow/BorrowFlow.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

static bool isData(LenderKind K) {
  return K == LenderKind::Data || K == LenderKind::InitialData;
}

static bool isShape(LenderKind K) {
  return K == LenderKind::Shape || K == LenderKind::InitialShape;
}

void BorrowFlow::apply(BorrowState &S, const BorrowFact &F) {
  switch (F.Kind) {
  case BorrowKind::Copy:
    copy(S, F);
    return;
  case BorrowKind::Point: {
    // What an earlier iteration allocated is something else.
    if (Facts.Lenders[F.Lender].Kind == LenderKind::Heap)
      drop(S, [&](LenderID R) { return R == F.Lender; });
    BorrowValue V;
    Loan L;
    L.Lender = F.Lender;
    L.Taken = &F;
    V.add(L);
    set(S, F.Dst, std::move(V), F, F.IsWeak);
    return;
  }
  case BorrowKind::Create:
    create(S, F);
    return;
  case BorrowKind::View:
  case BorrowKind::MayView:
    set(S, F.Dst, viewOf(S, F), F, F.IsWeak);
    return;
  case BorrowKind::Wrap:
  case BorrowKind::Enclose:
    S.Happened.insert(&F);
    set(S, F.Dst, wrapOf(S, F), F, F.IsWeak);
    return;
  case BorrowKind::TakeData:
  case BorrowKind::TakeShape:
    S.Happened.insert(&F);
    set(S, F.Dst, takeFrom(S, F, F.Kind == BorrowKind::TakeShape), F,
        F.IsWeak);
    return;
  case BorrowKind::Forget: {
    BorrowValue V;
    V.IsUnknown = true;
    for (LenderID R : deepValueAt(S, F.Dst).Holds)
      S.Kept.insert(R);
    set(S, F.Dst, std::move(V), F, F.IsWeak);
    return;
  }
  case BorrowKind::Reset:
    set(S, F.Dst, BorrowValue(), F, F.IsWeak);
    return;
  case BorrowKind::Kill:
    kill(S, F);
    return;
  case BorrowKind::Realloc:
    end(S, F, [&](LenderID R) {
      return Facts.Lenders[R].Kind == LenderKind::Content &&
             Facts.Lenders[R].Place == F.Src;
    });
    return;
  case BorrowKind::Resize: {
    BorrowValue V = valueAt(S, F.Src);
    end(S, F, [&](LenderID R) {
      return isData(Facts.Lenders[R].Kind) && llvm::is_contained(V.Holds, R);
    });
    return;
  }
  case BorrowKind::Free:
    free(S, F);
    return;
  case BorrowKind::Drop: {
    BorrowValue V = deepValueAt(S, F.Src);
    drop(S, [&](LenderID R) {
      const Lender &Info = Facts.Lenders[R];
      if (Info.Kind == LenderKind::Content)
        return Facts.Places.isBelow(Info.Place, F.Src);
      return Info.Kind == LenderKind::Heap &&
             llvm::any_of(V.Loans,
                          [&](const Loan &L) { return L.Lender == R; });
    });
    return;
  }
  case BorrowKind::Keep:
    for (LenderID R : deepValueAt(S, F.Src).Holds)
      S.Kept.insert(R);
    return;
  case BorrowKind::Use:
  case BorrowKind::Return:
  case BorrowKind::Leave:
    return; // for the queries
  }
}

void BorrowFlow::copy(BorrowState &S, const BorrowFact &F) {
  bool IsWhole = F.Sources.size() == 1 && !F.IsWeak && F.Sources[0] != NoPlace;
  if (!IsWhole) {
    BorrowValue V;
    for (PlaceID Source : F.Sources)
      V.join(Source == NoPlace ? valueAt(S, NoPlace) : deepValueAt(S, Source));
    // But for what the tensors are over that it leads to.
    if (F.KeepsNoView)
      llvm::erase_if(V.Loans, [](const Loan &L) { return !L.IsBlob; });
    set(S, F.Dst, std::move(V), F, F.IsWeak);
    return;
  }
  PlaceID Src = F.Sources[0];
  std::vector<std::pair<PlaceID, BorrowValue>> Parts;
  for (const auto &[P, V] : S.Values)
    if (P != Src && Facts.Places.isBelow(P, Src))
      Parts.push_back({Facts.Places.rebase(P, Src, F.Dst), V});
  BorrowValue Whole = valueAt(S, Src);
  bool IsInElement = Facts.Places.isElementPath(F.Dst);
  set(S, F.Dst, std::move(Whole), F, false);
  for (auto &[P, V] : Parts)
    set(S, P, std::move(V), F, IsInElement);
}

void BorrowFlow::create(BorrowState &S, const BorrowFact &F) {
  // An earlier iteration's is another one, which is not followed.
  for (LenderID Again : {F.Lender, F.Shape}) {
    if (llvm::any_of(S.Values, [&](const auto &Entry) {
          return llvm::is_contained(Entry.second.Holds, Again) &&
                 !Facts.Places.isBelow(Entry.first, F.Dst);
        }))
      S.Kept.insert(Again);
    else
      S.Kept.erase(Again);
  }
  BorrowValue V;
  V.hold(F.Lender);
  V.hold(F.Shape);
  set(S, F.Dst, std::move(V), F, F.IsWeak);
  drop(S, [&](LenderID R) { return R == F.Lender || R == F.Shape; });
}

/// No copy is made of what \p L leads to.
static bool staysPut(const BorrowFact &F, const Loan &L) {
  bool IsSame = (!F.Elements.Type || F.Elements.Type == L.Elements.Type) &&
                (!F.Elements.IsOnHost || L.Elements.IsOnHost);
  return (F.IsIfStrided && L.IsOrdered) || (F.IsIfOther && IsSame);
}

BorrowValue BorrowFlow::viewOf(const BorrowState &S, const BorrowFact &F) {
  BorrowValue From = deepValueAt(S, F.Src);
  BorrowValue V;
  V.IsUnknown = From.IsUnknown;
  for (LenderID R : From.Holds)
    if (!isShape(Facts.Lenders[R].Kind) || F.Kind == BorrowKind::MayView)
      V.hold(R);
  for (Loan L : From.Loans) {
    L.IsUnsure |= F.Kind == BorrowKind::MayView && !staysPut(F, L);
    L.IsOrdered &= F.KeepsOrder;
    V.add(L);
  }
  V.hold(F.Lender);
  V.hold(F.Shape);
  return V;
}

BorrowValue BorrowFlow::wrapOf(const BorrowState &S, const BorrowFact &F) {
  BorrowValue V =
      F.Src == NoPlace ? valueAt(S, NoPlace) : deepValueAt(S, F.Src);
  BorrowValue Result;
  Result.IsUnknown = V.IsUnknown;
  for (Loan L : V.Loans) {
    L.Taken = &F;
    L.IsBlob |= F.Kind == BorrowKind::Wrap;
    L.IsRef |= F.Kind == BorrowKind::Enclose;
    L.IsOrdered = F.KeepsOrder;
    L.Elements = F.Elements;
    Result.add(L);
  }
  if (F.Kind == BorrowKind::Wrap)
    Result.hold(F.Shape);
  return Result;
}

BorrowValue BorrowFlow::takeFrom(const BorrowState &S, const BorrowFact &F,
                                 bool IsShape) {
  BorrowValue From = deepValueAt(S, F.Src);
  BorrowValue V;
  V.IsUnknown = From.IsUnknown;
  for (LenderID R : From.Holds)
    if (IsShape ? isShape(Facts.Lenders[R].Kind)
                : isData(Facts.Lenders[R].Kind)) {
      Loan L;
      L.Lender = R;
      L.Taken = &F;
      V.add(L);
    }
  if (!IsShape)
    for (const Loan &L : From.Loans)
      V.add(L);
  return V;
}

void BorrowFlow::kill(BorrowState &S, const BorrowFact &F) {
  end(S, F, [&](LenderID R) {
    const Lender &Info = Facts.Lenders[R];
    return (Info.Kind == LenderKind::Own || Info.Kind == LenderKind::Content) &&
           Facts.Places.isBelow(Info.Place, F.Src);
  });
  letGo(S, eraseBelow(S, F.Src), F);
}

void BorrowFlow::free(BorrowState &S, const BorrowFact &F) {
  BorrowValue V = valueAt(S, F.Src);
  if (!S.Values.count(F.Src) && isInterface(F.Src))
    S.Values[F.Src] = V;
  auto IsFreed = [&](LenderID R) {
    LenderKind Kind = Facts.Lenders[R].Kind;
    return (Kind == LenderKind::Heap || Kind == LenderKind::Initial) &&
           llvm::any_of(V.Loans,
                        [&](const Loan &L) { return L.Lender == R; });
  };
  if (V.Loans.size() == 1 && !V.IsUnknown)
    end(S, F, IsFreed);
  else
    drop(S, IsFreed);
}

} // namespace tensorscope
