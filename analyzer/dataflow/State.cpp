// SPDX-License-Identifier: Apache-2.0
#include "dataflow/State.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace tensorscope {

/// Steps from a variable to what is told apart in it; linked structures have no
/// end. What lies deeper counts as held by the object around it, and is unknown
/// if it was there when the function began. With the size of values it keeps
/// the lattice finite.
static constexpr unsigned MaxPathLength = 8;
/// A place that may hold more storages than this is unknown.
static constexpr unsigned MaxValueSize = 24;

State StateStore::initial() {
  State S;
  S.Places = PlaceFactory.getEmptyMap();
  S.Statuses = StatusFactory.getEmptyMap();
  S.Guards = GuardFactory.getEmptyMap();
  return S;
}

bool StateStore::isSymbolic(PlaceID P) const {
  PlaceID Root = F.Places.root(P);
  const PlaceInfo &R = F.Places[Root];
  return R.IsOuter || R.Kind == PlaceKind::This ||
         llvm::is_contained(F.Params, Root);
}

Value StateStore::valueAt(const State &S, PlaceID P) {
  if (P == NoPlace)
    return Value::unknown();
  for (PlaceID Q = P; Q != NoPlace; Q = F.Places[Q].Base)
    if (const Value *Found = S.Places.lookup(Q))
      return *Found;
  if (!isSymbolic(P) || F.Places.length(P) > MaxPathLength)
    return Value::unknown();
  return Value::one(F.Storages.initial(P));
}

bool StateStore::isOwn(const State &S, PlaceID P) const {
  if (S.Places.lookup(P))
    return true;
  for (PlaceID Q = F.Places[P].Base; Q != NoPlace; Q = F.Places[Q].Base)
    if (S.Places.lookup(Q))
      return false;
  return true;
}

std::vector<StorageID> StateStore::reachable(const State &S, PlaceID P) {
  std::vector<StorageID> Result;
  for (const Held &H : valueAt(S, P).Storages)
    Result.push_back(H.Storage);
  llvm::SmallVector<PlaceID, 8> Todo(F.Places.children(P).begin(),
                                     F.Places.children(P).end());
  bool BaseIsInitial = isOwn(S, P) && !S.Places.lookup(P);
  while (!Todo.empty()) {
    PlaceID Child = Todo.pop_back_val();
    if (const Value *Found = S.Places.lookup(Child)) {
      for (const Held &H : Found->Storages)
        Result.push_back(H.Storage);
    } else if (BaseIsInitial && isOwn(S, Child) && isSymbolic(Child) &&
               F.Places.length(Child) <= MaxPathLength) {
      Result.push_back(F.Storages.initial(Child));
    }
    auto Grandchildren = F.Places.children(Child);
    Todo.append(Grandchildren.begin(), Grandchildren.end());
  }
  // What was taken out of it before shares its storages.
  for (StorageID R : std::vector<StorageID>(Result)) {
    if (F.Storages[R].Kind != StorageKind::Initial)
      continue;
    for (StorageID Sample : F.Storages.samples(F.Storages[R].Place))
      if (S.Statuses.lookup(Sample))
        Result.push_back(Sample);
  }
  llvm::sort(Result);
  Result.erase(std::unique(Result.begin(), Result.end()), Result.end());
  if (!Result.empty() && Result.front() == UnknownStorage)
    Result.erase(Result.begin());
  return Result;
}

void StateStore::set(State &S, PlaceID P, Value V) {
  S.Places = PlaceFactory.add(S.Places, P, V);
}

void StateStore::setStatus(State &S, StorageID Storage,
                           const StorageStatus &Status) {
  S.Statuses = StatusFactory.add(S.Statuses, Storage, Status);
}

void StateStore::eraseSubtree(State &S, PlaceID P) {
  S.Places = PlaceFactory.remove(S.Places, P);
  for (PlaceID Child : F.Places.children(P))
    eraseSubtree(S, Child);
}

void StateStore::removeReleased(State &S, PlaceID P) {
  auto IsGone = [&](const Held &H) {
    Life How = S.status(H.Storage).How;
    return How == Life::Released || How == Life::Ended;
  };
  llvm::SmallVector<std::pair<PlaceID, Value>, 4> Changed;
  for (auto It = S.Places.begin(), End = S.Places.end(); It != End; ++It)
    if (F.Places.isBelow(It->first, P) &&
        llvm::any_of(It->second.Storages, IsGone)) {
      Changed.push_back(*It);
      llvm::erase_if(Changed.back().second.Storages, IsGone);
    }
  for (auto &[Part, V] : Changed)
    set(S, Part, std::move(V));
}

Value StateStore::unite(const Value &A, const Value &B) const {
  Value Result;
  auto Less = [](const Held &X, const Held &Y) {
    return X.Storage < Y.Storage;
  };
  std::set_union(A.Storages.begin(), A.Storages.end(), B.Storages.begin(),
                 B.Storages.end(), std::back_inserter(Result.Storages), Less);
  return Result.Storages.size() > MaxValueSize ? Value::unknown() : Result;
}

bool StateStore::outlivesInnermostScope(const State &S, PlaceID P) const {
  if (S.Scopes.empty())
    return false;
  const PlaceInfo &Root = F.Places[F.Places.root(P)];
  return Root.IsOuter || Root.Depth < F.Scopes[S.Scopes.back()].Depth;
}

Value StateStore::withVia(Value V, const State &S, PlaceID Dst,
                          const Fact *Via) const {
  const Fact *Store = outlivesInnermostScope(S, Dst) ? Via : nullptr;
  for (Held &H : V.Storages)
    H.Via = Store;
  return V;
}

void StateStore::assign(State &S, const Fact &A) {
  Value New;
  std::vector<std::pair<PlaceID, Value>> Parts;
  bool IsSingle = A.Sources.size() == 1 && !A.IsWeak;
  for (PlaceID Source : A.Sources) {
    // A temporary without an entry was not evaluated on this path.
    if (A.Sources.size() > 1 && Source != NoPlace &&
        F.Places[Source].Kind == PlaceKind::Temporary &&
        !S.Places.lookup(Source))
      continue;
    New = unite(New, valueAt(S, Source));
    llvm::SmallVector<PlaceID, 8> Todo;
    if (Source != NoPlace)
      Todo.append(F.Places.children(Source).begin(),
                  F.Places.children(Source).end());
    while (!Todo.empty()) {
      PlaceID Part = Todo.pop_back_val();
      // An object that is stored in itself: its copy would grow in each loop.
      if (F.Places.isBelow(Part, A.Dst) && !F.Places.isBelow(Source, A.Dst))
        continue;
      if (const Value *Found = S.Places.lookup(Part)) {
        unsigned Length = F.Places.length(A.Dst) + F.Places.length(Part) -
                          F.Places.length(Source);
        if (IsSingle && Length <= MaxPathLength)
          Parts.emplace_back(F.Places.rebase(Part, Source, A.Dst), *Found);
        else
          New = unite(New, *Found);
      }
      auto Below = F.Places.children(Part);
      Todo.append(Below.begin(), Below.end());
    }
  }
  if (auto Sample = takeSample(S, A))
    New = *Sample;
  New = withVia(std::move(New), S, A.Dst, &A);
  if (A.IsWeak) {
    set(S, A.Dst, unite(valueAt(S, A.Dst), New));
    return;
  }
  eraseSubtree(S, A.Dst);
  set(S, A.Dst, New);
  for (auto &[Part, V] : Parts)
    set(S, Part, withVia(std::move(V), S, Part, &A));
}

void StateStore::forget(State &S, PlaceID P) {
  eraseSubtree(S, P);
  set(S, P, Value::unknown());
}

void StateStore::forgetSharers(State &S, const Fact &Write) {
  bool IsBound = F.Places[Write.Dst].IsShared && !Write.IsThrough;
  std::vector<PlaceID> Sharers = F.Places.sharersOf(Write.Dst, IsBound);
  if (Sharers.empty())
    return;
  // What is added to one may have been added to the other.
  bool IsAdded = Write.Kind == FactKind::Assign && Write.IsWeak;
  Value Added;
  for (PlaceID Source : Write.Sources)
    Added = unite(Added, valueAt(S, Source));
  for (PlaceID Sharer : Sharers) {
    if (F.Places.length(Sharer) > MaxPathLength)
      continue;
    if (IsAdded)
      set(S, Sharer,
          unite(valueAt(S, Sharer), withVia(Added, S, Sharer, &Write)));
    else
      forget(S, Sharer);
  }
}

void StateStore::replaceStorage(State &S, StorageID Old, StorageID New) {
  llvm::SmallVector<std::pair<PlaceID, Value>, 8> Changed;
  for (auto It = S.Places.begin(), End = S.Places.end(); It != End; ++It) {
    const Value &V = It->second;
    auto Found = llvm::find_if(
        V.Storages, [&](const Held &H) { return H.Storage == Old; });
    if (Found == V.Storages.end())
      continue;
    Value Without = V;
    Without.Storages.erase(Without.Storages.begin() +
                           (Found - V.Storages.begin()));
    Changed.emplace_back(It->first, unite(Without, Value::one(New, Found->Via)));
  }
  for (auto &[P, V] : Changed)
    set(S, P, V);
}

static StorageStatus mergeStatus(const StorageStatus &A,
                                 const StorageStatus &B) {
  StorageStatus M = A;
  M.MaybeKept |= B.MaybeKept;
  M.IsRetained |= B.IsRetained;
  M.IsScopeResult &= B.IsScopeResult;
  M.IsAskedFor |= B.IsAskedFor;
  if (A.How != B.How || A.Where != B.Where || A.Owner != B.Owner) {
    M.How = A.How == B.How && A.How != Life::Live ? A.How : Life::Unknown;
    M.Owner = NoScope;
  }
  return M;
}

/// What the same creation gave in an earlier iteration is another storage.
void StateStore::makeRecent(State &S, StorageID Storage) {
  const StorageStatus *Old = S.Statuses.lookup(Storage);
  if (!Old)
    return;
  StorageID Earlier = F.Storages.earlier(Storage);
  const StorageStatus *Older = S.Statuses.lookup(Earlier);
  StorageStatus Both = Older ? mergeStatus(*Old, *Older) : *Old;
  replaceStorage(S, Storage, Earlier);
  setStatus(S, Earlier, Both);
}

/// An element that is read in a loop, or out of what the caller gave, is one of
/// many: it gets a storage of its own, which fares as those do.
std::optional<Value> StateStore::takeSample(State &S, const Fact &A) {
  PlaceID From = A.Sources.size() == 1 ? A.Sources[0] : NoPlace;
  if (From == NoPlace || A.IsWeak ||
      !F.Places[A.Dst].IsHandle || !F.Places.isElementPath(From))
    return std::nullopt;
  Value V = valueAt(S, From);
  if (V.Storages.empty() || V.isUnknown() ||
      (A.Loop == NoLoop &&
       F.Storages[V.Storages[0].Storage].Kind != StorageKind::Initial))
    return std::nullopt;
  StorageStatus Status = S.status(V.Storages[0].Storage);
  for (const Held &H : V.Storages)
    Status = mergeStatus(Status, S.status(H.Storage));
  StorageID Sample = F.Storages.sample(From, A.At);
  makeRecent(S, Sample);
  setStatus(S, Sample, Status);
  return Value::one(Sample);
}

void StateStore::create(State &S, const Fact &C) {
  makeRecent(S, C.Storage);
  StorageStatus Status;
  Status.IsScopeResult = C.Value;
  // The result of a callee's scope has left all scopes.
  if (!C.Value && !S.Scopes.empty() && !S.ScopesUnknown)
    Status.Owner = S.Scopes.back();
  setStatus(S, C.Storage, Status);
  eraseSubtree(S, C.Dst);
  set(S, C.Dst, Value::one(C.Storage));
}

void StateStore::setGuard(State &S, GuardID G, bool Value) {
  S.Guards = GuardFactory.add(S.Guards, G, Value);
}

void StateStore::dropGuards(State &S, const clang::ValueDecl *V) {
  llvm::SmallVector<GuardID, 4> Dropped;
  for (auto It = S.Guards.begin(), End = S.Guards.end(); It != End; ++It)
    if (llvm::is_contained(F.GuardVariables[It->first], V))
      Dropped.push_back(It->first);
  for (GuardID G : Dropped)
    S.Guards = GuardFactory.remove(S.Guards, G);
}

void StateStore::collectGarbage(State &S) {
  llvm::DenseSet<StorageID> Used;
  for (auto It = S.Places.begin(), End = S.Places.end(); It != End; ++It)
    for (const Held &H : It->second.Storages)
      Used.insert(H.Storage);
  llvm::SmallVector<StorageID, 8> Dead;
  for (auto It = S.Statuses.begin(), End = S.Statuses.end(); It != End; ++It)
    if (F.Storages[It->first].Kind != StorageKind::Initial &&
        !Used.contains(It->first))
      Dead.push_back(It->first);
  for (StorageID D : Dead)
    S.Statuses = StatusFactory.remove(S.Statuses, D);
}

State StateStore::merge(const State &A, const State &B) {
  State M = A;
  for (auto It = A.Places.begin(), End = A.Places.end(); It != End; ++It) {
    PlaceID P = It->first;
    if (B.Places.lookup(P) || isSymbolic(P) || !isOwn(B, P))
      set(M, P, unite(It->second, valueAt(B, P)));
    else
      M.Places = PlaceFactory.remove(M.Places, P);
  }
  for (auto It = B.Places.begin(), End = B.Places.end(); It != End; ++It)
    if (!A.Places.lookup(It->first) &&
        (isSymbolic(It->first) || !isOwn(A, It->first)))
      set(M, It->first, unite(It->second, valueAt(A, It->first)));
  for (auto It = B.Statuses.begin(), End = B.Statuses.end(); It != End; ++It) {
    // A storage that only one side has made is only held on that side.
    bool IsNew = !A.Statuses.lookup(It->first) &&
                 F.Storages.isCreated(It->first);
    setStatus(M, It->first,
              IsNew ? It->second
                    : mergeStatus(A.status(It->first), It->second));
  }
  for (auto It = A.Statuses.begin(), End = A.Statuses.end(); It != End; ++It)
    if (!B.Statuses.lookup(It->first) && !F.Storages.isCreated(It->first))
      setStatus(M, It->first, mergeStatus(It->second, StorageStatus()));
  for (auto It = A.Guards.begin(), End = A.Guards.end(); It != End; ++It) {
    const unsigned *Other = B.Guards.lookup(It->first);
    if (!Other || *Other != It->second)
      M.Guards = GuardFactory.remove(M.Guards, It->first);
  }
  M.Noted.clear();
  std::set_union(A.Noted.begin(), A.Noted.end(), B.Noted.begin(),
                 B.Noted.end(), std::back_inserter(M.Noted));
  M.StoppedOuter |= B.StoppedOuter;
  if (A.Scopes != B.Scopes || B.ScopesUnknown) {
    M.ScopesUnknown = true;
    size_t Common = 0;
    while (Common < A.Scopes.size() && Common < B.Scopes.size() &&
           A.Scopes[Common] == B.Scopes[Common])
      ++Common;
    M.Scopes.truncate(Common);
  }
  return M;
}

} // namespace tensorscope
