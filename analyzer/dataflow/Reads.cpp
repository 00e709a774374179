// SPDX-License-Identifier: Apache-2.0
#include "dataflow/Reads.h"

#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace tensorscope {

Reads::Reads(const FunctionFacts &Facts) : Facts(Facts) {
  for (BlockID B = 0; B < Facts.Blocks.size(); ++B)
    for (unsigned I = 0; I < Facts.Blocks[B].Facts.size(); ++I) {
      const Fact &F = Facts.Blocks[B].Facts[I];
      Positions[&F] = {B, I};
      if (F.Kind == FactKind::Read &&
          (F.Value || isa_and_nonnull<LambdaExpr>(F.At)))
        Captured.insert(F.Src);
    }
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
      if (All[I].Kind == FactKind::Read && All[I].Src == Root)
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

std::pair<const std::vector<Fact> *, unsigned>
Reads::position(const Fact &F) const {
  auto [Block, Index] = Positions.lookup(&F);
  return {&Facts.Blocks[Block].Facts, Index};
}

} // namespace tensorscope
