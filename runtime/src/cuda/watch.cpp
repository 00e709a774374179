// SPDX-License-Identifier: Apache-2.0
// libtensorscope_cuda.so: asks CUDA's caching allocator to tell of what it does. Loaded by hooks/cuda_part.cpp where a
// program has LibTorch's CUDA libraries; nothing here touches a GPU.
#include "hooks/cuda_part.h"

#include <c10/cuda/CUDACachingAllocator.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

namespace {

using c10::cuda::CUDACachingAllocator::CUDAAllocator;
using c10::cuda::CUDACachingAllocator::TraceEntry;
using tensorscope::hooks::CudaEvents;
using tensorscope::hooks::CudaWatch;

template <std::size_t size>
void copy_line(char (&to)[size], const std::string& from) {
  const std::size_t length = std::min({from.size(), from.find('\n'), size - 1});
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

/// Runs under the allocator's lock: asks nothing of it, and waits for nothing.
void tell(const CudaEvents& events, const TraceEntry& entry) noexcept {
  const void* const bytes = reinterpret_cast<const void*>(entry.addr_);
  if (entry.action_ == TraceEntry::ALLOC) {
    events.allocated(bytes, entry.mempool_ != c10::MempoolId_t{0, 0});
  } else if (entry.action_ == TraceEntry::FREE_REQUESTED) {
    events.freed(bytes);
  }
}

/// Whether `attach` was taken; else the allocator's own words go to `watch`.
template <class Attach>
bool attached(CudaWatch& watch, Attach attach) {
  try {
    attach();
    return true;
  } catch (const c10::Error& error) {
    copy_line(watch.trouble, error.what_without_backtrace());
  } catch (const std::exception& error) {
    copy_line(watch.trouble, error.what());
  }
  return false;
}

} // namespace

extern "C" __attribute__((visibility("default"))) CudaWatch tensorscope_watch_cuda(const CudaEvents& events) {
  CudaWatch watch;
  CUDAAllocator* const allocator = c10::cuda::CUDACachingAllocator::get();
  if (allocator == nullptr) {
    copy_line(watch.trouble, "there is none");
    return watch;
  }
  copy_line(watch.allocator, allocator->name());
  watch.traced = attached(watch, [&] {
    allocator->attachAllocatorTraceTracker([&events](const TraceEntry& entry) { tell(events, entry); });
  });
  watch.observed = attached(watch, [&] {
    allocator->attachOutOfMemoryObserver([&events](std::int64_t device, std::size_t requested, std::size_t total, std::size_t free) {
      events.out_of_memory(static_cast<int>(device), requested, total, free);
    });
  });
  return watch;
}
