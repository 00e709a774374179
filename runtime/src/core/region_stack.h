// SPDX-License-Identifier: Apache-2.0
// Opening and closing regions on a thread: a stack of scopes over at most one session. Called by the API only,
// always on the thread whose record it is given.
#pragma once

#include "core/thread_record.h"

namespace tensorscope::core {

/// Opens a region as the innermost one. The thread's depths and births are set aside until it is popped.
Region& push_region(ThreadRecord& thread, RegionKind kind, const std::source_location& where,
                    const Liveness& liveness);

/// Takes `region` off the stack, wherever in it, and gives it to the caller; restores depths and births if it
/// was the innermost one, hands them to the region inside it otherwise.
std::unique_ptr<Region> pop_region(ThreadRecord& thread, Region& region) noexcept;

/// Empties a region and keeps it for the next opening. Regions are never freed: an object of a scope may outlive its
/// region's use, and must find out.
void recycle_region(ThreadRecord& thread, std::unique_ptr<Region> region) noexcept;

/// Unwinds innermost regions whose objects died on other threads. What they own is left alive.
void drop_abandoned(ThreadRecord& thread) noexcept;

/// The number of the region that was opened last, on any thread.
std::uint64_t last_region_number() noexcept;

/// Whether a scope is open on this thread (a session is none).
bool inside_scope(const ThreadRecord& thread);

/// The region of this thread that owns `storage`; null if none does.
Region* owner_of(const ThreadRecord& thread, const void* storage);

} // namespace tensorscope::core
