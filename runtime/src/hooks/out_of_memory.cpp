// SPDX-License-Identifier: Apache-2.0
// Hands it on, once at a time on a thread.
#include "hooks/out_of_memory.h"

#include <atomic>

namespace tensorscope::hooks {
namespace {

constinit std::atomic<void (*)(const OutOfMemory&) noexcept> out_of_memory_hook{nullptr};
constinit thread_local bool at_it = false;

} // namespace

void note_out_of_memory(const OutOfMemory& what) noexcept {
  const auto hook = out_of_memory_hook.load(std::memory_order_acquire);
  if (hook != nullptr && !at_it) {
    at_it = true;
    hook(what);
    at_it = false;
  }
}

void set_out_of_memory_hook(void (*hook)(const OutOfMemory&) noexcept) noexcept {
  out_of_memory_hook.store(hook, std::memory_order_release);
}

} // namespace tensorscope::hooks
