// SPDX-License-Identifier: Apache-2.0
#include "dataflow/StreamFlow.h"

#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

// --- States --------------------------------------------------------------

/// Whether work on \p A may run beside work on \p B: both are known, and are
/// not the same. That of the caller may be the default one.
static bool isOther(const StreamName &A, const StreamName &B) {
  auto IsKnown = [](const StreamName &N) {
    return N.Kind == StreamNameKind::Fresh ||
           N.Kind == StreamNameKind::Default || N.Kind == StreamNameKind::Entry;
  };
  if (!IsKnown(A) || !IsKnown(B) || A == B)
    return false;
  return A.Kind == StreamNameKind::Fresh || B.Kind == StreamNameKind::Fresh;
}

StreamName StreamFlow::resolve(const StreamState &S, StreamName N) const {
  switch (N.Kind) {
  case StreamNameKind::Current:
    return S.Current;
  case StreamNameKind::Previous:
    return S.Previous;
  case StreamNameKind::Variable: {
    auto It = S.Names.find(static_cast<const ValueDecl *>(N.Key));
    return It == S.Names.end() ? StreamName() : It->second;
  }
  default:
    return N;
  }
}

template <typename Map> static void keepEqual(Map &Into, const Map &Other) {
  for (auto It = Into.begin(); It != Into.end();) {
    auto Same = Other.find(It->first);
    bool IsSame = Same != Other.end() && Same->second == It->second;
    It = IsSame ? std::next(It) : Into.erase(It);
  }
}

/// Work that did not begin on one of two paths says nothing of the other.
static void mergeWork(std::map<StorageID, PendingWork> &Into,
                      const std::map<StorageID, PendingWork> &Other) {
  for (const auto &[Storage, Work] : Other) {
    auto [It, IsNew] = Into.try_emplace(Storage, Work);
    if (!IsNew)
      It->second.IsDone |= Work.IsDone || !(It->second.On == Work.On);
  }
}

StreamFlow::PathState StreamFlow::merge(const PathState &A,
                                        const PathState &B) {
  PathState M;
  Storages.store().beginChanges();
  M.Storages = Storages.store().merge(A.Storages, B.Storages);
  Storages.store().collectGarbage(M.Storages);
  M.Streams = A.Streams;
  const StreamState &Other = B.Streams;
  if (!(M.Streams.Current == Other.Current))
    M.Streams.Current = StreamName();
  if (!(M.Streams.Previous == Other.Previous))
    M.Streams.Previous = StreamName();
  keepEqual(M.Streams.Names, Other.Names);
  keepEqual(M.Streams.Guards, Other.Guards);
  keepEqual(M.Streams.Homes, Other.Homes);
  mergeWork(M.Streams.Reads, Other.Reads);
  mergeWork(M.Streams.Copies, Other.Copies);
  M.Streams.Recorded.insert(Other.Recorded.begin(), Other.Recorded.end());
  return M;
}

// --- What places hold ----------------------------------------------------

std::vector<StorageID> StreamFlow::storagesAt(const State &S, PlaceID P) {
  std::vector<StorageID> Found;
  if (P == NoPlace)
    return Found;
  if (Facts.Places[P].IsHandle) {
    for (const Held &H : Storages.store().valueAt(S, P).Storages)
      if (H.Storage != UnknownStorage)
        Found.push_back(H.Storage);
    return Found;
  }
  return Storages.store().reachable(S, P);
}

std::vector<StorageID> StreamFlow::pinnedAt(const State &S, PlaceID P,
                                            bool IsDeclared) {
  std::vector<StorageID> Found = storagesAt(S, P);
  if (IsDeclared)
    return Found;
  llvm::erase_if(Found, [&](StorageID Storage) {
    return !Facts.Storages.isCreated(Storage) ||
           !Pinned.count(Facts.Storages[Storage].Origin);
  });
  return Found;
}

/// A pointer, or what only points into a tensor, keeps none alive.
bool StreamFlow::owns(PlaceID P) const {
  const PlaceInfo &Info = Facts.Places[P];
  QualType T;
  if (Info.Kind == PlaceKind::Variable)
    T = static_cast<const ValueDecl *>(Info.Key)->getType();
  else if (Info.Kind == PlaceKind::Temporary)
    T = static_cast<const Expr *>(Info.Key)->getType();
  else
    return true;
  return Info.IsHandle || Types.carriesTensors(T);
}

/// How well a place tells the user which tensor it is.
static unsigned rankOf(const PlaceTable &Places, PlaceID P) {
  const PlaceInfo &Info = Places[P];
  if (Places[Places.root(P)].Kind == PlaceKind::Temporary ||
      Places[Places.root(P)].Kind == PlaceKind::Return)
    return 0;
  if (Info.Kind == PlaceKind::Variable)
    return Info.IsHandle ? 3 : 1;
  return Info.Kind == PlaceKind::Field ? 2 : 1;
}

PlaceID StreamFlow::holderOf(const State &S, StorageID Storage) const {
  PlaceID Found = NoPlace;
  for (auto It = S.Places.begin(), End = S.Places.end(); It != End; ++It) {
    bool Holds = llvm::any_of(It->second.Storages, [&](const Held &H) {
      return H.Storage == Storage;
    });
    if (Holds && owns(It->first) &&
        (Found == NoPlace ||
         rankOf(Facts.Places, It->first) > rankOf(Facts.Places, Found)))
      Found = It->first;
  }
  return Found;
}

// --- Facts ---------------------------------------------------------------

void StreamFlow::settle(std::map<StorageID, PendingWork> &Works,
                        std::optional<StreamName> On) {
  for (auto &[Storage, Work] : Works)
    if (!On || On->Kind == StreamNameKind::Unknown || !isOther(Work.On, *On))
      Work.IsDone = true;
}

/// \p Storage is made anew: what is known is of the last one.
void StreamFlow::renew(StreamState &S, StorageID Storage) {
  StorageID Last = Facts.Storages.earlier(Storage);
  auto Move = [&](auto &Map) {
    Map.erase(Last);
    if (auto It = Map.find(Storage); It != Map.end()) {
      Map[Last] = It->second;
      Map.erase(It);
    }
  };
  Move(S.Homes);
  Move(S.Reads);
  Move(S.Copies);
  std::set<std::pair<StorageID, StreamName>> Recorded;
  for (auto [Of, Stream] : S.Recorded)
    if (Of != Last)
      Recorded.insert({Of == Storage ? Last : Of, Stream});
  S.Recorded = std::move(Recorded);
}

void StreamFlow::launch(PathState &S, const Fact &F, const StreamEvent &E) {
  bool IsOnDevice = E.IsOnDevice;
  for (PlaceID P : E.Operands)
    for (StorageID Storage : storagesAt(S.Storages, P)) {
      auto Home = S.Streams.Homes.find(Storage);
      IsOnDevice |= E.FollowsOperands && (Home != S.Streams.Homes.end() ||
                                          !Facts.Storages.isCreated(Storage));
      if (Home == S.Streams.Homes.end() ||
          !isOther(Home->second, S.Streams.Current))
        continue;
      S.Streams.Reads[Storage] = {&F, S.Streams.Current,
                                  KeptByGraph.count(&F) != 0};
    }
  Spelled[&F] = S.Streams.Spelled;
  if (F.Dst == NoPlace)
    return;
  for (StorageID Storage : storagesAt(S.Storages, F.Dst)) {
    const auto &Made = Facts.Storages[Storage];
    if (!Facts.Storages.isCreated(Storage) || Made.Origin != F.At)
      continue;
    if (E.IsPinned)
      Pinned.insert(Made.Origin);
    if (IsOnDevice && Made.Kind == StorageKind::Created)
      S.Streams.Homes[Storage] = S.Streams.Current;
  }
  if (IsOnDevice)
    MadeOn[S.Streams.Current].insert(&F);
}

void StreamFlow::copy(PathState &S, const Fact &F, const StreamEvent &E) {
  for (PlaceID P : E.Operands) {
    std::vector<StorageID> From = pinnedAt(S.Storages, P, E.IsDeclaredPinned);
    Copied[&F].insert(From.begin(), From.end());
    for (StorageID Storage : From)
      S.Streams.Copies[Storage] = {&F, S.Streams.Current, From.size() > 1};
  }
}

void StreamFlow::record(PathState &S, const StreamEvent &E) {
  StreamName For = resolve(S.Streams, E.Stream);
  for (PlaceID P : E.Operands)
    for (StorageID Storage : storagesAt(S.Storages, P))
      S.Streams.Recorded.insert({Storage, For});
}

/// The thread's stream is waited for, and that on which the tensor was made.
void StreamFlow::waitForValue(PathState &S, const StreamEvent &E) {
  llvm::SmallVector<StreamName, 2> Streams{S.Streams.Current};
  for (PlaceID P : E.Operands)
    for (StorageID Storage : storagesAt(S.Storages, P))
      if (auto It = S.Streams.Homes.find(Storage); It != S.Streams.Homes.end())
        Streams.push_back(It->second);
  for (const StreamName &On : Streams) {
    settle(S.Streams.Reads, On);
    settle(S.Streams.Copies, On);
  }
}

void StreamFlow::apply(PathState &S, const Fact &F, const StreamEvent &E) {
  StreamState &Streams = S.Streams;
  switch (E.Kind) {
  case StreamKind::None:
    break;
  case StreamKind::Name:
    Streams.Names[F.Variable] = resolve(Streams, E.Stream);
    break;
  case StreamKind::Guard:
    Streams.Guards[F.Variable] = Streams.Current;
    Streams.Current = resolve(Streams, E.Stream);
    Streams.Spelled = E.Spelled;
    break;
  case StreamKind::GuardEnd:
    if (auto It = Streams.Guards.find(F.Variable); It != Streams.Guards.end()) {
      Streams.Current = It->second;
      Streams.Guards.erase(It);
    } else {
      Streams.Current = StreamName();
    }
    Streams.Spelled = nullptr;
    break;
  case StreamKind::Switch: {
    StreamName To = resolve(Streams, E.Stream);
    Streams.Previous = Streams.Current;
    Streams.Current = To;
    Streams.Spelled = E.Spelled;
    break;
  }
  case StreamKind::Launch:
    launch(S, F, E);
    break;
  case StreamKind::Copy:
    copy(S, F, E);
    break;
  case StreamKind::Write:
    if (IsReporting)
      checkWrite(S, F, E);
    break;
  case StreamKind::WaitForStream: {
    StreamName On = resolve(Streams, E.Stream);
    settle(Streams.Reads, On);
    settle(Streams.Copies, On);
    break;
  }
  case StreamKind::WaitForValue:
    waitForValue(S, E);
    break;
  case StreamKind::WaitForAll:
  case StreamKind::Doubt:
    settle(Streams.Reads, std::nullopt);
    settle(Streams.Copies, std::nullopt);
    break;
  case StreamKind::Order:
    settle(Streams.Reads, std::nullopt);
    break;
  case StreamKind::Record:
    record(S, E);
    break;
  }
}

bool StreamFlow::step(PathState &S, const Fact &F) {
  if (F.Kind == FactKind::Stream) {
    apply(S, F, Facts.Streams[F.Event]);
    return true;
  }
  bool MayDrop = IsReporting && !S.Streams.Reads.empty();
  std::optional<PathState> Before;
  if (F.Kind == FactKind::Create)
    renew(S.Streams, F.Storage);
  if (MayDrop)
    Before = S;
  if (!Storages.step(S.Storages, F))
    return false;
  if (Before)
    checkDrops(*Before, S, F, Reported);
  return true;
}

/// Autograd keeps what the graph of a work's result needs.
void StreamFlow::noteGraphs() {
  if (!Gradients)
    return;
  Gradients->forEachFact([&](const Fact &F, const GradientState &S) {
    if (F.Kind != FactKind::Stream ||
        Facts.Streams[F.Event].Kind != StreamKind::Launch)
      return;
    const StreamEvent &E = Facts.Streams[F.Event];
    auto HasGraph = [&](PlaceID P) {
      return P != NoPlace && GradientFlow::hasGraph(Gradients->reachable(S, P));
    };
    if (HasGraph(F.Dst) || llvm::any_of(E.Operands, HasGraph))
      KeptByGraph.insert(&F);
  });
}

bool StreamFlow::run() {
  if (Facts.IsIncomplete)
    return false;
  noteGraphs();
  In.begin(Facts.Blocks.size(), Facts.Entry,
           PathState{Storages.store().initial(), StreamState()});
  std::vector<unsigned> Order = reversePostOrder(Facts);
  std::set<std::pair<unsigned, BlockID>> Todo{
      {Order[Facts.Entry], Facts.Entry}};
  size_t Steps = 0;
  while (!Todo.empty()) {
    BlockID B = Todo.begin()->second;
    Todo.erase(Todo.begin());
    for (PathState &S : In.takeFresh(B)) {
      Steps += Facts.Blocks[B].Facts.size() + 1;
      if (Steps > StepLimit)
        return false;
      Storages.store().beginChanges();
      if (!llvm::all_of(Facts.Blocks[B].Facts,
                        [&](const Fact &F) { return step(S, F); }))
        continue;
      Storages.store().collectGarbage(S.Storages);
      for (BlockID To : Facts.Blocks[B].Successors)
        if (In.join(To, S,
                    [&](llvm::ArrayRef<PathState> Others, PathState Merged) {
                      for (const PathState &Other : Others)
                        Merged = merge(Other, Merged);
                      return Merged;
                    }))
          Todo.insert({Order[To], To});
    }
  }
  return true;
}

std::vector<StreamFinding> StreamFlow::findings() {
  std::vector<StreamFinding> Found;
  if (!run())
    return Found;
  IsReporting = true;
  for (BlockID B = 0; B < Facts.Blocks.size(); ++B)
    for (const Fact &F : Facts.Blocks[B].Facts)
      BlockOf[&F] = B;
  for (BlockID B = 0; B < Facts.Blocks.size(); ++B) {
    Reported = B;
    std::vector<PathState> States = In.at(B);
    for (const Fact &F : Facts.Blocks[B].Facts) {
      if (States.empty())
        break;
      Storages.store().beginChanges();
      llvm::erase_if(States, [&](PathState &S) { return !step(S, F); });
    }
  }
  for (auto &[Key, V] : Drops)
    if (V.IsPending && !V.IsSafe)
      Found.push_back(V.Finding);
  for (auto &[F, V] : Writes)
    if (V.IsPending && !V.IsSafe && V.Written.size() == 1 &&
        !isInTurn(*V.Work.By, *V.Written.begin()))
      Found.push_back(V.Finding);
  return Found;
}

} // namespace tensorscope
