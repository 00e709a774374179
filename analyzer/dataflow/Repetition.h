// SPDX-License-Identifier: Apache-2.0
//
// Which facts can be followed by another iteration of a loop.
#ifndef TENSORSCOPE_DATAFLOW_REPETITION_H
#define TENSORSCOPE_DATAFLOW_REPETITION_H

#include "dataflow/Facts.h"
#include "llvm/ADT/DenseSet.h"

namespace tensorscope {

class Repetition {
public:
  explicit Repetition(const FunctionFacts &Facts);

  BlockID blockOf(const Fact &F) const { return BlockOf.lookup(&F); }
  /// Another iteration of \p Loop may come after \p F.
  bool goesOn(LoopID Loop, const Fact &F);

private:
  llvm::DenseSet<BlockID> leadingTo(LoopID Loop);

  const FunctionFacts &Facts;
  std::vector<llvm::SmallVector<BlockID, 2>> Predecessors;
  llvm::DenseMap<const Fact *, BlockID> BlockOf;
  std::map<LoopID, llvm::SmallVector<BlockID, 16>> Ends;
  std::map<LoopID, llvm::DenseSet<BlockID>> Leading;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_REPETITION_H
