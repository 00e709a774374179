// SPDX-License-Identifier: Apache-2.0
// The process-wide barrier, by Linux's membarrier system call.
#include "platform/barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tensorscope::platform {

constinit std::atomic<bool> threads_need_own_barrier{true};

void prepare_barrier() noexcept {
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) {
    threads_need_own_barrier.store(false);
  }
}

void barrier_on_all_threads() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!threads_need_own_barrier.load(std::memory_order_relaxed) &&
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
    prepare_barrier(); // a forked child may have to say again that it wants this
    ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  }
}

} // namespace tensorscope::platform
