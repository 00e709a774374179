// SPDX-License-Identifier: Apache-2.0
// Which streams of devices have been in use, so that memory is never freed under a running kernel.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/StorageImpl.h>

#include <atomic>
#include <cstdint>

namespace tensorscope::hooks {

/// A bit for each kind of device that was met.
extern constinit std::atomic<std::uint32_t> device_kinds;
/// The same for those whose allocators report, so that their streams are known since the first allocation.
extern constinit std::atomic<std::uint32_t> reporting_kinds;

inline std::uint32_t bit_of(c10::DeviceType type) {
  return std::uint32_t{1} << static_cast<unsigned>(type);
}
/// Adds a kind to a set; false if it was there.
inline bool add_kind(std::atomic<std::uint32_t>& kinds, c10::DeviceType type) noexcept {
  return (kinds.load(std::memory_order_relaxed) & bit_of(type)) == 0 &&
      (kinds.fetch_or(bit_of(type), std::memory_order_relaxed) & bit_of(type)) == 0;
}

/// Notes the streams that are current on this thread, for each device of the kinds in use.
void note_current_streams() noexcept;

/// The same on the way of an operator: nothing, while only the CPU is used.
inline void note_streams_of_operator() noexcept {
  if (device_kinds.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    note_current_streams();
  }
}

/// Tells the allocator of the storage's bytes which streams may be reading them, so that it gives them to nobody else
/// before those are done. False if that can't be known: then the bytes must stay until their last handle goes.
/// Never waits for a device.
bool guard_by_streams(c10::StorageImpl& storage) noexcept;

/// Whether work of this thread for `device` is being captured into a graph.
bool is_capturing(c10::Device device) noexcept;

} // namespace tensorscope::hooks
