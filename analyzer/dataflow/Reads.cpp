// SPDX-License-Identifier: Apache-2.0
#include "dataflow/Reads.h"

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

/// Facts that are followed to see whether a path is one that can be taken.
static constexpr unsigned MaxSteps = 4000;

Reads::Reads(const FunctionFacts &Facts) : Facts(Facts) {
  for (BlockID B = 0; B < Facts.Blocks.size(); ++B)
    for (unsigned I = 0; I < Facts.Blocks[B].Facts.size(); ++I) {
      const Fact &F = Facts.Blocks[B].Facts[I];
      Positions[&F] = {B, I};
      if (isRead(F) &&
          (F.Value || isa_and_nonnull<LambdaExpr>(F.At)))
        Captured.insert(F.Src);
    }
}

/// A lambda that runs where it is made, and nowhere else, reads what its body
/// reads.
bool Reads::isRead(const Fact &F) const {
  return F.Kind == FactKind::Read && !Facts.RunInPlace.count(F.At);
}

bool Reads::isOwnVariable(PlaceID Root) const {
  const PlaceInfo &P = Facts.Places[Root];
  return P.Kind == PlaceKind::Variable && !P.IsOuter &&
         !Captured.contains(Root);
}

static bool overwrites(const Fact &F, PlaceID Root) {
  return F.Dst == Root && ((F.Kind == FactKind::Assign && !F.IsWeak) ||
                           F.Kind == FactKind::Null ||
                           F.Kind == FactKind::Kill);
}

bool Reads::isReadAfter(const Fact &F, PlaceID Root) const {
  auto [Start, Index] = Positions.lookup(&F);
  llvm::DenseSet<BlockID> Seen;
  llvm::SmallVector<std::pair<BlockID, unsigned>, 8> Todo{{Start, Index + 1}};
  while (!Todo.empty()) {
    auto [Block, From] = Todo.pop_back_val();
    bool IsOverwritten = false;
    const std::vector<Fact> &All = Facts.Blocks[Block].Facts;
    for (unsigned I = From; I < All.size() && !IsOverwritten; ++I) {
      if (isRead(All[I]) && All[I].Src == Root)
        return true;
      IsOverwritten = overwrites(All[I], Root);
    }
    if (!IsOverwritten)
      for (BlockID Next : Facts.Blocks[Block].Successors)
        if (Seen.insert(Next).second)
          Todo.push_back({Next, 0});
  }
  return false;
}

bool Reads::isReadAfter(const Fact &F, PlaceID Root, const State &Before,
                        StorageFlow &Flow) const {
  if (!isReadAfter(F, Root))
    return false;
  struct Point {
    BlockID Block;
    unsigned From;
    State S;
  };
  auto [Start, Index] = Positions.lookup(&F);
  std::vector<Point> Todo{{Start, Index, Before}};
  llvm::DenseMap<BlockID, std::vector<State>> Seen;
  unsigned Steps = 0;
  while (!Todo.empty()) {
    Point P = std::move(Todo.back());
    Todo.pop_back();
    const std::vector<Fact> &All = Facts.Blocks[P.Block].Facts;
    bool GoesOn = true;
    for (unsigned I = P.From; I < All.size() && GoesOn; ++I) {
      bool IsRead = isRead(All[I]) && All[I].Src == Root && &All[I] != &F;
      if (IsRead || ++Steps > MaxSteps)
        return true;
      GoesOn = !overwrites(All[I], Root) && Flow.step(P.S, All[I]);
    }
    if (!GoesOn)
      continue;
    for (BlockID Next : Facts.Blocks[P.Block].Successors)
      if (std::vector<State> &Known = Seen[Next];
          !llvm::is_contained(Known, P.S)) {
        Known.push_back(P.S);
        Todo.push_back({Next, 0, P.S});
      }
  }
  return false;
}

std::pair<const std::vector<Fact> *, unsigned>
Reads::position(const Fact &F) const {
  auto [Block, Index] = Positions.lookup(&F);
  return {&Facts.Blocks[Block].Facts, Index};
}

} // namespace tensorscope
