// SPDX-License-Identifier: Apache-2.0
// What is alive of each place, and what its graphs keep.
#include "hooks/growth.h"

#include "hooks/graph.h"
#include "hooks/making.h"
#include "hooks/references.h"
#include "hooks/released.h"
#include "hooks/results.h"
#include "platform/memory.h"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tensorscope::hooks {
namespace {

using core::GrowthLog;
using core::GrowthOf;
using core::GrowthPlace;
using core::GrowthSite;
using core::ThreadRecord;
using torch::autograd::Node;

/// Fewer are not followed: the last repeats of anything are alive.
constexpr std::uint32_t kFew = 4;

Node* node_of(const c10::TensorImpl& tensor) {
  const auto* const meta = static_cast<const torch::autograd::AutogradMeta*>(tensor.autograd_meta());
  return meta != nullptr ? meta->grad_fn_.get() : nullptr;
}

bool has_graph(void* tensor) {
  const at::Tensor locked = lock_tensor(tensor);
  return locked.defined() && node_of(*locked.unsafeGetTensorImpl()) != nullptr;
}

void clear_counts(GrowthLog& log) {
  for (auto& [place, site] : log.sites) {
    site.count = 0;
    site.with_graph = 0;
    site.bytes = 0;
    site.first = nullptr;
    site.latest = nullptr;
  }
}

void count_living(const ThreadRecord& thread, GrowthLog& log) {
  if (thread.survivors == nullptr) {
    return;
  }
  for (const core::Survivor& survivor : thread.survivors->items()) {
    const auto& entry = survivor.entry;
    if (entry.stack == nullptr || !liveness.alive(entry.storage)) {
      continue;
    }
    GrowthSite* const site = log.known_site({entry.stack, entry.made_by, 0, GrowthOf::tensors});
    const auto storage = site != nullptr ? lock_storage(entry.storage) : nullptr;
    if (!storage || is_released(*storage)) {
      continue;
    }
    ++site->count;
    site->bytes += storage->nbytes();
    site->with_graph += has_graph(entry.tensor) ? 1 : 0;
    site->first = site->first == nullptr ? entry.storage : site->first;
    site->latest = entry.storage;
  }
}

bool same_content(const void* one, const void* other) {
  const auto first = lock_storage(const_cast<void*>(one));
  const auto second = lock_storage(const_cast<void*>(other));
  if (!first || !second || first == second || first->nbytes() != second->nbytes() || first->nbytes() == 0 ||
      !first->device().is_cpu()) {
    return false;
  }
  return platform::same_bytes(first->_mutable_data_ptr_no_checks().get(), second->_mutable_data_ptr_no_checks().get(),
                              first->nbytes());
}

void add_point(std::unique_ptr<core::Rise>& rise, const core::GrowthPoint& point) {
  if (rise == nullptr && point.amount < kFew) {
    return;
  }
  if (rise == nullptr) {
    rise = std::make_unique<core::Rise>();
  }
  rise->add(point);
}

void sample_living(GrowthLog& log) {
  const std::uint64_t passes = backward_passes();
  for (auto& [place, site] : log.sites) {
    if (place.of == GrowthOf::updates) {
      continue;
    }
    add_point(site.living, {site.repeats, site.count, site.bytes, passes});
    if (place.of == GrowthOf::tensors) {
      add_point(site.graphs, {site.repeats, site.with_graph, site.bytes, passes});
      site.alike = site.count >= 2 * kFew && site.with_graph == 0 && place.made_by->copies &&
          same_content(site.first, site.latest);
    }
  }
}

/// The views of one storage that are alive and small.
struct Pinned {
  c10::intrusive_ptr<c10::StorageImpl> storage;
  std::vector<std::pair<at::Tensor, GrowthPlace>> views;
};

/// Whether nothing holds the storage but these views, and the tensor that LibTorch keeps behind them. Each is held by one
/// reference of ours here.
bool held_by_views_alone(const Pinned& pinned) {
  std::unordered_map<c10::TensorImpl*, std::size_t> bases; // with the views that refer to it
  for (const auto& [view, place] : pinned.views) {
    if (view.is_view()) {
      ++bases[view._base().unsafeGetTensorImpl()];
    }
  }
  const std::size_t holders = pinned.views.size() + bases.size() + 1;
  return c10::raw::intrusive_ptr::use_count(pinned.storage.get()) == holders &&
      std::all_of(bases.begin(), bases.end(), [](const auto& base) {
        return c10::raw::intrusive_ptr::use_count(base.first) == base.second;
      });
}

/// The storages' own places, as what the views keep.
void note_kept_by_views(const ThreadRecord& thread, GrowthLog& log,
                        const std::unordered_map<const void*, GrowthPlace>& pinned) {
  std::unordered_map<const core::Stack*, core::KeptPerRepeat> kept;
  for (const core::Survivor& survivor : thread.survivors->items()) {
    const auto found = pinned.find(survivor.entry.storage);
    if (found != pinned.end()) {
      const auto& entry = survivor.entry;
      kept[entry.stack] = {found->second, entry.made_by, entry.stack, entry.shape, 1, 0};
    }
  }
  for (const auto& [stack, one] : kept) {
    log.set_kept(one.keeper, {one});
  }
}

void count_pinning_views(const ThreadRecord& thread, GrowthLog& log) {
  std::unordered_map<const c10::StorageImpl*, Pinned> all;
  for (const core::SmallView& item : log.views.items()) {
    at::Tensor view = lock_tensor(item.tensor);
    if (!view.defined() || !view.has_storage() || is_released(*view.storage().unsafeGetStorageImpl())) {
      continue;
    }
    auto* const storage = view.storage().unsafeGetStorageImpl();
    Pinned& pinned = all[storage];
    if (!pinned.storage) {
      pinned.storage = c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(storage);
    }
    pinned.views.emplace_back(std::move(view), item.place);
  }
  std::unordered_map<const void*, GrowthPlace> places;
  for (const auto& [storage, pinned] : all) {
    GrowthSite* const site = held_by_views_alone(pinned) ? log.known_site(pinned.views.front().second) : nullptr;
    if (site != nullptr) {
      ++site->count;
      site->bytes += storage->nbytes();
      places.emplace(key_of(storage), pinned.views.front().second);
    }
  }
  if (thread.survivors != nullptr && !places.empty()) {
    note_kept_by_views(thread, log, places);
  }
}

} // namespace

std::uint64_t own_node_of(const c10::TensorImpl& tensor) {
  const Node* const node = node_of(tensor);
  return node != nullptr && node->thread_id() == at::RecordFunction::currentThreadId() ? node->sequence_nr() : 0;
}

bool graph_leads_to(const c10::TensorImpl& root, std::uint64_t number) {
  constexpr std::size_t kMostNodes = 200'000; // some milliseconds
  Node* const end = node_of(root);
  if (end == nullptr || number == 0) {
    return false;
  }
  const std::uint64_t thread = at::RecordFunction::currentThreadId();
  std::unordered_set<Node*> met{end};
  std::vector<Node*> to_do{end};
  bool is_end = true;
  while (!to_do.empty() && met.size() < kMostNodes) {
    Node* const node = to_do.back();
    to_do.pop_back();
    if (!is_end && node->sequence_nr() == number && node->thread_id() == thread) {
      return true;
    }
    is_end = false;
    for (const auto& edge : node->next_edges()) {
      Node* const next = edge.function.get();
      // What is older can't lead there; accumulators have the highest number and no edges.
      if (next != nullptr && next->thread_id() == thread && next->sequence_nr() >= number && met.insert(next).second) {
        to_do.push_back(next);
      }
    }
  }
  return false;
}

std::vector<core::KeptPerRepeat> kept_by_graph(ThreadRecord& thread, const GrowthPlace& keeper, const at::Tensor& root,
                                               const core::EarlierResult& since) {
  std::unordered_set<const void*> storages;
  GraphWalk walk(since.node + 1);
  walk.run(root, [&](const SavedTensor& saved) { storages.insert(key_of(&saved.storage)); });
  if (root.has_storage()) {
    storages.erase(key_of(root.storage().unsafeGetStorageImpl()));
  }
  std::unordered_map<GrowthPlace, core::KeptPerRepeat, core::GrowthPlaceHash> kept;
  const auto add = [&](const core::OwnedStorage& entry) {
    const auto storage = storages.count(entry.storage) != 0 ? lock_storage(entry.storage) : nullptr;
    if (storage) {
      auto& one = kept[{entry.stack, entry.made_by, 0, GrowthOf::tensors}];
      one = {keeper, entry.made_by, entry.stack, entry.shape, one.count + 1, one.bytes + storage->nbytes()};
    }
  };
  if (thread.survivors != nullptr) {
    for (const core::Survivor& survivor : thread.survivors->items()) {
      if (survivor.made_at >= since.made_at && survivor.region == 0) {
        add(survivor.entry);
      }
    }
  }
  for (const core::Region* region = thread.innermost; region != nullptr; region = region->outer) {
    std::for_each(region->owned.items().begin(), region->owned.items().end(), add);
  }
  std::vector<core::KeptPerRepeat> all;
  for (const auto& [place, one] : kept) {
    all.push_back(one);
  }
  return all;
}

void look_at_all_places(ThreadRecord& thread, GrowthLog& log) {
  clear_counts(log);
  count_living(thread, log);
  if (!log.views.empty()) {
    log.views.prune();
    count_pinning_views(thread, log);
  }
  sample_living(log);
}

} // namespace tensorscope::hooks
