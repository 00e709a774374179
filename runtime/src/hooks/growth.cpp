// SPDX-License-Identifier: Apache-2.0
// Counts how often places are come to, and samples them.
#include "hooks/growth.h"

#include "core/fork_guard.h"
#include "hooks/library_calls.h"
#include "hooks/making.h"
#include "hooks/references.h"
#include "hooks/results.h"

#include <algorithm>
#include <utility>

namespace tensorscope::hooks {
namespace {

using core::GrowthLog;
using core::GrowthOf;
using core::GrowthPlace;
using core::GrowthPoint;
using core::GrowthSite;
using core::Rise;
using core::ThreadRecord;

constexpr std::uint32_t kFirstSample = 5;

/// The thread's log; null while it takes samples, which run operators of their own.
GrowthLog* log_of(ThreadRecord& thread) {
  if (thread.growth == nullptr) {
    thread.growth = std::make_unique<GrowthLog>(liveness);
    thread.growth->process = core::process_generation();
  }
  GrowthLog& log = *thread.growth;
  if (log.busy) {
    return nullptr;
  }
  if (log.process != core::process_generation()) {
    log.sites.clear(); // weak references stay: a child of a fork has few
    log.kept.clear();
    log.process = core::process_generation();
  }
  return &log;
}

void forget(core::EarlierResult& earlier) {
  if (earlier.tensor != nullptr) {
    liveness.drop(std::exchange(earlier.tensor, nullptr));
  }
}

/// Counts a repeat. What is due is asked for when the operator's results are complete.
void come_to(ThreadRecord& thread, GrowthLog& log, const GrowthPlace& place, GrowthSite& site, c10::TensorImpl& tensor) {
  const std::uint64_t clock = thread.operator_stamp.load(std::memory_order_relaxed) / 2;
  const std::uint64_t region = thread.innermost != nullptr ? thread.innermost->number : 0;
  if (site.repeats == 0) {
    site.first_clock = clock;
    site.next_sample = kFirstSample;
  } else if (region != 0 && region == site.region) {
    return; // the same run of a scope
  }
  site.region = region;
  site.last_clock = clock;
  ++site.repeats;
  if (site.repeats + 1 >= site.next_sample) {
    log.due.push_back({place, &tensor});
  }
}

void add_point(std::unique_ptr<Rise>& rise, const GrowthPoint& point) {
  if (rise == nullptr) {
    rise = std::make_unique<Rise>();
  }
  rise->add(point);
}

/// Whether the graphs of the repeats since the last sample hang together.
bool is_chained(const GrowthSite& site, const c10::TensorImpl& tensor) {
  return site.earlier.node != 0 && own_node_of(tensor) != 0 &&
      graph_leads_to(tensor, site.chained_to != 0 ? site.chained_to : site.earlier.node);
}

void sample_chain(GrowthSite& site, const c10::TensorImpl& tensor) {
  const bool chained = site.held && is_chained(site, tensor);
  if (chained) {
    if (site.chain == nullptr || site.chain->empty()) {
      add_point(site.chain, {site.repeats - 1, 1, 0, backward_passes()});
    }
    const auto& begin = site.chain->points().front();
    add_point(site.chain, {site.repeats, site.repeats - begin.repeats + 1, 0, backward_passes()});
  } else if (site.chain != nullptr) {
    site.chain->end();
  }
  site.chained_to = chained || site.held ? own_node_of(tensor) : 0;
}

/// What the graph keeps is looked at whenever the rise is twice as long as the last time.
void explain(ThreadRecord& thread, const GrowthPlace& place, GrowthSite& site, c10::TensorImpl& tensor) {
  constexpr std::uint32_t kWorthwhile = 5;
  const auto length = [](const std::unique_ptr<Rise>& rise) {
    return rise == nullptr || rise->empty() ? 0 : rise->last().repeats - rise->points().front().repeats;
  };
  const bool rises = length(site.chain) >= kWorthwhile ||
      (length(site.graphs) >= kWorthwhile && site.graphs->last().amount >= kWorthwhile);
  if (!rises || !site.held || site.repeats < 2 * site.explained_at) {
    return;
  }
  site.explained_at = site.repeats;
  const at::Tensor root(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(&tensor));
  auto kept = kept_by_graph(thread, place, root, site.earlier);
  thread.growth->set_kept(place, std::move(kept));
}

void take_sample(ThreadRecord& thread, GrowthLog& log, const core::DueSample& due) {
  GrowthSite* const site = log.known_site(due.place);
  if (site == nullptr) {
    return;
  }
  auto& tensor = *static_cast<c10::TensorImpl*>(due.tensor);
  if (site->repeats + 1 == site->next_sample) {
    forget(site->earlier);
    site->earlier = {hold_weakly(&tensor), own_node_of(tensor), thread.work_done()};
    return;
  }
  if (site->repeats < site->next_sample) {
    return; // it was sampled by another result of the same operator
  }
  site->held = site->earlier.tensor != nullptr && liveness.alive(site->earlier.tensor);
  if (due.place.of != GrowthOf::views) {
    if (site->held || site->chain != nullptr) {
      sample_chain(*site, tensor);
    }
    explain(thread, due.place, *site, tensor);
  }
  site->watched = site->held;
  forget(site->earlier);
  site->next_sample = core::next_sample_after(site->repeats);
  // A look costs as much as there is alive: so much must have been made since, at least.
  const std::size_t alive = thread.survivors != nullptr ? thread.survivors->items().size() : 0;
  if (site->held && log.made - log.last_look >= alive / 4) {
    log.next_look = 0;
  }
}

void count_bytes(GrowthLog& log) {
  std::uint64_t bytes = 0;
  for (const auto* thread = core::all_records(); thread != nullptr; thread = thread->next) {
    bytes += thread->allocated_bytes.get();
    for (const auto& freed : thread->freed_bytes) {
      bytes -= freed.get();
    }
  }
  log.live_bytes = bytes;
}

} // namespace

std::uint64_t backward_passes() {
  std::uint64_t passes = 0;
  for (const auto* thread = core::all_records(); thread != nullptr; thread = thread->next) {
    passes += thread->backward_passes.get();
  }
  return passes;
}

void follow_made(ThreadRecord& thread, c10::TensorImpl& tensor, const core::OwnedStorage& entry,
                 std::uint32_t part) noexcept {
  if (entry.stack == nullptr) {
    return;
  }
  try {
    GrowthLog* const log = log_of(thread);
    if (log == nullptr) {
      return;
    }
    ++log->made;
    const GrowthPlace place{entry.stack, entry.made_by, part, GrowthOf::tensors};
    if (GrowthSite* const site = log->site_at(place)) {
      site->shape = entry.shape;
      come_to(thread, *log, place, *site, tensor);
    }
  } catch (...) {
    // Memory is short: the place is not followed.
  }
}

void follow_update(ThreadRecord& thread, c10::TensorImpl& tensor, const core::OperatorInfo& info,
                   std::uint32_t part) noexcept {
  try {
    GrowthLog* const log = log_of(thread);
    const core::Stack* const stack = log != nullptr ? stack_here(thread) : nullptr;
    if (stack == nullptr) {
      return;
    }
    const GrowthPlace place{stack, &info, part, GrowthOf::updates};
    if (GrowthSite* const site = log->site_at(place)) {
      if (site->shape == nullptr) {
        site->shape = intern_shape(thread, view_of_shape(tensor));
      }
      come_to(thread, *log, place, *site, tensor);
    }
  } catch (...) {
  }
}

void follow_view(ThreadRecord& thread, c10::TensorImpl& view, const core::OperatorInfo& info,
                 std::uint32_t part) noexcept {
  // Less than a page, or a good part of the storage, is not worth a word.
  constexpr std::size_t kSmallStorage = 4096;
  constexpr std::size_t kShare = 4;
  try {
    if (!view.has_storage() || view.has_symbolic_sizes_strides() ||
        view.unsafe_storage().unsafeGetStorageImpl() == nullptr) {
      return;
    }
    const std::size_t whole = view.unsafe_storage().nbytes();
    if (whole < kSmallStorage || static_cast<std::size_t>(view.numel()) * view.itemsize() * kShare > whole) {
      return;
    }
    GrowthLog* const log = log_of(thread);
    const core::Stack* const stack = log != nullptr ? stack_here(thread) : nullptr;
    if (stack == nullptr) {
      return;
    }
    const GrowthPlace place{stack, &info, part, GrowthOf::views};
    if (GrowthSite* const site = log->site_at(place)) {
      if (site->shape == nullptr) {
        site->shape = intern_shape(thread, view_of_shape(view));
      }
      come_to(thread, *log, place, *site, view);
      if (site->watched) {
        log->views.add({hold_weakly(&view), place});
      }
    }
  } catch (...) {
  }
}

void take_due_samples(ThreadRecord& thread) noexcept {
  GrowthLog* const log = thread.growth.get();
  if (log == nullptr || log->busy || (log->due.empty() && log->made < log->next_look)) {
    return;
  }
  log->busy = true;
  try {
    const LibraryCall ours(true);
    for (const core::DueSample& due : log->due) {
      take_sample(thread, *log, due);
    }
    if (log->made >= log->next_look) {
      count_bytes(*log);
      look_at_all_places(thread, *log);
      const std::size_t alive = thread.survivors != nullptr ? thread.survivors->items().size() : 0;
      log->last_look = log->made;
      log->next_look = log->made + std::max({std::uint64_t{32}, std::uint64_t{alive}, log->made / 4});
    }
  } catch (...) {
    // Memory is short: these samples are missing.
  }
  std::fill(log->due.begin(), log->due.end(), core::DueSample{}); // a word that is left over would look like a handle
  log->due.clear();
  log->busy = false;
}

} // namespace tensorscope::hooks
