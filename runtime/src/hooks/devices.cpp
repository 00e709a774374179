// SPDX-License-Identifier: Apache-2.0
// Births and figures of devices, as their allocators report them.
#include "hooks/devices.h"

#include "hooks/out_of_memory.h"

#include "hooks/birth_notes.h"
#include "hooks/cuda_part.h"
#include "hooks/pinned.h"
#include "hooks/results.h"
#include "hooks/streams.h"
#include "platform/health.h"

#include <ATen/core/CachingHostAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <sstream>

namespace tensorscope::hooks {
namespace {

constexpr std::size_t kTypes = static_cast<std::size_t>(c10::COMPILE_TIME_MAX_DEVICE_TYPES);
constexpr std::size_t kDevices = 16; ///< of a kind; what is beyond has no figures

/// What an allocator last said of one device.
struct Reported {
  std::atomic<std::uint64_t> live{0}, live_bytes{0}, reserved_bytes{0}, peak_bytes{0};
};
constinit std::array<std::array<Reported, kDevices>, kTypes> reported{};

constinit std::atomic<std::uint32_t> settled_kinds{0};

Reported* reported_of(c10::Device device) {
  const auto type = static_cast<std::size_t>(device.type());
  const auto index = device.has_index() ? static_cast<std::size_t>(device.index()) : 0;
  return type < kTypes && index < kDevices ? &reported[type][index] : nullptr;
}

/// The allocator's lock is held: no two calls for one device at once.
void count(Reported& figures, std::int64_t size, std::size_t live, std::size_t reserved_bytes) {
  const auto change = [](std::atomic<std::uint64_t>& figure, std::uint64_t to) {
    figure.store(to, std::memory_order_relaxed);
  };
  change(figures.live, figures.live.load(std::memory_order_relaxed) + (size > 0 ? 1 : ~std::uint64_t{0}));
  change(figures.live_bytes, live);
  change(figures.reserved_bytes, std::max(live, reserved_bytes));
  change(figures.peak_bytes, std::max<std::uint64_t>(live, figures.peak_bytes.load(std::memory_order_relaxed)));
}

template <class Visit>
void for_each_kind(Visit visit) {
  for (std::uint32_t kinds = device_kinds.load(std::memory_order_relaxed); kinds != 0; kinds &= kinds - 1) {
    visit(static_cast<c10::DeviceType>(std::countr_zero(kinds)));
  }
}

c10::DeviceIndex device_count(c10::DeviceType kind) {
  const auto* const guard = c10::impl::device_guard_impl_registry[static_cast<std::size_t>(kind)].load();
  return guard != nullptr ? std::min<c10::DeviceIndex>(guard->deviceCount(), kDevices) : 1;
}

c10::DeviceAllocator* caching_allocator(c10::DeviceType kind) {
  auto* const allocator = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(kind));
  return allocator != nullptr && allocator->initialized() ? allocator : nullptr;
}

constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

std::uint64_t positive(std::int64_t value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

DeviceMemory memory_of(c10::Device device, c10::DeviceAllocator* allocator) {
  DeviceMemory memory;
  memory.device = device;
  if (allocator != nullptr) {
    const auto stats = allocator->getDeviceStats(device.index());
    memory.live = positive(stats.allocation[kAll].current);
    memory.live_bytes = positive(stats.allocated_bytes[kAll].current);
    memory.reserved_bytes = positive(stats.reserved_bytes[kAll].current);
    memory.peak_bytes = positive(stats.allocated_bytes[kAll].peak);
  } else if (const auto* const figures = reported_of(device)) {
    memory.live = figures->live.load(std::memory_order_relaxed);
    memory.live_bytes = figures->live_bytes.load(std::memory_order_relaxed);
    memory.reserved_bytes = figures->reserved_bytes.load(std::memory_order_relaxed);
    memory.peak_bytes = figures->peak_bytes.load(std::memory_order_relaxed);
  }
  memory.cached_bytes = memory.reserved_bytes - std::min(memory.live_bytes, memory.reserved_bytes);
  return memory;
}

DeviceMemory pinned_memory_of(c10::DeviceType kind, at::HostAllocator& allocator) {
  const auto stats = allocator.get_stats();
  DeviceMemory memory;
  memory.device = c10::Device(kind);
  memory.pinned = true;
  memory.live = positive(stats.active_requests.current);
  memory.live_bytes = positive(stats.active_bytes.current);
  memory.reserved_bytes = positive(stats.allocated_bytes.current);
  memory.peak_bytes = positive(stats.active_bytes.peak);
  memory.cached_bytes = memory.reserved_bytes - std::min(memory.live_bytes, memory.reserved_bytes);
  return memory;
}

void add_memory_of(c10::DeviceType kind, std::vector<DeviceMemory>& all) {
  auto* const allocator = caching_allocator(kind);
  for (c10::DeviceIndex index = 0; index < device_count(kind); ++index) {
    auto memory = memory_of(c10::Device(kind, index), allocator);
    if (memory.reserved_bytes != 0 || memory.peak_bytes != 0) {
      all.push_back(memory);
    }
  }
  if (auto* const pinned = pinned_allocator(kind)) {
    auto memory = pinned_memory_of(kind, *pinned);
    if (memory.reserved_bytes != 0 || memory.peak_bytes != 0) {
      all.push_back(memory);
    }
  }
}

void empty_caches_of(c10::DeviceType kind) {
  for (c10::DeviceIndex index = 0; index < device_count(kind); ++index) {
    if (is_capturing(c10::Device(kind, index))) {
      return; // that would break the capture
    }
  }
  if (auto* const allocator = caching_allocator(kind)) {
    allocator->emptyCache();
  }
  if (auto* const pinned = pinned_allocator(kind)) {
    pinned->empty_cache();
  }
}

void settle(c10::DeviceType kind) {
  watch_pinned(kind);
  if (kind == c10::DeviceType::CUDA) {
    watch_cuda();
  }
}

} // namespace

std::size_t figures_index(const c10::StorageImpl& storage) {
  const bool pinned = device_kinds.load(std::memory_order_relaxed) != 0 && storage.device_type() == c10::DeviceType::CPU &&
      pinned_for(const_cast<c10::StorageImpl&>(storage)._mutable_data_ptr_no_checks().get_deleter());
  return pinned ? kPinnedFigures : device_index(storage.device_type());
}

void note_device_memory(void* bytes, std::int64_t size, std::size_t live, std::size_t reserved_bytes,
                        c10::Device device) noexcept {
  if (device.is_cpu() || device.is_meta()) {
    return;
  }
  add_kind(reporting_kinds, device.type());
  const bool first = add_kind(device_kinds, device.type());
  if (auto* const figures = reported_of(device)) {
    count(*figures, size, live, reserved_bytes);
  }
  auto* const thread = core::current_record;
  if (first) {
    note_current_streams();
  }
  if (thread == nullptr || (device.is_cuda() && cuda_is_traced())) {
    return;
  }
  if (size < 0) {
    if (!thread->births.empty()) {
      thread->births.forget(bytes);
    }
    return;
  }
  try {
    note_birth(*thread, bytes);
  } catch (...) {
    // Memory is short: the tensor is nobody's.
  }
}

bool born_on_device(core::ThreadRecord& thread, const c10::DataPtr& bytes) {
  if (bytes.device().is_meta()) {
    return false;
  }
  add_kind(device_kinds, bytes.device().type()); // its allocator may not report
  settle_devices();
  if (bytes.get() == nullptr || !thread.births.take(bytes.get())) {
    if (cuda_pool_seen()) {
      platform::report_trouble(platform::Trouble::graph_pool,
                               "memory of a CUDA graph's or another private pool is left to it: scopes release nothing "
                               "of it");
    }
    return false;
  }
  if (!(bytes.device().is_cuda() && cuda_is_traced()) && is_capturing(bytes.device())) {
    platform::report_trouble(platform::Trouble::graph_pool,
                             "what is made while a device's graph is captured is left to the graph: scopes release "
                             "nothing of it");
    return false;
  }
  return true;
}

void settle_devices() noexcept {
  const auto kinds = device_kinds.load(std::memory_order_relaxed);
  if (kinds == settled_kinds.load(std::memory_order_acquire)) [[likely]] {
    return;
  }
  try {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const auto before = settled_kinds.load(std::memory_order_relaxed);
    for (std::uint32_t fresh = kinds & ~before; fresh != 0; fresh &= fresh - 1) {
      settle(static_cast<c10::DeviceType>(std::countr_zero(fresh)));
    }
    settled_kinds.store(before | kinds, std::memory_order_release);
  } catch (...) {
  }
}

std::vector<DeviceMemory> device_memory() {
  std::vector<DeviceMemory> all;
  for_each_kind([&](c10::DeviceType kind) {
    try {
      add_memory_of(kind, all);
    } catch (const c10::Error&) {
      // An allocator that can't be asked now has no figures.
    }
  });
  return all;
}

void empty_device_caches() noexcept {
  for_each_kind([](c10::DeviceType kind) {
    try {
      empty_caches_of(kind);
    } catch (const std::exception& error) {
      platform::report_trouble(platform::Trouble::device_unseen,
                               std::string("the cache of a device was not emptied: ") + error.what());
    }
  });
}

void report_device_out_of_memory(c10::Device device, std::uint64_t requested, std::uint64_t total,
                                 std::uint64_t free) noexcept {
  try {
    if (core::ledger_is_kept) {
      const std::string detail = std::to_string(free) + " of its " + std::to_string(total) + " bytes are free";
      note_out_of_memory({device, requested, 0, detail.c_str()});
      return;
    }
    std::ostringstream text;
    text << "out of memory on " << device << ": " << requested << " byte(s) asked for, " << free << " of " << total
         << " free";
    platform::print_line(text.str());
  } catch (...) {
  }
}

} // namespace tensorscope::hooks
