// SPDX-License-Identifier: Apache-2.0
// Watches operators: marks their beginnings and ends (for freeing after an epoch), and on threads with a scope or session
// sees results (for ownership). Operators within operators are not observed.
#pragma once

#include "core/thread_record.h"

namespace tensorscope::hooks {

/// Puts the observer in place, for good. Call once. Threads that are in an operator already are
/// noted as unseen.
void install_observer();

/// Marks that this thread is in an operator, or in a call that is taken as one.
void enter_operator(core::ThreadRecord& thread) noexcept;
void leave_operator(core::ThreadRecord& thread) noexcept;

/// Switches this thread's observers off, since nothing that runs now matters to us; false if they stay on, because
/// the program has observers of its own, which must go on seeing everything.
bool stop_observing(core::ThreadRecord& thread) noexcept;
/// Switches them on again.
void observe_again(core::ThreadRecord& thread) noexcept;

/// A region opened: user code runs in it, so observers are on. Undone when it has been taken off the stack.
void observe_region(core::ThreadRecord& thread, core::Region& region) noexcept;
void leave_region(core::ThreadRecord& thread, const core::Region& region) noexcept;

/// An observer is being added to LibTorch. If it is not ours, observers are never switched off from then on.
void note_added_observer(const void* start) noexcept;

/// Called by the marking observer after an operator has ended while memory waits for epochs.
void set_epoch_hook(void (*hook)() noexcept) noexcept;
/// Says whether memory waits for epochs.
void set_epoch_waiting(bool waiting) noexcept;

} // namespace tensorscope::hooks
