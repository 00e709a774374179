// SPDX-License-Identifier: Apache-2.0
// A memory barrier that one thread puts into all others, so that they need none on their own way.
#pragma once

#include <atomic>

namespace tensorscope::platform {

/// Set when the system has no such barrier: every thread must then use a fence of its own.
extern constinit std::atomic<bool> threads_need_own_barrier;

/// Call once before the first use.
void prepare_barrier() noexcept;

/// When this returns, every running thread has passed a full barrier since it was called.
void barrier_on_all_threads() noexcept;

/// The other side: between marking an operator's beginning and its first look at data.
inline void barrier_of_this_thread() noexcept {
  if (threads_need_own_barrier.load(std::memory_order_relaxed)) [[unlikely]] {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } else {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

} // namespace tensorscope::platform
