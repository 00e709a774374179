// SPDX-License-Identifier: Apache-2.0
#include "dataflow/Repetition.h"

namespace tensorscope {

Repetition::Repetition(const FunctionFacts &Facts)
    : Facts(Facts), Predecessors(Facts.Blocks.size()) {
  for (BlockID B = 0; B < Facts.Blocks.size(); ++B) {
    for (BlockID To : Facts.Blocks[B].Successors)
      Predecessors[To].push_back(B);
    for (const Fact &F : Facts.Blocks[B].Facts) {
      BlockOf[&F] = B;
      if (F.Kind == FactKind::LoopBack)
        Ends[F.Loop].push_back(B);
    }
  }
}

bool Repetition::goesOn(LoopID Loop, const Fact &F) {
  auto [It, IsNew] = Leading.try_emplace(Loop);
  if (IsNew)
    It->second = leadingTo(Loop);
  return It->second.contains(BlockOf.lookup(&F));
}

/// The blocks that lead to the end of an iteration without that of an outer
/// loop in between.
llvm::DenseSet<BlockID> Repetition::leadingTo(LoopID Loop) {
  llvm::DenseSet<BlockID> Outside;
  for (LoopID L = Facts.Loops[Loop].Outer; L != NoLoop;
       L = Facts.Loops[L].Outer)
    for (BlockID End : Ends[L])
      Outside.insert(End);
  llvm::SmallVector<BlockID, 16> Todo = Ends[Loop];
  llvm::DenseSet<BlockID> Found;
  while (!Todo.empty()) {
    BlockID B = Todo.pop_back_val();
    if (!Outside.contains(B) && Found.insert(B).second)
      Todo.append(Predecessors[B].begin(), Predecessors[B].end());
  }
  return Found;
}

} // namespace tensorscope
