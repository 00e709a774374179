// SPDX-License-Identifier: Apache-2.0
#include "dataflow/State.h"

#include "llvm/ADT/STLExtras.h"

namespace tensorscope {

/// Steps from a variable to what is told apart in it; linked structures have no
/// end. What lies deeper counts as held by the object around it, and is unknown
/// if it was there when the function began. With the size of values it keeps
/// the lattice finite.
static constexpr unsigned MaxPathLength = 8;
/// A place that may hold more storages than this is unknown.
static constexpr unsigned MaxValueSize = 24;

StateStore::StateStore(FunctionFacts &F) : F(F) {
  for (GuardID G = 0; G < F.GuardVariables.size(); ++G)
    for (const clang::ValueDecl *V : F.GuardVariables[G])
      GuardsReading[V].push_back(G);
}

State StateStore::initial() {
  State S;
  S.Places = PlaceFactory.getEmptyMap();
  S.Statuses = StatusFactory.getEmptyMap();
  S.Guards = GuardFactory.getEmptyMap();
  S.Noted = NotedFactory.getEmptySet();
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

void StateStore::noteDropped(const Value &V) {
  for (const Held &H : V.Storages)
    Changed.push_back(H.Storage);
}

void StateStore::set(State &S, PlaceID P, Value V) {
  if (const Value *Old = S.Places.lookup(P)) {
    if (*Old == V)
      return;
    noteDropped(*Old);
  }
  for (const Held &H : V.Storages)
    EverHeldIn[H.Storage].insert(P);
  S.Places = PlaceFactory.add(S.Places, P, V);
}

void StateStore::unset(State &S, PlaceID P) {
  const Value *Old = S.Places.lookup(P);
  if (!Old)
    return;
  noteDropped(*Old);
  S.Places = PlaceFactory.remove(S.Places, P);
}

void StateStore::setStatus(State &S, StorageID Storage,
                           const StorageStatus &Status) {
  const StorageStatus *Old = S.Statuses.lookup(Storage);
  if (Old && *Old == Status)
    return;
  if (!Old)
    Changed.push_back(Storage);
  S.GoneCount += Status.isGone() - (Old && Old->isGone());
  if (Status.Owner != NoScope)
    EverOwnedBy[Status.Owner].insert(Storage);
  S.Statuses = StatusFactory.add(S.Statuses, Storage, Status);
}

void StateStore::unsetStatus(State &S, StorageID Storage) {
  const StorageStatus *Old = S.Statuses.lookup(Storage);
  if (!Old)
    return;
  S.GoneCount -= Old->isGone();
  S.Statuses = StatusFactory.remove(S.Statuses, Storage);
}

std::vector<StorageID> StateStore::ownedBy(const State &S, ScopeID Scope) const {
  auto Ever = EverOwnedBy.find(Scope);
  if (Ever == EverOwnedBy.end())
    return {};
  std::vector<StorageID> Owned;
  llvm::copy_if(Ever->second, std::back_inserter(Owned), [&](StorageID ID) {
    return S.status(ID).Owner == Scope;
  });
  return Owned;
}

void StateStore::eraseSubtree(State &S, PlaceID P) {
  unset(S, P);
  for (PlaceID Child : F.Places.children(P))
    eraseSubtree(S, Child);
}

void StateStore::removeReleased(State &S, PlaceID P) {
  if (!S.isAnyGone())
    return;
  auto IsGone = [&](const Held &H) { return S.status(H.Storage).isGone(); };
  llvm::SmallVector<PlaceID, 8> Todo{P};
  while (!Todo.empty()) {
    PlaceID Part = Todo.pop_back_val();
    Todo.append(F.Places.children(Part).begin(), F.Places.children(Part).end());
    const Value *Found = S.Places.lookup(Part);
    if (!Found || llvm::none_of(Found->Storages, IsGone))
      continue;
    Value Left = *Found;
    llvm::erase_if(Left.Storages, IsGone);
    set(S, Part, std::move(Left));
  }
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
  auto Holders = EverHeldIn.find(Old);
  if (Holders == EverHeldIn.end())
    return;
  for (PlaceID P : llvm::SmallVector<PlaceID, 8>(Holders->second.begin(),
                                                 Holders->second.end())) {
    const Value *V = S.Places.lookup(P);
    if (!V)
      continue;
    auto Found = llvm::find_if(
        V->Storages, [&](const Held &H) { return H.Storage == Old; });
    if (Found == V->Storages.end())
      continue;
    Value Without = *V;
    Without.Storages.erase(Without.Storages.begin() +
                           (Found - V->Storages.begin()));
    set(S, P, unite(Without, Value::one(New, Found->Via)));
  }
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
  auto Reading = GuardsReading.find(V);
  if (Reading == GuardsReading.end())
    return;
  for (GuardID G : Reading->second)
    if (S.Guards.lookup(G))
      S.Guards = GuardFactory.remove(S.Guards, G);
}

void StateStore::note(State &S, const clang::ValueDecl *V) {
  if (!S.Noted.contains(V))
    S.Noted = NotedFactory.add(S.Noted, V);
}

bool StateStore::isHeld(const State &S, StorageID Storage) const {
  auto Holders = EverHeldIn.find(Storage);
  return Holders != EverHeldIn.end() &&
         llvm::any_of(Holders->second, [&](PlaceID P) {
           const Value *V = S.Places.lookup(P);
           return V && llvm::any_of(V->Storages, [&](const Held &H) {
                    return H.Storage == Storage;
                  });
         });
}

void StateStore::collectGarbage(State &S) {
  for (StorageID Storage : Changed)
    if (S.Statuses.lookup(Storage) &&
        F.Storages[Storage].Kind != StorageKind::Initial && !isHeld(S, Storage))
      unsetStatus(S, Storage);
  Changed.clear();
}

} // namespace tensorscope
