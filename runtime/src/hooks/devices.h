// SPDX-License-Identifier: Apache-2.0
// Devices other than the CPU, and pinned memory. Their allocators tell c10 of each allocation and free, for profilers; an
// interposer (interpose/device_memory.cpp) lets us hear it, too. No header of any device's own is needed for that. What
// only CUDA's allocator tells is in cuda_part.h.
#pragma once

#include "core/thread_record.h"

#include <tensorscope/detail/export.h>

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/StorageImpl.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace tensorscope::hooks {

/// The figures of pinned memory have a place of their own among those of kinds of device.
inline constexpr std::size_t kPinnedFigures = core::kDeviceKinds - 2;

/// Index of the figures for a storage.
std::size_t figures_index(const c10::StorageImpl& storage);

/// An allocator gave out `size` bytes of `device`, or took them back if `size` is negative; `live` and `reserved` are what
/// it says it has in all. Runs under the allocator's own lock.
TENSORSCOPE_API void note_device_memory(void* bytes, std::int64_t size, std::size_t live, std::size_t reserved,
                                        c10::Device device) noexcept;

/// Whether `bytes`, on a device, were given out in the operator that ends now on this thread, to be its result.
bool born_on_device(core::ThreadRecord& thread, const c10::DataPtr& bytes);

/// Completes what could not be done under an allocator's lock for kinds of device that came into use since: to be called
/// where a region opens, or a result was met. Costs two loads when there is nothing to do.
void settle_devices() noexcept;

/// What an allocator has in hand. Three figures, since a cached block is none of the program's and yet not free.
struct DeviceMemory {
  c10::Device device = c10::Device(c10::DeviceType::CPU);
  bool pinned = false;        ///< memory of the host that `device` reads
  std::uint64_t live = 0;     ///< allocations
  std::uint64_t live_bytes = 0;
  std::uint64_t cached_bytes = 0;
  std::uint64_t reserved_bytes = 0; ///< taken from the system: live and cached
  std::uint64_t peak_bytes = 0;
};

/// For each device that has allocated, and its pinned memory.
std::vector<DeviceMemory> device_memory();

/// Has allocators give cached memory back to the system, but where a graph is being captured.
void empty_device_caches() noexcept;

/// To be called when an allocator has no memory left, before its exception leaves, under no lock. A whole report at level
/// `full`, else a line.
void report_device_out_of_memory(c10::Device device, std::uint64_t requested, std::uint64_t total,
                                 std::uint64_t free) noexcept;

} // namespace tensorscope::hooks
