// SPDX-License-Identifier: Apache-2.0
// Pinned memory: bytes of the host that a device reads. LibTorch has an allocator of it for each kind of device, which we
// stand before as we do before the CPU's.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <optional>

namespace at {
struct HostAllocator;
}

namespace tensorscope::hooks {

/// Puts our allocator in front of that of pinned memory for `kind`, if there is one. Twice is once.
void watch_pinned(c10::DeviceType kind) noexcept;

/// The kind of device that bytes with this deleter are pinned for.
std::optional<c10::DeviceType> pinned_for(c10::DeleterFnPtr deleter) noexcept;

/// The allocator of pinned memory that stands behind ours; null if there is none.
at::HostAllocator* pinned_allocator(c10::DeviceType kind) noexcept;

/// Tells the allocator that the stream may be reading the bytes.
void record_pinned(const c10::DataPtr& bytes, c10::Stream stream);

} // namespace tensorscope::hooks
