// SPDX-License-Identifier: Apache-2.0
//
// What differs between two immutable maps, in the time that the difference
// takes: maps that come from one another share most of their trees.
#ifndef TENSORSCOPE_DATAFLOW_MAPDIFFERENCE_H
#define TENSORSCOPE_DATAFLOW_MAPDIFFERENCE_H

#include "llvm/ADT/ImmutableMap.h"

namespace tensorscope {

/// Calls \p Visit with each key, in order, whose values in \p A and \p B may
/// differ, and with both values; null where there is none. What the maps share
/// is left out.
template <typename Key, typename Value, typename Visitor>
void forEachDifference(const llvm::ImmutableMap<Key, Value> &A,
                       const llvm::ImmutableMap<Key, Value> &B, Visitor Visit) {
  using Tree = typename llvm::ImmutableMap<Key, Value>::TreeTy;
  using Iterator = typename Tree::iterator;
  const Tree *RootA = A.getRootWithoutRetain();
  const Tree *RootB = B.getRootWithoutRetain();
  if (RootA == RootB)
    return;
  Iterator It = RootA ? RootA->begin() : Iterator();
  Iterator EndA = RootA ? RootA->end() : Iterator();
  Iterator Other = RootB ? RootB->begin() : Iterator();
  Iterator EndB = RootB ? RootB->end() : Iterator();
  while (It != EndA || Other != EndB) {
    if (It != EndA && Other != EndB && &*It == &*Other) {
      It.skipSubTree();
      Other.skipSubTree();
      continue;
    }
    bool TakesA = It != EndA && (Other == EndB || It->getValue().first <=
                                                      Other->getValue().first);
    bool TakesB = Other != EndB && (It == EndA || Other->getValue().first <=
                                                      It->getValue().first);
    Visit(TakesA ? It->getValue().first : Other->getValue().first,
          TakesA ? &It->getValue().second : nullptr,
          TakesB ? &Other->getValue().second : nullptr);
    if (TakesA)
      ++It;
    if (TakesB)
      ++Other;
  }
}

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_MAPDIFFERENCE_H
