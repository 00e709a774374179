// SPDX-License-Identifier: Apache-2.0
// Tells which storages the program itself has no handle to: only graphs hold them.
#pragma once

#include "hooks/graph.h"

#include <unordered_map>
#include <unordered_set>

namespace tensorscope::hooks {

/// Counts how often nodes saved a storage, and in which objects. What might have another holder counts as held by the
/// program, such as a tensor that one node saved twice; and so do parameters and their gradients.
class SavedCounts {
 public:
  /// To be called for each saved tensor of all graphs.
  void add(const SavedTensor& saved);

  /// Whether all references to the storage are nodes', but for one of the caller's, and one of the caller's to each of
  /// `locked`. To be asked when the walk is over.
  bool only_graphs(const c10::StorageImpl& storage, const std::unordered_set<const c10::TensorImpl*>& locked) const;

 private:
  struct Saved {
    std::size_t private_tensors = 0; ///< that nodes made for their own results
    std::unordered_map<c10::TensorImpl*, std::size_t> tensors; ///< saved as they were, and how often
  };
  std::unordered_map<const c10::StorageImpl*, Saved> saved_;
};

} // namespace tensorscope::hooks
