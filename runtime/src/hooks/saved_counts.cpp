// SPDX-License-Identifier: Apache-2.0
#include "hooks/saved_counts.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <algorithm>

namespace tensorscope::hooks {

void SavedCounts::add(const SavedTensor& saved) {
  c10::TensorImpl* const tensor = saved.tensor.unsafeGetTensorImpl();
  if (!tensor->has_storage() || tensor->unsafe_storage().unsafeGetStorageImpl() != &saved.storage) {
    return; // part of a sparse tensor
  }
  // A module that main has dropped leaves its parameters to the graph, which are still no part of a loss.
  const bool is_parameter = saved.tensor.requires_grad() && !saved.tensor.grad_fn();
  if (is_parameter || dynamic_cast<const torch::autograd::AccumulateGrad*>(&saved.node) != nullptr) {
    return;
  }
  auto& counts = saved_[&saved.storage];
  if (saved.tensor.use_count() == 1) {
    ++counts.private_tensors; // the object was made for this listing, over the one that the node holds
  } else {
    ++counts.tensors[tensor];
  }
}

bool SavedCounts::only_graphs(const c10::StorageImpl& storage,
                              const std::unordered_set<const c10::TensorImpl*>& locked) const {
  const auto found = saved_.find(&storage);
  if (found == saved_.end()) {
    return false;
  }
  const auto& [key, saved] = *found;
  const std::size_t callers = 1;
  return c10::raw::intrusive_ptr::use_count(const_cast<c10::StorageImpl*>(&storage)) ==
      callers + saved.private_tensors + saved.tensors.size() &&
      std::all_of(saved.tensors.begin(), saved.tensors.end(), [&](const auto& entry) {
        return c10::raw::intrusive_ptr::use_count(entry.first) == entry.second + locked.count(entry.first);
      });
}

} // namespace tensorscope::hooks
