// SPDX-License-Identifier: Apache-2.0
//
// What is known at one point on one group of paths: which storages each place
// holds, how each storage fares, which guards are set, which scopes are open.
// A point has a few such states at most (see StorageFlow.h); merging them
// loses the link between their parts.
#ifndef TENSORSCOPE_DATAFLOW_STATE_H
#define TENSORSCOPE_DATAFLOW_STATE_H

#include "dataflow/Facts.h"
#include "llvm/ADT/ImmutableMap.h"
#include "llvm/ADT/ImmutableSet.h"
#include "llvm/ADT/SetVector.h"

namespace tensorscope {

enum class Life : uint8_t {
  Live,
  Released, ///< by the fact Where
  Ended,    ///< with the scope or session that the fact Where ends
  Unknown,  ///< different on paths that met, or in unknown hands
};

struct StorageStatus {
  Life How = Life::Live;
  const Fact *Where = nullptr;
  ScopeID Owner = NoScope;
  /// An unknown function may have retained it or keep it.
  bool MaybeKept = false;
  bool IsRetained = false;
  /// It left a scope as its result.
  bool IsScopeResult = false;
  /// A branch asked about something that was set after the release: it may
  /// know of it.
  bool IsAskedFor = false;

  bool isGone() const { return How == Life::Released || How == Life::Ended; }

  friend bool operator==(const StorageStatus &A, const StorageStatus &B) {
    return A.How == B.How && A.Where == B.Where && A.Owner == B.Owner &&
           A.MaybeKept == B.MaybeKept && A.IsRetained == B.IsRetained &&
           A.IsScopeResult == B.IsScopeResult && A.IsAskedFor == B.IsAskedFor;
  }
  void Profile(llvm::FoldingSetNodeID &ID) const {
    ID.AddInteger(unsigned(How) | MaybeKept << 4 | IsRetained << 5 |
                  IsScopeResult << 6 | IsAskedFor << 7);
    ID.AddPointer(Where);
    ID.AddInteger(Owner);
  }
};

/// What is known of a storage that fared as \p A says on one path and as \p B
/// says on another.
StorageStatus mergeStatus(const StorageStatus &A, const StorageStatus &B);

/// A storage in a place, and the store that put it where it outlives a scope.
struct Held {
  StorageID Storage = UnknownStorage;
  const Fact *Via = nullptr;

  friend bool operator==(const Held &A, const Held &B) {
    return A.Storage == B.Storage && A.Via == B.Via;
  }
};

/// "One of these" in a handle, "all of these" in a carrier. Sorted by storage.
struct Value {
  std::vector<Held> Storages;

  friend bool operator==(const Value &A, const Value &B) {
    return A.Storages == B.Storages;
  }
  void Profile(llvm::FoldingSetNodeID &ID) const {
    for (const Held &H : Storages) {
      ID.AddInteger(H.Storage);
      ID.AddPointer(H.Via);
    }
  }
  bool isUnknown() const {
    return !Storages.empty() && Storages.front().Storage == UnknownStorage;
  }
  static Value unknown() { return {{Held{}}}; }
  static Value one(StorageID S, const Fact *Via = nullptr) {
    return {{Held{S, Via}}};
  }
};

using PlaceMap = llvm::ImmutableMap<PlaceID, Value>;
using StatusMap = llvm::ImmutableMap<StorageID, StorageStatus>;
using GuardMap = llvm::ImmutableMap<GuardID, unsigned>;
using VariableSet = llvm::ImmutableSet<const clang::ValueDecl *>;

struct State {
  PlaceMap Places{nullptr};
  StatusMap Statuses{nullptr};
  GuardMap Guards{nullptr};
  llvm::SmallVector<ScopeID, 4> Scopes;
  /// What was set while something was released (null: a member).
  VariableSet Noted{nullptr};
  /// Paths with different scopes open met here.
  bool ScopesUnknown = false;
  /// A session of the caller's was stopped, or it was not: bit 1, bit 0.
  unsigned char StoppedOuter = 1;
  /// How many statuses say Released or Ended.
  unsigned GoneCount = 0;

  /// Nothing was changed in either since one was copied from the other.
  bool isCopyOf(const State &Other) const {
    return Places.getRootWithoutRetain() ==
               Other.Places.getRootWithoutRetain() &&
           Statuses.getRootWithoutRetain() ==
               Other.Statuses.getRootWithoutRetain() &&
           Guards.getRootWithoutRetain() ==
               Other.Guards.getRootWithoutRetain() &&
           Noted.getRootWithoutRetain() == Other.Noted.getRootWithoutRetain() &&
           Scopes == Other.Scopes && ScopesUnknown == Other.ScopesUnknown &&
           StoppedOuter == Other.StoppedOuter;
  }
  friend bool operator==(const State &A, const State &B) {
    return A.ScopesUnknown == B.ScopesUnknown && A.Scopes == B.Scopes &&
           A.StoppedOuter == B.StoppedOuter && A.Noted == B.Noted &&
           A.Places == B.Places && A.Statuses == B.Statuses &&
           A.Guards == B.Guards;
  }
  StorageStatus status(StorageID S) const {
    const StorageStatus *Found = Statuses.lookup(S);
    return Found ? *Found : StorageStatus();
  }
  bool isAnyGone() const { return GoneCount != 0; }
  bool isInScope() const { return ScopesUnknown || !Scopes.empty(); }
};

/// Reads and writes states of one function. What any of its states ever held is
/// indexed, so that a change costs what it changes and not the whole state.
class StateStore {
public:
  explicit StateStore(FunctionFacts &F);

  State initial();

  /// What \p P holds: its own entry, else that of the carrier around it, else
  /// what it held when the function began.
  Value valueAt(const State &S, PlaceID P);
  /// True when \p P has an entry, or none of its carriers has.
  bool isOwn(const State &S, PlaceID P) const;
  /// All that is reachable from \p P, in order of storages, without Unknown.
  std::vector<StorageID> reachable(const State &S, PlaceID P);

  void set(State &S, PlaceID P, Value V);
  void setStatus(State &S, StorageID Storage, const StorageStatus &Status);
  /// All storages that \p Scope owns in \p S.
  std::vector<StorageID> ownedBy(const State &S, ScopeID Scope) const;
  void eraseSubtree(State &S, PlaceID P);
  /// Something leaves the container \p P: what was released before, if anything
  /// was.
  void removeReleased(State &S, PlaceID P);
  void assign(State &S, const Fact &A);
  void forget(State &S, PlaceID P);
  /// What other places may be the one that \p Write wrote to is not known.
  void forgetSharers(State &S, const Fact &Write);
  void create(State &S, const Fact &C);
  void setGuard(State &S, GuardID G, bool Value);
  void dropGuards(State &S, const clang::ValueDecl *V);
  void note(State &S, const clang::ValueDecl *V);
  /// The changes from here on are what the next collection looks at.
  void beginChanges() { Changed.clear(); }
  /// Forgets storages of this function that nothing holds any more since
  /// changes began.
  void collectGarbage(State &S);
  State merge(const State &A, const State &B);

  /// True when what \p P held at the start is visible to the caller or given
  /// by it.
  bool isSymbolic(PlaceID P) const;

private:
  Value unite(const Value &A, const Value &B) const;
  Value withVia(Value V, const State &S, PlaceID Dst, const Fact *Via) const;
  void unset(State &S, PlaceID P);
  void noteDropped(const Value &V);
  void unsetStatus(State &S, StorageID Storage);
  bool isHeld(const State &S, StorageID Storage) const;
  void mergePlaces(State &M, const State &A, const State &B);
  void mergeStatuses(State &M, const State &A, const State &B);
  void replaceStorage(State &S, StorageID Old, StorageID New);
  void makeRecent(State &S, StorageID Storage);
  std::optional<Value> takeSample(State &S, const Fact &A);
  bool outlivesInnermostScope(const State &S, PlaceID P) const;

  FunctionFacts &F;
  /// Of any state: the places that held a storage, the storages that a scope
  /// owned, the guards that read a variable.
  llvm::DenseMap<StorageID, llvm::SmallSetVector<PlaceID, 4>> EverHeldIn;
  llvm::DenseMap<ScopeID, llvm::SetVector<StorageID>> EverOwnedBy;
  llvm::DenseMap<const clang::ValueDecl *, llvm::SmallVector<GuardID, 4>>
      GuardsReading;
  /// Storages that came, or left a place, since changes began.
  llvm::SmallVector<StorageID, 16> Changed;
  PlaceMap::Factory PlaceFactory{false};
  StatusMap::Factory StatusFactory{false};
  GuardMap::Factory GuardFactory{false};
  VariableSet::Factory NotedFactory{false};
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_STATE_H
