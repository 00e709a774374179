// SPDX-License-Identifier: Apache-2.0
//
// Whether what a variable holds is looked at later on. Each mention of the
// variable is a read, but for those that only write to it.
#ifndef TENSORSCOPE_DATAFLOW_READS_H
#define TENSORSCOPE_DATAFLOW_READS_H

#include "dataflow/StorageFlow.h"
#include "llvm/ADT/DenseSet.h"

namespace tensorscope {

class Reads {
public:
  explicit Reads(const FunctionFacts &Facts);

  /// A variable of this function that no lambda has and no object refers to: its
  /// reads are all in sight.
  bool isOwnVariable(PlaceID Root) const;

  /// Some path from \p F on reads \p Root before it is written again.
  bool isReadAfter(const Fact &F, PlaceID Root) const;
  /// The same for the paths that \p Before, the state at \p F, leaves.
  bool isReadAfter(const Fact &F, PlaceID Root, const State &Before,
                   StorageFlow &Flow) const;

  /// The facts of its block around \p F, and its number among them.
  std::pair<const std::vector<Fact> *, unsigned> position(const Fact &F) const;

private:
  bool isRead(const Fact &F) const;

  const FunctionFacts &Facts;
  llvm::DenseSet<PlaceID> Captured;
  llvm::DenseMap<const Fact *, std::pair<BlockID, unsigned>> Positions;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_READS_H
