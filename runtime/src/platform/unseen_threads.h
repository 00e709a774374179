// SPDX-License-Identifier: Apache-2.0
// Threads that were there before the library watched operators: one of them may be in an operator that nobody
// saw begin. Used by core/epochs.
#pragma once

#include <cstdint>

namespace tensorscope::platform {

/// Notes all threads of this process but the calling one.
void note_threads() noexcept;

/// In a child process: there are none.
void forget_threads() noexcept;

/// Whether a noted thread may still be in that first operator. It is struck off when `observed` says that a
/// later operator of it was seen, when it has ended, when it sleeps outside LibTorch, and after half a minute.
bool unseen_threads_remain(bool (*observed)(std::int32_t system_id)) noexcept;

} // namespace tensorscope::platform
