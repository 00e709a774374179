// SPDX-License-Identifier: Apache-2.0
//
// What a function does to the raw pointers of its callers, from its dataflow.
#include "dataflow/OwnershipFlow.h"
#include "dataflow/Summary.h"

using namespace clang;

namespace tensorscope {
namespace {

using Fate = OwnershipSummary::Fate;

class Summarizer {
public:
  explicit Summarizer(OwnershipFlow &Flow) : Flow(Flow), Facts(Flow.facts()) {}

  OwnershipSummary build() {
    Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<OwnershipState> Before) {
      if (F.Kind == FactKind::Acquire)
        IsMemory[F.Storage] = F.Value;
      else if (F.Kind == FactKind::ReturnOwner)
        noteReturn(F, Before);
      else if (F.Kind == FactKind::StoreOwner)
        noteStore(F, Before);
      else if (F.Kind == FactKind::Leave)
        noteEnd(Before);
    });
    OwnershipSummary Out;
    for (PlaceID Param : Facts.Params) {
      auto It = Ends.find(Param);
      bool IsKnown =
          IsReached && It != Ends.end() && !Facts.Unfollowed.count(Param);
      Out.Params.push_back(!IsKnown                    ? Fate::Unknown
                           : It->second == unsigned(1) ? Fate::Lent
                           : It->second == unsigned(2) ? Fate::GivenBack
                                                       : Fate::Unknown);
      Out.SetsOwner.push_back(Stores.count(Param) && Stores[Param] &&
                              !Facts.Unfollowed.count(Param));
    }
    Out.ReturnsOwner = ReturnsOwner && !ReturnsOther;
    Out.ReturnsMemory = ReturnsMemory;
    return Out;
  }

private:
  /// What is owed, and not yet in other hands.
  bool isOwner(const OwnershipState &S, PlaceID P) {
    return P != NoPlace && S.thing(S.pointee(P)).Is == Duty::Owed;
  }

  void noteReturn(const Fact &F, llvm::ArrayRef<OwnershipState> Before) {
    if (F.Value)
      return; // null
    for (const OwnershipState &S : Before) {
      if (F.Src != NoPlace && S.pointee(F.Src) == NullPointee)
        continue;
      bool IsOwner = isOwner(S, F.Src);
      ReturnsOwner |= IsOwner;
      ReturnsOther |= !IsOwner;
      if (IsOwner)
        ReturnsMemory |= IsMemory[S.pointee(F.Src)];
    }
  }

  void noteStore(const Fact &F, llvm::ArrayRef<OwnershipState> Before) {
    for (const OwnershipState &S : Before) {
      bool IsOwner = F.Value || isOwner(S, F.Src);
      // Null, or another pointer.
      if (!IsOwner && F.Src == NoPlace)
        continue;
      auto [It, IsNew] = Stores.try_emplace(F.Dst, IsOwner);
      It->second &= IsOwner;
    }
  }

  /// Bit 0: lent at some end; bit 1: given back; bit 2: not known.
  void noteEnd(llvm::ArrayRef<OwnershipState> Before) {
    IsReached = true;
    for (const OwnershipState &S : Before)
      for (PlaceID Param : Facts.Params) {
        StorageID Given = initialOf(Param);
        auto It = S.Things.find(Given);
        if (Given == UnknownStorage || It == S.Things.end())
          continue; // null there
        Ends[Param] |= It->second.Is == Duty::Lent   ? 1
                       : It->second.Is == Duty::Done ? 2
                                                     : 4;
      }
  }

  StorageID initialOf(PlaceID Param) const {
    for (StorageID S = 1; S < Facts.Storages.size(); ++S)
      if (Facts.Storages[S].Kind == StorageKind::Initial &&
          Facts.Storages[S].Place == Param)
        return S;
    return UnknownStorage;
  }

  OwnershipFlow &Flow;
  const FunctionFacts &Facts;
  std::map<StorageID, bool> IsMemory;
  std::map<PlaceID, unsigned> Ends;
  std::map<PlaceID, bool> Stores;
  bool IsReached = false;
  bool ReturnsOwner = false;
  bool ReturnsOther = false;
  bool ReturnsMemory = false;
};

} // namespace

OwnershipSummary summarizeOwnership(OwnershipFlow &Flow) {
  return Summarizer(Flow).build();
}

} // namespace tensorscope
