// SPDX-License-Identifier: Apache-2.0
#include "dataflow/BorrowFlow.h"

#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

void BorrowValue::add(const Loan &L) {
  auto Where = llvm::lower_bound(Loans, L);
  if (Where == Loans.end() || !(*Where == L))
    Loans.insert(Where, L);
}

void BorrowValue::hold(LenderID R) {
  auto Where = llvm::lower_bound(Holds, R);
  if (R != NoLender && (Where == Holds.end() || *Where != R))
    Holds.insert(Where, R);
}

void BorrowValue::join(const BorrowValue &Other) {
  for (const Loan &L : Other.Loans)
    add(L);
  for (LenderID R : Other.Holds)
    hold(R);
  IsUnknown |= Other.IsUnknown;
  if (!Stored)
    Stored = Other.Stored;
}

bool BorrowFlow::run() {
  if (Facts.IsIncomplete)
    return false;
  In.begin(Facts.Blocks.size(), Facts.Entry, BorrowState());
  // Clang numbers the blocks of a body backwards.
  BlockQueue Todo{Facts.Entry};
  unsigned Steps = 0;
  while (!Todo.empty()) {
    unsigned B = *Todo.begin();
    Todo.erase(Todo.begin());
    for (BorrowState &S : In.takeFresh(B)) {
      Steps += Facts.Blocks[B].Facts.size() + 1;
      if (Steps > StepLimit)
        return false;
      for (const BorrowFact &F : Facts.Blocks[B].Facts)
        apply(S, F);
      for (unsigned To : Facts.Blocks[B].Successors)
        if (join(To, S))
          Todo.insert(To);
    }
  }
  return true;
}

BorrowState BorrowFlow::merge(const BorrowState &A, const BorrowState &B) {
  // What one of them has not set is what it was before.
  std::set<PlaceID> Places;
  for (const BorrowState *Side : {&A, &B})
    for (const auto &Entry : Side->Values)
      Places.insert(Entry.first);
  BorrowState Joined;
  for (PlaceID P : Places) {
    BorrowValue V = valueAt(A, P);
    V.join(valueAt(B, P));
    Joined.Values[P] = std::move(V);
  }
  Joined.Kept = A.Kept;
  Joined.Kept.insert(B.Kept.begin(), B.Kept.end());
  Joined.Happened = A.Happened;
  Joined.Happened.insert(B.Happened.begin(), B.Happened.end());
  return Joined;
}

bool BorrowFlow::join(unsigned Block, const BorrowState &S) {
  return In.join(Block, S,
                 [&](llvm::ArrayRef<BorrowState> Others, BorrowState Merged) {
                   for (const BorrowState &Other : Others)
                     Merged = merge(Merged, Other);
                   return Merged;
                 });
}

void BorrowFlow::forEachFact(
    llvm::function_ref<void(unsigned, const BorrowFact &,
                            llvm::ArrayRef<BorrowState>)>
        Visit) {
  for (unsigned B = 0; B < Facts.Blocks.size(); ++B) {
    std::vector<BorrowState> States = In.at(B);
    if (States.empty())
      continue;
    for (const BorrowFact &F : Facts.Blocks[B].Facts) {
      Visit(B, F, States);
      for (BorrowState &S : States)
        apply(S, F);
    }
  }
}

// --- Values ---------------------------------------------------------------

bool BorrowFlow::isInterface(PlaceID P) const {
  PlaceID Root = Facts.Places.root(P);
  const PlaceInfo &Info = Facts.Places[Root];
  return Info.IsOuter || Info.Kind == PlaceKind::This ||
         llvm::is_contained(Facts.Params, Root);
}

BorrowValue BorrowFlow::initialValue(PlaceID P) {
  BorrowValue V;
  const PlaceInfo &Info = Facts.Places[P];
  if (Info.Kind != PlaceKind::Variable && Info.Kind != PlaceKind::Field) {
    V.IsUnknown = true;
    return V;
  }
  QualType T = static_cast<const ValueDecl *>(Info.Key)->getType();
  MemoryRole Role = Types.role(T);
  T = T.getNonReferenceType();
  if (Role == MemoryRole::Shared) {
    V.hold(Facts.lender(LenderKind::InitialData, P, nullptr));
    V.hold(Facts.lender(LenderKind::InitialShape, P, nullptr));
  } else if (T->isPointerType() || Role == MemoryRole::View) {
    Loan L;
    L.Lender = Facts.lender(LenderKind::Initial, P, nullptr);
    V.add(L);
  } else {
    V.IsUnknown = true;
  }
  return V;
}

BorrowValue BorrowFlow::valueAt(const BorrowState &S, PlaceID P) {
  if (P == NoPlace) {
    BorrowValue V;
    V.IsUnknown = true;
    return V;
  }
  for (PlaceID Q = P; Q != NoPlace; Q = Facts.Places[Q].Base)
    if (auto It = S.Values.find(Q); It != S.Values.end())
      return It->second;
  return isInterface(P) ? initialValue(P) : BorrowValue();
}

BorrowValue BorrowFlow::deepValueAt(const BorrowState &S, PlaceID P) {
  BorrowValue V = valueAt(S, P);
  for (const auto &[Q, Part] : S.Values)
    if (Q != P && Facts.Places.isBelow(Q, P)) {
      // A class with parts that are known says nothing more itself.
      if (!S.Values.count(P))
        V.IsUnknown = false;
      V.join(Part);
    }
  return V;
}

std::vector<LenderID> BorrowFlow::eraseBelow(BorrowState &S, PlaceID P) {
  std::vector<LenderID> Lost;
  for (auto It = S.Values.begin(); It != S.Values.end();) {
    if (!Facts.Places.isBelow(It->first, P)) {
      ++It;
      continue;
    }
    Lost.insert(Lost.end(), It->second.Holds.begin(), It->second.Holds.end());
    It = S.Values.erase(It);
  }
  return Lost;
}

void BorrowFlow::set(BorrowState &S, PlaceID P, BorrowValue V,
                     const BorrowFact &F, bool IsWeak) {
  bool IsElement = Facts.Places.isElementPath(P);
  while (Facts.Places.isElementPath(P))
    P = Facts.Places[P].Base;
  V.Stored = &F;
  if (IsElement) {
    // Which of the elements it was is not known: the others may be as before.
    BorrowValue Others = valueAt(S, P);
    for (Loan L : Others.Loans) {
      L.IsUnsure = true;
      V.add(L);
    }
    Others.Loans.clear();
    V.join(Others);
    S.Values[P] = std::move(V);
    return;
  }
  if (IsWeak) {
    // A position in a container is none of its elements.
    llvm::erase_if(V.Loans, [&](const Loan &L) {
      const Lender &Info = Facts.Lenders[L.Lender];
      return Info.Kind == LenderKind::Content && Info.Place == P;
    });
    BorrowValue Old = valueAt(S, P);
    bool AddsNone = llvm::all_of(V.Loans, [&](const Loan &L) {
      return llvm::is_contained(Old.Loans, L);
    });
    if (AddsNone && Old.Stored)
      V.Stored = Old.Stored;
    V.join(Old);
    S.Values[P] = std::move(V);
    return;
  }
  std::vector<LenderID> Lost = eraseBelow(S, P);
  S.Values[P] = std::move(V);
  letGo(S, Lost, F);
}

/// Ends the tensors of \p Holds that nobody holds any more.
void BorrowFlow::letGo(BorrowState &S, llvm::ArrayRef<LenderID> Holds,
                       const BorrowFact &F) {
  std::set<LenderID> Gone;
  for (LenderID R : Holds)
    if (isCounted(Facts.Lenders[R].Kind) && !S.Kept.count(R) &&
        llvm::none_of(S.Values, [&](const auto &Entry) {
          return llvm::is_contained(Entry.second.Holds, R);
        }))
      Gone.insert(R);
  if (!Gone.empty())
    end(S, F, [&](LenderID R) { return Gone.count(R) != 0; });
}

void BorrowFlow::end(BorrowState &S, const BorrowFact &F,
                     llvm::function_ref<bool(LenderID)> Ends) {
  for (auto &[P, V] : S.Values) {
    bool Changed = false;
    for (Loan &L : V.Loans)
      if (!L.Ended && L.Lender != NoLender && Ends(L.Lender)) {
        L.Ended = &F;
        Changed = true;
      }
    if (Changed) {
      llvm::sort(V.Loans);
      S.Happened.insert(&F);
    }
  }
}

void BorrowFlow::drop(BorrowState &S,
                      llvm::function_ref<bool(LenderID)> IsDropped) {
  for (auto &[P, V] : S.Values)
    if (llvm::any_of(V.Loans, [&](const Loan &L) {
          return !L.Ended && IsDropped(L.Lender);
        })) {
      llvm::erase_if(V.Loans, [&](const Loan &L) {
        return !L.Ended && IsDropped(L.Lender);
      });
      V.IsUnknown = true;
    }
}

} // namespace tensorscope
