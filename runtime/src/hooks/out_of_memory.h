// SPDX-License-Identifier: Apache-2.0
// An allocator is about to say that there is no memory. Called by the hooks of all kinds of device before the exception
// leaves; what is said of it is the business of report/out_of_memory.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace tensorscope::hooks {

struct OutOfMemory {
  c10::Device device = c10::kCPU;
  std::uint64_t requested = 0; ///< bytes
  std::uint64_t limit = 0;     ///< of `limit_mb`, in bytes; 0: the system's own, or the device's
  const char* detail = "";     ///< what else the allocator knows, in words: what it holds in its caches, what is free
};

/// To be called with no lock held that an allocation or a deallocation takes. Never throws, allocates on no device, and
/// does nothing while the calling thread is at it already.
void note_out_of_memory(const OutOfMemory& what) noexcept;

/// Who is told. Set once, at load, if at all.
void set_out_of_memory_hook(void (*hook)(const OutOfMemory&) noexcept) noexcept;

} // namespace tensorscope::hooks
