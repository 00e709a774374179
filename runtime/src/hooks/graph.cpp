// SPDX-License-Identifier: Apache-2.0
// Walks autograd graphs with the collection that compiled autograd uses to list each node's saved tensors.
#include "hooks/graph.h"

#include "hooks/references.h"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/dynamo/compiled_autograd.h>

#include <cstring>
#include <unordered_set>

namespace tensorscope::hooks {
namespace {

using torch::autograd::Node;

class GraphWalk {
 public:
  using Visit = std::function<void(c10::StorageImpl&, const at::Tensor& root)>;

  GraphWalk(std::uint64_t first_node, const Visit& visit)
      : first_node_(first_node), this_thread_(at::RecordFunction::currentThreadId()), visit_(visit) {}

  /// Walks what was not walked before of the graph behind `root`.
  std::size_t run(const at::Tensor& root) {
    std::size_t refused = 0;
    root_ = &root;
    add(root.grad_fn().get());
    while (!to_do_.empty()) {
      Node* const node = to_do_.back();
      to_do_.pop_back();
      refused += visit_saved(*node) ? 0 : 1;
      for (const auto& edge : node->next_edges()) {
        add(edge.function.get());
      }
    }
    return refused;
  }

 private:
  /// Older nodes keep older tensors only; without this stop, state carried from scope to scope would be walked
  /// again each time. Leaves' accumulators bear the highest number and end a walk by themselves.
  bool is_older(const Node& node) const {
    return node.thread_id() == this_thread_ && node.sequence_nr() < first_node_;
  }

  void add(Node* node) {
    if (node != nullptr && !is_older(*node) && met_.insert(node).second) {
      to_do_.push_back(node);
    }
  }

  bool visit_saved(Node& node) {
    using namespace torch::dynamo::autograd;
    AutogradCompilerCall call(SizeInput::STATIC);
    NodeCall node_call(0, node.getptr());
    CompiledNodeArgs arguments(call, node_call);
    bool told = true;
    try {
      node.compiled_args(arguments);
    } catch (const std::exception& error) {
      // A node whose backward pass has run keeps nothing any more.
      told = std::strstr(error.what(), torch::autograd::ERR_BACKWARD_TWICE) != nullptr;
    }
    for (const at::Tensor& tensor : call.tensor_args.inputs) {
      visit_tensor(tensor);
    }
    return told;
  }

  void visit_tensor(const at::Tensor& tensor) {
    for_each_storage(tensor, [this](c10::TensorImpl&, c10::StorageImpl& storage) { visit_(storage, *root_); });
    if (tensor.defined() && tensor.grad_fn()) {
      add(tensor.grad_fn().get());
    }
  }

  std::uint64_t first_node_;
  std::uint64_t this_thread_;
  const Visit& visit_;
  const at::Tensor* root_ = nullptr;
  std::unordered_set<Node*> met_;
  std::vector<Node*> to_do_;
};

} // namespace

std::uint64_t next_node_number() {
  return at::sequence_number::peek();
}

std::size_t visit_graph(const std::vector<at::Tensor>& roots, std::uint64_t first_node,
                        const std::function<void(c10::StorageImpl&, const at::Tensor& root)>& visit) {
  GraphWalk walk(first_node, visit);
  std::size_t refused = 0;
  for (const auto& root : roots) {
    refused += walk.run(root);
  }
  return refused;
}

} // namespace tensorscope::hooks
