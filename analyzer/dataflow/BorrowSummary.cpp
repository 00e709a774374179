// SPDX-License-Identifier: Apache-2.0
#include "dataflow/BorrowAnalysis.h"

#include "dataflow/BorrowFlow.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

class BorrowSummaryBuilder {
public:
  explicit BorrowSummaryBuilder(BorrowFlow &Flow)
      : Flow(Flow), F(Flow.facts()) {}

  BorrowSummary build();

private:
  std::optional<Path> pathOf(PlaceID P) const;
  void noteFact(const BorrowFact &Fact, llvm::ArrayRef<BorrowState> Before);
  void noteExit(const BorrowState &S);
  void addStore(PlaceID To, const BorrowValue &V);
  void addPath(std::vector<Path> &Paths, std::set<PlaceID> &Seen, PlaceID P);

  BorrowFlow &Flow;
  BorrowFacts &F;
  BorrowSummary Result;
  std::vector<BorrowState> Exits;
  std::map<PlaceID, BorrowValue> Kept;
  std::map<PlaceID, std::set<const BorrowFact *>> Frees;
  std::set<PlaceID> Used, Freed, Reallocated, Resized, Dropped, Held;
};

std::optional<Path> BorrowSummaryBuilder::pathOf(PlaceID P) const {
  Path Out;
  for (; F.Places[P].Base != NoPlace; P = F.Places[P].Base) {
    const PlaceInfo &Step = F.Places[P];
    const auto *Field = Step.Kind == PlaceKind::Field
                            ? static_cast<const FieldDecl *>(Step.Key)
                            : nullptr;
    Out.Steps.insert(Out.Steps.begin(),
                     {Step.Kind, Field, Step.Number, Step.IsHandle});
  }
  auto Param = llvm::find(F.Params, P);
  if (P == F.Return)
    Out.Root = PathRoot::Result;
  else if (P == F.This)
    Out.Root = PathRoot::This;
  else if (Param != F.Params.end())
    Out.Param = Param - F.Params.begin();
  else if (F.Places[P].Kind == PlaceKind::Variable && F.Places[P].IsOuter) {
    Out.Root = PathRoot::Global;
    Out.Global = static_cast<const ValueDecl *>(F.Places[P].Key);
  } else {
    return std::nullopt;
  }
  return Out;
}

void BorrowSummaryBuilder::addPath(std::vector<Path> &Paths,
                                   std::set<PlaceID> &Seen, PlaceID P) {
  if (P == NoPlace || !Flow.isInterface(P) || !Seen.insert(P).second)
    return;
  if (auto Out = pathOf(P))
    Paths.push_back(*Out);
}

void BorrowSummaryBuilder::noteFact(const BorrowFact &Fact,
                                    llvm::ArrayRef<BorrowState> Before) {
  switch (Fact.Kind) {
  case BorrowKind::Use:
    for (const BorrowState &S : Before) {
      BorrowValue V = Flow.deepValueAt(S, Fact.Src);
      for (const Loan &L : V.Loans)
        if (!L.Ended && F.Lenders[L.Lender].Kind == LenderKind::Initial)
          addPath(Result.Used, Used, F.Lenders[L.Lender].Place);
      for (LenderID R : V.Holds)
        if (F.Lenders[R].Kind == LenderKind::InitialData)
          addPath(Result.Used, Used, F.Lenders[R].Place);
    }
    return;
  case BorrowKind::Free:
    for (const BorrowState &S : Before) {
      BorrowValue V = Flow.valueAt(S, Fact.Src);
      for (const Loan &L : V.Loans)
        if (!L.Ended && F.Lenders[L.Lender].Kind == LenderKind::Initial)
          Frees[F.Lenders[L.Lender].Place].insert(&Fact);
    }
    return;
  case BorrowKind::Realloc:
    addPath(Result.Reallocated, Reallocated, Fact.Src);
    return;
  case BorrowKind::Resize:
    addPath(Result.Resized, Resized, Fact.Src);
    return;
  case BorrowKind::Drop:
    addPath(Result.Dropped, Dropped, Fact.Src);
    return;
  case BorrowKind::Keep:
    for (const BorrowState &S : Before)
      for (LenderID R : Flow.deepValueAt(S, Fact.Src).Holds)
        if (F.Lenders[R].Kind == LenderKind::InitialData)
          addPath(Result.Kept, Held, F.Lenders[R].Place);
    return;
  case BorrowKind::Leave:
    for (const BorrowState &S : Before)
      noteExit(S);
    Exits.assign(Before.begin(), Before.end());
    return;
  default:
    return;
  }
}

void BorrowSummaryBuilder::noteExit(const BorrowState &S) {
  for (const auto &[P, V] : S.Values) {
    bool IsResult = F.Places.root(P) == F.Return;
    // A parameter by value is the callee's own.
    const PlaceInfo &Root = F.Places[F.Places.root(P)];
    if (IsResult || Root.IsOuter || Root.Kind == PlaceKind::This)
      Kept[P].join(V);
  }
}

void BorrowSummaryBuilder::addStore(PlaceID To, const BorrowValue &V) {
  BorrowSummary::Store Store;
  auto P = pathOf(To);
  if (!P)
    return;
  Store.To = *P;
  Store.IsUnknown = V.IsUnknown;
  bool HasOwn = false;
  auto Add = [&](LenderID R, bool IsBlob, bool IsHeld) {
    const Lender &Info = F.Lenders[R];
    BorrowSummary::Part Part;
    Part.Kind = Info.Kind;
    Part.IsBlob = IsBlob;
    Part.IsHeld = IsHeld;
    if (isCounted(Info.Kind)) {
      HasOwn |= IsHeld && Info.Kind == LenderKind::Data;
      return;
    }
    if (Info.Kind == LenderKind::Heap) {
      Store.Parts.push_back(Part);
      return;
    }
    auto From = Info.Place == NoPlace || Info.IsLocal
                    ? std::nullopt
                    : pathOf(Info.Place);
    if (From) {
      Part.From = *From;
      Store.Parts.push_back(Part);
    } else if (!Info.IsLocal) {
      Store.IsUnknown = true;
    }
  };
  for (const Loan &L : V.Loans) {
    Store.IsUnknown |= L.IsUnsure;
    if (!L.Ended)
      Add(L.Lender, L.IsBlob, /*IsHeld=*/false);
  }
  for (LenderID R : V.Holds)
    Add(R, /*IsBlob=*/false, /*IsHeld=*/true);
  Store.IsNew = HasOwn;
  Result.Stores.push_back(std::move(Store));
}

BorrowSummary BorrowSummaryBuilder::build() {
  Flow.forEachFact([&](unsigned, const BorrowFact &Fact,
                       llvm::ArrayRef<BorrowState> Before) {
    noteFact(Fact, Before);
  });
  for (const auto &[P, V] : Kept)
    addStore(P, V);
  // Freed on each path, or who knows.
  for (const auto &[P, Facts] : Frees) {
    bool IsFreed = llvm::all_of(Exits, [&, &Facts = Facts](const auto &S) {
      return llvm::any_of(Facts, [&](const BorrowFact *Free) {
        return S.Happened.count(Free) != 0;
      });
    });
    addPath(IsFreed ? Result.Freed : Result.Dropped, Freed, P);
  }
  if (F.Returned != NoPlace)
    Result.Reference = pathOf(F.Returned);
  return std::move(Result);
}

} // namespace

BorrowSummary buildBorrowSummary(BorrowFlow &Flow) {
  return BorrowSummaryBuilder(Flow).build();
}

} // namespace tensorscope
