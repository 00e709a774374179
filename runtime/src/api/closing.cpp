// SPDX-License-Identifier: Apache-2.0
// The five classes at a region's end: result, retained, adopted, graph, escape.
#include "api/closing.h"

#include "api/classes.h"
#include "api/escapes.h"
#include "core/region_stack.h"
#include "hooks/devices.h"
#include "hooks/library_calls.h"
#include "hooks/making.h"
#include "hooks/observer.h"
#include "hooks/owners.h"
#include "hooks/released.h"
#include "hooks/results.h"
#include "platform/health.h"

#include <algorithm>
#include <utility>

namespace tensorscope::api {
namespace {

using core::Region;
using core::ThreadRecord;

const at::Tensor& gradient_of(const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->grad();
}

/// Keeps what lasting owners and gradients hold, and adds every living tensor to the roots whose graph may need more.
template <class Keep>
void keep_for_owners(Region& region, Classes& classes, std::vector<at::Tensor>& roots, Keep keep_with_gradient) {
  for (const auto& leaf : region.leaves.items()) {
    const auto tensor = hooks::lock_tensor(leaf.object);
    if (tensor.defined() && gradient_of(tensor).defined() && !classes.undecided(tensor)) {
      classes.keep(gradient_of(tensor), Class::adopted);
      roots.push_back(gradient_of(tensor));
    }
  }
  for (const auto& registered : region.registered.items()) {
    if (const auto tensor = hooks::lock_tensor(registered.object); tensor.defined()) {
      keep_with_gradient(tensor, Class::adopted);
    }
  }
  for (const auto& tensor : hooks::tensors_of_owners()) {
    keep_with_gradient(tensor, Class::adopted);
  }
  for (const auto& module : region.scripted.items()) {
    hooks::for_each_attribute(module.object, [&](const at::Tensor& tensor) {
      keep_with_gradient(tensor, Class::adopted);
    });
  }
  for (const auto& seen : region.seen.items()) {
    auto tensor = hooks::lock_tensor(seen.object);
    if (tensor.defined() && !classes.undecided(tensor)) {
      roots.push_back(std::move(tensor));
    }
  }
}

/// Keeps what `backward()` of the roots needs. Returns how many nodes refused to say what they keep.
std::size_t keep_graphs(Classes& classes, ClosingGraphs& graphs) {
  std::erase_if(graphs.roots, [](const at::Tensor& root) { return !root.defined() || !root.grad_fn(); });
  std::size_t refused = 0;
  for (const auto& root : graphs.roots) {
    refused += graphs.walk.run(root, [&](const hooks::SavedTensor& saved) {
      if (classes.find(saved.storage) != nullptr) {
        classes.keep(saved.storage, Class::graph);
      } else {
        graphs.made_inside.add(saved);
      }
    });
  }
  return refused;
}

/// Sorts the candidates into classes; what stays undecided has escaped.
void classify(ThreadRecord& thread, Region& region, const Ending& ending, Classes& classes, ClosingGraphs& graphs) {
  auto& roots = graphs.roots;
  const auto keep_with_gradient = [&](const at::Tensor& tensor, Class kept_as) {
    classes.keep(tensor, kept_as);
    classes.keep(tensor._fw_grad(0), kept_as); // forward-mode AD's tangent
    if (gradient_of(tensor).defined()) {
      classes.keep(gradient_of(tensor), Class::adopted);
      roots.push_back(gradient_of(tensor));
    }
    roots.push_back(tensor);
  };
  for (const auto& tensor : ending.kept) {
    keep_with_gradient(tensor, Class::result);
  }
  if (hooks::any_retained_from_elsewhere()) {
    for (auto& candidate : classes.all()) {
      at::Tensor tensor;
      if (hooks::retained_from_elsewhere(*candidate.storage, tensor)) {
        classes.keep(*candidate.storage, Class::retained);
        roots.push_back(tensor);
      }
    }
  }
  if (classes.any_undecided()) {
    keep_for_owners(region, classes, roots, keep_with_gradient);
  }
  if (const auto refused = keep_graphs(classes, graphs); refused != 0 && classes.any_undecided()) {
    thread.refused_nodes.add(refused);
    for (auto& candidate : classes.all()) {
      classes.keep(*candidate.storage, Class::graph);
    }
  }
}

void count(ThreadRecord& thread, const Candidate& candidate) {
  auto& figures = thread.devices[hooks::figures_index(*candidate.storage)];
  switch (candidate.kept_as) {
    case Class::result:
      figures.returned.add(1);
      break;
    case Class::retained:
      figures.retained.add(1);
      break;
    case Class::adopted:
      figures.adopted.add(1);
      break;
    case Class::graph:
      figures.graph.add(1);
      figures.graph_bytes.add(candidate.storage->nbytes());
      break;
    case Class::escape:
      figures.escaped.add(hooks::is_released(*candidate.storage) ? 0 : 1);
      break;
    case Class::left_open:
    case Class::unscoped:
    case Class::library:
      break; // never of a region
  }
}

/// What the region met is met by the region around it as well: graphs that cross both.
void hand_on(Region& region, Region* outer, const Ending& ending) {
  if (outer == nullptr) {
    return;
  }
  outer->seen.absorb(region.seen);
  outer->leaves.absorb(region.leaves);
  outer->scripted.absorb(region.scripted);
  for (const auto& tensor : ending.kept) {
    if (hooks::may_have_graph(*tensor.unsafeGetTensorImpl())) {
      hooks::see_tensor(*outer, *tensor.unsafeGetTensorImpl());
    }
  }
}

/// What operators made inside for graphs that live on: LibTorch's own, but there because of the program.
std::vector<hooks::HeldByGraph> count_made_inside(ThreadRecord& thread, const ClosingGraphs& graphs) {
  auto all = graphs.made_inside.held();
  std::erase_if(all, [&](const hooks::HeldByGraph& inside) {
    return core::owner_of(thread, hooks::key_of(inside.storage.get())) != nullptr || hooks::is_released(*inside.storage);
  });
  for (const auto& inside : all) {
    auto& figures = thread.devices[hooks::figures_index(*inside.storage)];
    figures.graph.add(1);
    figures.graph_bytes.add(inside.storage->nbytes());
  }
  return all;
}

bool is_among(const core::WeakList<core::OwnedStorage>& entries, const void* storage) {
  return std::any_of(entries.items().begin(), entries.items().end(),
                     [&](const core::OwnedStorage& entry) { return entry.storage == storage; });
}

/// Enters what outlives the region into the ledger.
void note_survivors(ThreadRecord& thread, Region& region, Classes& classes,
                    const std::vector<hooks::HeldByGraph>& made_inside) {
  if (classes.empty() && region.retained.empty()) {
    return;
  }
  const core::LedgerGuard guard(thread);
  // The region is off its thread's stack, with those around it still open.
  region.outer = thread.innermost;
  const auto* const path = core::path_of(&region);
  const auto add = [&](const core::OwnedStorage& entry, Class kept_as) {
    core::add_survivor(thread, {entry, path, region.number, kept_as}, hooks::liveness);
  };
  for (const auto& inside : made_inside) {
    const auto* const key = hooks::key_of(inside.storage.get());
    if (!is_among(region.retained, key) && core::find_survivor(thread, key) == nullptr) {
      add({hooks::hold_weakly(inside.storage.get()), nullptr, inside.kept_by, nullptr,
           hooks::intern_shape(thread, core::view_of(inside.shape))},
          Class::graph);
    }
  }
  for (auto& candidate : classes.all()) {
    add(std::exchange(candidate.entry, {}), candidate.behind_escape ? Class::graph : candidate.kept_as);
  }
  for (const auto& entry : region.retained.take()) {
    add(entry, Class::retained);
  }
}

std::vector<core::OwnedStorage> take_owned(ThreadRecord& thread, Region& region) {
  const core::LedgerGuard guard(thread);
  return region.owned.take();
}

std::string decide(ThreadRecord& thread, Region& region, const Ending& ending) {
  std::string line;
  std::vector<hooks::HeldByGraph> made_inside;
  Classes classes(take_owned(thread, region));
  if (!classes.empty()) {
    const hooks::LibraryCall ours(true); // unpacking saved tensors runs a few operators
    ClosingGraphs graphs(region.opened_at_node);
    classify(thread, region, ending, classes, graphs);
    hooks::GraphOnlyStorages behind_escapes;
    sort_escapes(classes, graphs, escapes_stay() ? graphs.made_inside : behind_escapes);
    for (const auto& candidate : classes.all()) {
      count(thread, candidate);
    }
    line = meet_escapes(thread, region, ending, classes, behind_escapes);
    made_inside = count_made_inside(thread, graphs);
  }
  if (core::ledger_is_kept) {
    note_survivors(thread, region, classes, made_inside);
  }
  hand_on(region, thread.innermost, ending);
  return line;
}

} // namespace

std::string finish_region(ThreadRecord& thread, std::unique_ptr<Region> region, const Ending& ending) noexcept {
  std::string line;
  try {
    line = decide(thread, *region, ending);
  } catch (const std::exception& error) {
    platform::report_trouble(platform::Trouble::close_failed,
                             std::string("the end of a scope left its tensors alive: ") + error.what());
  }
  hooks::leave_region(thread, *region);
  core::recycle_region(thread, std::move(region));
  return line;
}

} // namespace tensorscope::api
