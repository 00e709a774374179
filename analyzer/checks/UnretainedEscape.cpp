// SPDX-License-Identifier: Apache-2.0
//
// Finds tensors stored where they outlive the scope that releases them.
// User page: docs/checks/unretained-escape.md
#include "checks/Check.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

/// A store whose tensors are alive in an outer place when their scope ends.
struct Escape {
  PlaceID Place = NoPlace;
  StorageID Storage = UnknownStorage;
  unsigned Count = 0;
};
using Escapes = llvm::MapVector<const Fact *, Escape>;

class EscapeQuery {
public:
  explicit EscapeQuery(CheckInput &Input)
      : Input(Input), Facts(Input.Flow.facts()) {}

  void collect(const State &S, const Fact &End, Escapes &Out) {
    std::vector<StorageID> Result;
    if (End.Src != NoPlace)
      Result = Input.Flow.store().reachable(S, End.Src);
    Escapes Here;
    for (auto It = S.Places.begin(), E = S.Places.end(); It != E; ++It)
      if (outlives(It->first, End.Scope))
        collectPlace(S, End, Result, It->first, It->second, Here);
    for (auto &[Store, Found] : Here) {
      Escape &Total = Out[Store];
      Found.Count = Total.Count + 1;
      Total = Found;
    }
  }

private:
  bool outlives(PlaceID P, ScopeID Scope) const {
    if (Facts.Places.isAdopted(P))
      return false;
    const PlaceInfo &Root = Facts.Places[Facts.Places.root(P)];
    return Root.IsOuter || Root.Depth < Facts.Scopes[Scope].Depth;
  }

  bool escapes(const State &S, const Fact &End,
               llvm::ArrayRef<StorageID> Result, StorageID Storage) {
    StorageStatus Status = S.status(Storage);
    if (Status.Owner != End.Scope || Status.How != Life::Live ||
        llvm::is_contained(Result, Storage))
      return false;
    if (Status.MaybeKept || Facts.Storages[Storage].IsAssumed) {
      ++Input.SilencedByUnknown;
      return false;
    }
    return true;
  }

  /// All that one store brought must be owned by the scope: a value that may
  /// be older is not certain to be released.
  void collectPlace(const State &S, const Fact &End,
                    llvm::ArrayRef<StorageID> Result, PlaceID P,
                    const Value &V, Escapes &Here) {
    llvm::SmallDenseMap<const Fact *, bool> IsCertain;
    for (const Held &H : V.Storages) {
      bool Escapes = H.Storage != UnknownStorage && H.Via &&
                     escapes(S, End, Result, H.Storage);
      auto [It, IsNew] = IsCertain.try_emplace(H.Via, Escapes);
      It->second &= Escapes;
    }
    for (const Held &H : V.Storages)
      if (IsCertain[H.Via])
        Here.insert({H.Via, Escape{P, H.Storage, 0}});
  }

  CheckInput &Input;
  const FunctionFacts &Facts;
};

} // namespace

std::vector<FlowFinding> findUnretainedEscapes(CheckInput &Input) {
  std::vector<FlowFinding> Findings;
  FunctionFacts &Facts = Input.Flow.facts();
  EscapeQuery Query(Input);
  Input.Flow.forEachFact([&](const Fact &End, llvm::ArrayRef<State> Before) {
    if (End.Kind != FactKind::ScopeEnd || End.Scope == NoScope ||
        Facts.Scopes[End.Scope].Form == ScopeForm::Session)
      return;
    Escapes Found;
    for (const State &S : Before)
      Query.collect(S, End, Found);
    for (const auto &[Store, Where] : Found) {
      FlowFinding F;
      F.Loc = locationOf(Store->At);
      F.Holder = Facts.Places.name(Where.Place, Input.Ctx);
      F.IsMaybe = Where.Count < Before.size();
      addCreation(F, Facts, Where.Storage);
      F.Steps.push_back(
          {FlowStepKind::ScopeEnded, Facts.Scopes[End.Scope].EndLoc, ""});
      Findings.push_back(std::move(F));
    }
  });
  return Findings;
}

Diagnostic describeUnretainedEscape(const FlowFinding &F) {
  return makeDiagnostic(
      F, "tensor made in this scope is stored in '" + F.Holder +
             "', which outlives the scope: it is released when the scope "
             "ends; 'retain' it or return it from the scope");
}

} // namespace tensorscope
