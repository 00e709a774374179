// SPDX-License-Identifier: Apache-2.0
// Sees CPU bytes being born and freed, by standing in front of LibTorch's CPU allocator. Installed once, at load.
#pragma once

#include "core/thread_record.h"

#include <c10/core/Allocator.h>

namespace tensorscope::hooks {

/// Puts our allocator in front of the present one. Call while no other thread allocates.
void install_cpu_allocator();

/// Has allocations fail that would take the bytes alive above `most`; 0: none do. False where the allocator behind ours
/// is not LibTorch's own, whose bytes alone are counted. Call at load.
bool limit_cpu_bytes(std::uint64_t most);

/// Whether LibTorch still asks our allocator; another one may have been set since.
bool cpu_allocator_in_place();

/// Whether the allocator behind ours is LibTorch's own, whose bytes can be counted. True before ours is there.
bool cpu_bytes_are_counted();

/// Whether bytes with this deleter were allocated by `thread` through our allocator. True for all if the
/// allocator behind ours is not LibTorch's own: bytes then carry no mark.
bool allocated_by(const core::ThreadRecord& thread, c10::DeleterFnPtr deleter);

} // namespace tensorscope::hooks
