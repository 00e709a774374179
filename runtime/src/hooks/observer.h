// SPDX-License-Identifier: Apache-2.0
// Watches operators. Two observers: one on all threads that only marks beginnings and ends (for freeing after an
// epoch), one on threads with a scope or session that sees results (for ownership).
#pragma once

#include "core/thread_record.h"

namespace tensorscope::hooks {

/// Puts the marking observer in place, for good. Call once. Threads that are in an operator already are
/// noted as unseen.
void install_observer();

/// Makes sure that this thread's results are seen. It stays so until a number of operators after the last
/// region has closed, so that a scope in a loop costs no set-up each time.
void watch_results(core::ThreadRecord& thread);

/// Called by the marking observer after an operator has ended while memory waits for epochs.
void set_epoch_hook(void (*hook)() noexcept) noexcept;
/// Says whether memory waits for epochs.
void set_epoch_waiting(bool waiting) noexcept;

} // namespace tensorscope::hooks
