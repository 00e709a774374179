// SPDX-License-Identifier: Apache-2.0
//
// Where a tensor is dropped, or pinned memory is written, too early.
#include "dataflow/StreamFlow.h"

#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

static constexpr BlockID NoBlock = ~0U;

void StreamFlow::name(StreamFinding &Found, PlaceID P) const {
  if (P == NoPlace)
    return;
  PlaceKind Root = Facts.Places[Facts.Places.root(P)].Kind;
  if (Root == PlaceKind::Temporary || Root == PlaceKind::Return)
    return;
  Found.Name = Facts.Places.name(P, Facts.Function->getASTContext());
  if (Facts.Places[P].Kind == PlaceKind::Variable)
    Found.Variable = static_cast<const ValueDecl *>(Facts.Places[P].Key);
}

static bool isKept(const std::set<std::pair<StorageID, StreamName>> &Recorded,
                   StorageID Storage, const StreamName &On) {
  return llvm::any_of(Recorded, [&](const auto &Entry) {
    return Entry.first == Storage &&
           (Entry.second == On || Entry.second.Kind == StreamNameKind::Unknown);
  });
}

/// What \p F takes the last handle of.
void StreamFlow::checkDrops(const PathState &Before, const PathState &After,
                            const Fact &F, BlockID Block) {
  for (const auto &[Storage, Work] : Before.Streams.Reads) {
    PlaceID Holder = holderOf(Before.Storages, Storage);
    bool IsFreed = F.Kind == FactKind::Release &&
                   After.Storages.status(Storage).How == Life::Released &&
                   Before.Storages.status(Storage).How == Life::Live;
    if (Holder == NoPlace ||
        (!IsFreed && holderOf(After.Storages, Storage) != NoPlace))
      continue;
    StorageStatus Status = Before.Storages.status(Storage);
    auto Home = Before.Streams.Homes.find(Storage);
    Verdict &V = Drops[{&F, Storage}];
    bool IsSafe = Work.IsDone || Status.MaybeKept || Status.How != Life::Live ||
                  Home == Before.Streams.Homes.end() ||
                  isKept(Before.Streams.Recorded, Storage, Work.On);
    (IsSafe ? V.IsSafe : V.IsPending) = true;
    if (IsSafe)
      continue;
    V.Work = Work;
    StreamFinding &Found = V.Finding;
    Found.Kind = StreamHazard::Dropped;
    Found.At = &F;
    Found.Work = Work.By;
    Found.Origin = Facts.Storages[Storage].Origin;
    Found.IsOnEntry = Work.On.Kind == StreamNameKind::Entry;
    auto Named = Spelled.find(Work.By);
    Found.Stream = Named == Spelled.end() ? nullptr : Named->second;
    name(Found, Holder);
    V.IsSafe |= !isReusedLater(Home->second, F, Block);
  }
}

/// The next tensor of the stream \p Home may be given the memory: on the stream
/// of the caller one always comes, on another one if this function makes it.
bool StreamFlow::isReusedLater(const StreamName &Home, const Fact &Drop,
                               BlockID Block) {
  if (Home.Kind != StreamNameKind::Fresh)
    return true;
  return llvm::any_of(MadeOn[Home], [&](const Fact *Made) {
    BlockID At = BlockOf.at(Made);
    return (At == Block && Made > &Drop) || reaches(Block, At, NoBlock);
  });
}

void StreamFlow::checkWrite(const PathState &S, const Fact &F,
                            const StreamEvent &E) {
  std::vector<StorageID> To = pinnedAt(S.Storages, F.Dst, E.IsDeclaredPinned);
  if (To.empty())
    return;
  Verdict &V = Writes[&F];
  V.Written.insert(To.begin(), To.end());
  auto It = S.Streams.Copies.find(To.front());
  if (It == S.Streams.Copies.end())
    return;
  if (It->second.IsDone) {
    V.IsSafe = true;
    return;
  }
  V.IsPending = true;
  V.Work = It->second;
  StreamFinding &Found = V.Finding;
  Found.Kind = StreamHazard::Written;
  Found.At = &F;
  Found.Work = It->second.By;
  Found.Origin = Facts.Storages[To.front()].Origin;
  PlaceID Holder = holderOf(S.Storages, To.front());
  bool IsNamed = E.IsDeclaredPinned || Holder == NoPlace ||
                 (Facts.Places[F.Dst].Kind == PlaceKind::Variable &&
                  Facts.Places[F.Dst].IsHandle);
  name(Found, IsNamed ? F.Dst : Holder);
}

/// Some path leads from the end of \p From to \p To, and not by \p Avoided.
bool StreamFlow::reaches(BlockID From, BlockID To, BlockID Avoided) const {
  std::set<BlockID> Seen{Avoided};
  std::vector<BlockID> Todo(Facts.Blocks[From].Successors.begin(),
                            Facts.Blocks[From].Successors.end());
  while (!Todo.empty()) {
    BlockID B = Todo.back();
    Todo.pop_back();
    if (!Seen.insert(B).second)
      continue;
    if (B == To)
      return true;
    Todo.insert(Todo.end(), Facts.Blocks[B].Successors.begin(),
                Facts.Blocks[B].Successors.end());
  }
  return false;
}

/// In a loop around \p Copy another buffer may be copied again and again while
/// \p Copy does not begin: the buffers take turns, and whose turn comes is not
/// known.
bool StreamFlow::isInTurn(const Fact &Copy, StorageID Storage) {
  BlockID Own = BlockOf.at(&Copy);
  return llvm::any_of(Copied, [&](const auto &Entry) {
    BlockID Other = BlockOf.at(Entry.first);
    return Other != Own && !Entry.second.count(Storage) &&
           reaches(Own, Other, NoBlock) && reaches(Other, Other, Own);
  });
}

} // namespace tensorscope
