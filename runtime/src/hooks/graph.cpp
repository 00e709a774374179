// SPDX-License-Identifier: Apache-2.0
// Walks autograd graphs with the collection that compiled autograd uses to list each node's saved tensors.
#include "hooks/graph.h"

#include "hooks/making.h"
#include "hooks/references.h"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/dynamo/compiled_autograd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace tensorscope::hooks {
namespace {

using torch::autograd::AccumulateGrad;
using torch::autograd::Node;

/// Held by LibTorch while a node runs and while it lets go of what it saved.
struct NodeMutex : Node {
  static std::mutex& of(Node& node) { return node.*(&NodeMutex::mutex_); }
};

/// What a leaf's accumulator keeps: the leaf, and its gradient unless that is just being added to. Read without the
/// collection, which refuses an accumulator with a hook.
std::vector<at::Tensor> saved_by(AccumulateGrad& accumulator) {
  std::vector<at::Tensor> saved{accumulator.variable};
  const std::unique_lock lock(NodeMutex::of(accumulator), std::try_to_lock);
  if (lock && accumulator.variable.defined()) {
    saved.push_back(accumulator.variable.unsafeGetTensorImpl()->grad());
  }
  return saved;
}

} // namespace

std::uint64_t next_node_number() {
  return at::sequence_number::peek();
}

GraphWalk::GraphWalk(std::uint64_t first_node)
    : first_node_(first_node), this_thread_(at::RecordFunction::currentThreadId()) {}

std::size_t GraphWalk::run(const at::Tensor& root, const Visit& visit) {
  std::size_t refused = 0;
  add(root.grad_fn().get());
  while (!to_do_.empty()) {
    Node* const node = to_do_.back();
    to_do_.pop_back();
    refused += visit_saved(*node, root, visit) ? 0 : 1;
    for (const auto& edge : node->next_edges()) {
      add(edge.function.get());
    }
  }
  return refused;
}

/// Older nodes keep older tensors only; without this stop, state carried from scope to scope would be walked again each
/// time. Accumulators end a walk by themselves.
bool GraphWalk::is_older(const Node& node) const {
  return node.thread_id() == this_thread_ && node.sequence_nr() < first_node_;
}

void GraphWalk::add(Node* node) {
  if (node != nullptr && !is_older(*node) && met_.insert(node).second) {
    to_do_.push_back(node);
  }
}

bool GraphWalk::visit_saved(Node& node, const at::Tensor& root, const Visit& visit) {
  using namespace torch::dynamo::autograd;
  if (auto* const accumulator = dynamic_cast<AccumulateGrad*>(&node)) {
    for (const at::Tensor& tensor : saved_by(*accumulator)) {
      visit_tensor(tensor, root, node, false, visit);
    }
    return true;
  }
  AutogradCompilerCall call(SizeInput::STATIC);
  NodeCall node_call(0, node.getptr());
  CompiledNodeArgs arguments(call, node_call);
  bool told = true;
  {
    // Another thread may be running the node, or this one, further up its stack.
    const std::unique_lock lock(NodeMutex::of(node), std::try_to_lock);
    if (!lock) {
      return false;
    }
    try {
      node.compiled_args(arguments);
    } catch (const c10::Error& error) {
      // A node whose backward pass has run keeps nothing any more. The whole text would have a stack in it, in words.
      told = std::strstr(error.what_without_backtrace(), torch::autograd::ERR_BACKWARD_TWICE) != nullptr;
    } catch (const std::exception& error) {
      told = std::strstr(error.what(), torch::autograd::ERR_BACKWARD_TWICE) != nullptr;
    }
  }
  const bool made_here = node.thread_id() == this_thread_;
  for (const at::Tensor& tensor : call.tensor_args.inputs) {
    visit_tensor(tensor, root, node, made_here, visit);
  }
  return told;
}

void GraphWalk::visit_tensor(const at::Tensor& tensor, const at::Tensor& root, const Node& node, bool made_here,
                             const Visit& visit) {
  for_each_needed_storage(tensor, [&](c10::TensorImpl&, c10::StorageImpl& storage) {
    visit({tensor, storage, root, node, made_here});
  });
  if (tensor.defined() && tensor.grad_fn()) {
    add(tensor.grad_fn().get());
  }
}

void GraphOnlyStorages::add(const SavedTensor& saved) {
  // Nodes of other threads, or from before, may be needed by tensors that this thread does not know.
  c10::TensorImpl* const tensor = saved.tensor.unsafeGetTensorImpl();
  if (!saved.made_here || !tensor->has_storage() ||
      tensor->unsafe_storage().unsafeGetStorageImpl() != &saved.storage) {
    return;
  }
  auto& found = found_[&saved.storage];
  if (found.node == nullptr) {
    found.node = &saved.node;
    found.entry.storage = c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(&saved.storage);
    found.entry.shape = shape_of(*tensor);
  }
  if (saved.tensor.use_count() == 1) {
    ++found.private_tensors; // the object was made for this listing, over the one that the node holds
  } else {
    ++found.tensors[tensor];
  }
}

std::vector<HeldByGraph> GraphOnlyStorages::held() const {
  std::vector<HeldByGraph> all;
  for (const auto& [storage, found] : found_) {
    const std::size_t own = 1;
    const bool only_ours =
        c10::raw::intrusive_ptr::use_count(storage) == own + found.private_tensors + found.tensors.size() &&
        std::all_of(found.tensors.begin(), found.tensors.end(), [](const auto& saved) {
          return c10::raw::intrusive_ptr::use_count(saved.first) == saved.second;
        });
    if (only_ours) {
      all.push_back(found.entry);
      all.back().kept_by = &core::intern_operator({found.node->name(), false, {}}, "");
    }
  }
  return all;
}

} // namespace tensorscope::hooks
