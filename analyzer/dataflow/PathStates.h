// SPDX-License-Identifier: Apache-2.0
//
// What a dataflow knows at the beginning of each block: a few states, so that
// what holds together on one path stays together; past that, all in one.
#ifndef TENSORSCOPE_DATAFLOW_PATHSTATES_H
#define TENSORSCOPE_DATAFLOW_PATHSTATES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <vector>

namespace tensorscope {

template <typename StateT> class PathStates {
public:
  void begin(size_t BlockCount, size_t Entry, StateT Initial) {
    Blocks.assign(BlockCount, {});
    Blocks[Entry].States.push_back(std::move(Initial));
  }

  const std::vector<StateT> &at(size_t Block) const {
    return Blocks[Block].States;
  }

  /// The states of \p Block that were not carried on yet.
  std::vector<StateT> takeFresh(size_t Block) {
    BlockStates &B = Blocks[Block];
    std::vector<StateT> Fresh(B.States.begin() + B.CarriedOn, B.States.end());
    B.CarriedOn = B.States.size();
    return Fresh;
  }

  /// \p S comes to \p Block; true if that is new there. \p MergeAll makes one
  /// state of \p S and of those that are there.
  template <typename Merger>
  bool join(size_t Block, const StateT &S, Merger MergeAll) {
    BlockStates &B = Blocks[Block];
    if (llvm::is_contained(B.States, S))
      return false;
    if (!B.IsMerged && B.States.size() < MaxStates) {
      B.States.push_back(S);
      return true;
    }
    StateT Merged = MergeAll(llvm::ArrayRef<StateT>(B.States), S);
    if (B.IsMerged && Merged == B.States.front())
      return false;
    B.IsMerged = true;
    B.CarriedOn = 0;
    B.States.assign(1, std::move(Merged));
    return true;
  }

private:
  /// States of one block that are kept apart.
  static constexpr size_t MaxStates = 8;

  struct BlockStates {
    std::vector<StateT> States;
    size_t CarriedOn = 0;
    bool IsMerged = false;
  };
  std::vector<BlockStates> Blocks;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_PATHSTATES_H
