// SPDX-License-Identifier: Apache-2.0
// What backward() of some tensors still needs. Called when a region ends with something left to decide, and by reports.
#pragma once

#include "core/operator_names.h"
#include "core/sites.h"

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace torch::autograd {
struct Node;
}

namespace tensorscope::hooks {

/// Autograd's next number on this thread: nodes made from now on have this or a higher one.
std::uint64_t next_node_number();

/// A tensor that a node keeps for its backward pass, as the walk meets it.
struct SavedTensor {
  const at::Tensor& tensor; ///< as the node unpacks it: a new object where it saved its own result
  c10::StorageImpl& storage;
  const at::Tensor& root;   ///< the first that needs it
  const torch::autograd::Node& node;
  bool made_here; ///< the node was made on this thread since the walk's first number, and is no leaf's
};

/// Walks the graphs of tensors, each node once, as far as nodes were made on this thread since `first_node`, or on other
/// threads. The roots must live as long as the walk.
class GraphWalk {
 public:
  using Visit = std::function<void(const SavedTensor&)>;

  explicit GraphWalk(std::uint64_t first_node);

  /// Visits what the graph of `root` keeps, without what an earlier call visited. Returns how many nodes would not say
  /// what they keep, or are just running on some thread: if any, everything must be taken as needed.
  std::size_t run(const at::Tensor& root, const Visit& visit);

 private:
  bool is_older(const torch::autograd::Node& node) const;
  void add(torch::autograd::Node* node);
  bool visit_saved(torch::autograd::Node& node, const at::Tensor& root, const Visit& visit);
  void visit_tensor(const at::Tensor& tensor, const at::Tensor& root, const torch::autograd::Node& node, bool made_here,
                    const Visit& visit);

  std::uint64_t first_node_;
  std::uint64_t this_thread_;
  std::unordered_set<torch::autograd::Node*> met_;
  std::vector<torch::autograd::Node*> to_do_;
};

/// A storage that lives by a graph alone.
struct HeldByGraph {
  c10::intrusive_ptr<c10::StorageImpl> storage;
  core::TensorShape shape;
  const core::OperatorInfo* kept_by = nullptr; ///< named as the node
};

/// Finds storages that nothing but a graph holds: what operators made inside for their backward pass, and never gave to
/// the program. Told from its references: what could have another holder is left out.
class GraphOnlyStorages {
 public:
  void add(const SavedTensor& saved);

  /// To be asked while the walk's roots still live.
  std::vector<HeldByGraph> held() const;

 private:
  struct Found {
    HeldByGraph entry;
    const torch::autograd::Node* node = nullptr;
    std::size_t private_tensors = 0; ///< that nodes made for their own results
    std::unordered_map<c10::TensorImpl*, std::size_t> tensors; ///< saved as they were, and how often
  };
  std::unordered_map<c10::StorageImpl*, Found> found_;
};

} // namespace tensorscope::hooks
