// SPDX-License-Identifier: Apache-2.0
// Two walks: one to see what the program has handles to besides, one to see whose graph each storage is part of.
#include "report/leak_graphs.h"

#include "hooks/graph.h"
#include "hooks/library_calls.h"
#include "hooks/saved_counts.h"

#include <torch/csrc/autograd/function.h>

#include <algorithm>

namespace tensorscope::report {
namespace {

using core::KeptAs;

/// A living tensor with a graph.
struct Root {
  at::Tensor tensor;
  const Living* living;
};

/// The tensors of one ledger that have a graph, and are no part of another's.
void add_roots(const Ledger& ledger, std::vector<Root>& roots) {
  for (const auto& living : ledger.survivors) {
    auto tensor = living.released ? at::Tensor() : hooks::lock_tensor(living.note.entry.tensor);
    if (tensor.defined() && living.note.kept_as != KeptAs::graph && tensor.grad_fn()) {
      roots.push_back({std::move(tensor), &living});
    }
  }
}

/// Calls `visit(saved, root)` for what the graphs keep, each node once.
template <class Visit>
void walk(const std::vector<Root>& roots, Visit visit) {
  hooks::GraphWalk graphs(0);
  for (const Root& root : roots) {
    graphs.run(root.tensor, [&](const hooks::SavedTensor& saved) { visit(saved, root); });
  }
}

/// Storages that nothing but graphs holds.
std::unordered_set<const c10::StorageImpl*> held_alone(const std::vector<Ledger>& ledgers, const std::vector<Root>& roots) {
  hooks::SavedCounts counts;
  walk(roots, [&](const hooks::SavedTensor& saved, const Root&) { counts.add(saved); });
  std::unordered_set<const c10::TensorImpl*> locked;
  for (const Root& root : roots) {
    locked.insert(root.tensor.unsafeGetTensorImpl());
  }
  std::unordered_set<const c10::StorageImpl*> alone;
  for (const auto& ledger : ledgers) {
    for (const auto& living : ledger.survivors) {
      if (counts.only_graphs(*living.storage, locked)) {
        alone.insert(living.storage.get());
      }
    }
  }
  return alone;
}

/// Whether the node keeps the tensor itself, or a view of it: then its own graph keeps it.
bool keeps_its_end(const hooks::SavedTensor& saved) {
  const auto* const end = saved.root.unsafeGetTensorImpl();
  return saved.tensor.unsafeGetTensorImpl() == end ||
      (saved.tensor.is_view() && saved.tensor._base().unsafeGetTensorImpl() == end);
}

bool any_may_be_kept_by_graphs(const std::vector<Ledger>& ledgers, const IsLeak& is_leak) {
  return std::any_of(ledgers.begin(), ledgers.end(), [&](const Ledger& ledger) {
    return std::any_of(ledger.survivors.begin(), ledger.survivors.end(), [&](const Living& living) {
      if (living.released) {
        return false;
      }
      if (living.note.kept_as == KeptAs::graph || living.piled) {
        return true;
      }
      const auto tensor = ledger.quiet && is_leak(living) ? hooks::lock_tensor(living.note.entry.tensor) : at::Tensor();
      return tensor.defined() && tensor.grad_fn() != nullptr;
    });
  });
}

} // namespace

Graphs read_graphs(const std::vector<Ledger>& ledgers, const IsLeak& is_leak) {
  if (!any_may_be_kept_by_graphs(ledgers, is_leak)) {
    return {};
  }
  std::vector<Root> roots;
  for (const auto& ledger : ledgers) {
    // A running thread may be changing the graphs of its tensors right now.
    if (ledger.quiet) {
      add_roots(ledger, roots);
    }
  }
  std::reverse(roots.begin(), roots.end()); // the younger first: a graph keeps what is older than its end
  const hooks::LibraryCall ours(true);      // unpacking saved tensors runs a few operators
  Graphs graphs;
  graphs.held_alone = held_alone(ledgers, roots);
  // What a tensor that is no leak needs is no leak of another's either.
  std::stable_partition(roots.begin(), roots.end(), [&](const Root& root) {
    return !is_leak(*root.living) && graphs.held_alone.count(root.living->storage.get()) == 0;
  });
  walk(roots, [&](const hooks::SavedTensor& saved, const Root& root) {
    if (root.living->storage.get() != &saved.storage) {
      graphs.keepers.try_emplace(&saved.storage, root.living);
    } else if (keeps_its_end(saved)) {
      graphs.own_nodes.try_emplace(root.living, saved.node.name());
    }
  });
  return graphs;
}

const Living* keeper_of(const Living& living, const Graphs& graphs) {
  const auto& keepers = graphs.keepers;
  const Living* keeper = nullptr;
  auto found = keepers.find(living.storage.get());
  for (std::size_t steps = 0; found != keepers.end() && steps < keepers.size(); ++steps) {
    keeper = found->second;
    found = keepers.find(keeper->storage.get());
  }
  return keeper;
}

std::string own_node_of(const Living& living, const Graphs& graphs) {
  const auto found = graphs.own_nodes.find(&living);
  return found == graphs.own_nodes.end() ? std::string() : found->second;
}

bool is_indirect(const Living& living, const Living* keeper, const Graphs& graphs, const IsLeak& is_leak) {
  return keeper != nullptr && !living.released && graphs.held_alone.count(living.storage.get()) != 0 &&
      is_leak(*keeper);
}

} // namespace tensorscope::report
