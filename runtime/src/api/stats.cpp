// SPDX-License-Identifier: Apache-2.0
// Figures and reports for the user, read from the threads' records and from this thread's regions.
#include "api/install.h"
#include "core/live_figures.h"
#include "core/region_stack.h"
#include "hooks/devices.h"
#include "hooks/owners.h"
#include "hooks/references.h"
#include "hooks/released.h"
#include "hooks/results.h"
#include "platform/heap.h"
#include "report/at_exit.h"

#include <tensorscope/stats.h>

#include <algorithm>
#include <sstream>
#include <tuple>

namespace tensorscope {
TENSORSCOPE_INLINE_NAMESPACE {
namespace {

using core::Live;
using core::ThreadRecord;

/// Whether `record` is the last of those that share its colour: the figures of shared colours are shown once.
bool speaks_for_colour(const ThreadRecord& record) {
  return record.slot < core::kColours;
}

/// What was allocated under a colour and not freed by anyone.
Live live_of_colour(std::uint32_t colour) {
  Live live;
  for (const ThreadRecord* record = core::all_records(); record != nullptr; record = record->next) {
    if (record->colour == colour) {
      live.count += record->allocations.get();
      live.bytes += record->allocated_bytes.get();
    }
    live.count -= record->frees[colour].get();
    live.bytes -= record->freed_bytes[colour].get();
  }
  // A free that another thread counted just now can be ahead of the allocation.
  return static_cast<std::int64_t>(live.count) < 0 || static_cast<std::int64_t>(live.bytes) < 0 ? Live{} : live;
}

DeviceStats figures_of(const ThreadRecord& record, std::size_t device) {
  const auto& counters = record.devices[device];
  DeviceStats figures;
  figures.pinned = device == hooks::kPinnedFigures;
  figures.device = figures.pinned ? c10::DeviceType::CPU : static_cast<c10::DeviceType>(device);
  figures.thread = record.slot;
  figures.created = counters.created.get();
  figures.released = counters.released.get();
  figures.retained = counters.retained.get();
  figures.returned = counters.returned.get();
  figures.adopted = counters.adopted.get();
  figures.graph = counters.graph.get();
  figures.graph_bytes = counters.graph_bytes.get();
  figures.escaped = counters.escaped.get();
  if (figures.device == c10::DeviceType::CPU && !figures.pinned) {
    if (speaks_for_colour(record)) {
      const auto live = live_of_colour(record.colour);
      figures.live = live.count;
      figures.bytes = live.bytes;
    }
    figures.peak = record.peak_bytes.get();
  }
  return figures;
}

bool has_figures(const DeviceStats& figures) {
  return figures.created != 0 || figures.released != 0 || figures.retained != 0 || figures.live != 0 ||
      figures.bytes != 0 || figures.peak != 0 || figures.adopted != 0;
}

LiveStorage describe_entry(const core::OwnedStorage& entry, c10::StorageImpl& storage, const core::Region& region,
                           bool owned) {
  LiveStorage live;
  const auto tensor = hooks::lock_tensor(entry.tensor);
  live.name = entry.made_by->name + " " + hooks::describe(tensor, storage);
  live.device = storage.device();
  live.bytes = storage.nbytes();
  live.handles = c10::raw::intrusive_ptr::use_count(&storage) - 1; // without our own
  live.owned = owned;
  live.region = region.where;
  return live;
}

template <class Entries>
void add_entries(LeakReport& report, const Entries& entries, const core::Region& region, bool owned) {
  for (const auto& entry : entries) {
    if (const auto storage = hooks::lock_storage(entry.storage); storage && !hooks::is_released(*storage)) {
      report.storages.push_back(describe_entry(entry, *storage, region, owned));
      report.bytes += storage->nbytes();
    }
  }
}

} // namespace

DeviceStats Stats::total(c10::DeviceType device, bool pinned) const {
  DeviceStats sum;
  sum.device = device;
  sum.pinned = pinned;
  for (const auto& figures : threads) {
    if (figures.device != device || figures.pinned != pinned) {
      continue;
    }
    sum.created += figures.created;
    sum.released += figures.released;
    sum.retained += figures.retained;
    sum.returned += figures.returned;
    sum.adopted += figures.adopted;
    sum.graph += figures.graph;
    sum.graph_bytes += figures.graph_bytes;
    sum.escaped += figures.escaped;
    sum.live += figures.live;
    sum.bytes += figures.bytes;
    sum.peak = std::max(sum.peak, figures.peak);
  }
  return sum;
}

Stats stats() {
  Stats all;
  for (const ThreadRecord* record = core::all_records(); record != nullptr; record = record->next) {
    for (std::size_t device = 0; device < core::kDeviceKinds; ++device) {
      const auto figures = figures_of(*record, device);
      if (has_figures(figures)) {
        all.threads.push_back(figures);
      }
    }
    all.unobserved += record->unobserved.get();
    all.refused_nodes += record->refused_nodes.get();
  }
  std::sort(all.threads.begin(), all.threads.end(), [](const DeviceStats& a, const DeviceStats& b) {
    return std::tie(a.thread, a.device, a.pinned) < std::tie(b.thread, b.device, b.pinned);
  });
  for (const auto& memory : hooks::device_memory()) {
    all.memory.push_back({memory.device, memory.pinned, memory.live, memory.live_bytes, memory.cached_bytes,
                          memory.reserved_bytes, memory.peak_bytes});
  }
  return all;
}

LeakReport check_leaks() {
  LeakReport report;
  if (!api::ready()) {
    return report;
  }
  const auto& thread = api::record_of_this_thread();
  for (const core::Region* region = thread.innermost; region != nullptr; region = region->outer) {
    add_entries(report, region->owned.items(), *region, true);
    add_entries(report, region->retained.items(), *region, false);
  }
  std::sort(report.storages.begin(), report.storages.end(),
            [](const LiveStorage& a, const LiveStorage& b) { return a.bytes > b.bytes; });
  if (core::ledger_is_kept) {
    report.exit_report = report::text_now();
  }
  return report;
}

std::string LeakReport::text() const {
  std::ostringstream text;
  for (const auto& storage : storages) {
    text << storage.bytes << " bytes: " << storage.name << ", " << storage.handles << " handle(s), "
         << (storage.owned ? "owned by" : "retained from") << " the region opened at " << storage.region.file_name()
         << ':' << storage.region.line() << '\n';
  }
  text << "SUMMARY: tensorscope: " << bytes << " byte(s) live in " << storages.size()
       << " storage(s) of this thread's scopes and sessions\n"
       << exit_report;
  return text.str();
}

std::vector<GcReport> gc() {
  if (api::ready()) {
    hooks::free_waiting();
    hooks::empty_device_caches();
    platform::trim_heap();
  }
  const auto live = core::live_in_process();
  std::vector<GcReport> all{{c10::DeviceType::CPU, live.count, live.bytes}};
  for (const auto& memory : hooks::device_memory()) {
    all.push_back({memory.device.type(), memory.live, memory.live_bytes, memory.device.index(), memory.pinned,
                   memory.cached_bytes, memory.reserved_bytes});
  }
  return all;
}

} // inline namespace
} // namespace tensorscope
