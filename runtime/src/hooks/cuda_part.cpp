// SPDX-License-Identifier: Apache-2.0
// Loads libtensorscope_cuda.so from beside this library.
#include "hooks/cuda_part.h"

#include "hooks/birth_notes.h"
#include "hooks/devices.h"
#include "platform/health.h"

#include <c10/core/Device.h>

#include <dlfcn.h>

#include <atomic>
#include <string>

namespace tensorscope::hooks {
namespace {

constinit std::atomic<bool> traced{false};
constinit std::atomic<bool> pool_seen{false};

void note_allocated(const void* bytes, bool of_a_pool) noexcept {
  auto* const thread = core::current_record;
  if (thread == nullptr) {
    return;
  }
  if (of_a_pool) { // of a graph's: it is read again whenever the graph runs
    pool_seen.store(true, std::memory_order_relaxed);
    return;
  }
  try {
    note_birth(*thread, bytes);
  } catch (...) {
    // Memory is short: the tensor is nobody's.
  }
}

void note_freed(const void* bytes) noexcept {
  auto* const thread = core::current_record;
  if (thread != nullptr && !thread->births.empty()) {
    thread->births.forget(bytes);
  }
}

void note_out_of_memory(int device, std::size_t requested, std::size_t total, std::size_t free) noexcept {
  const c10::Device where(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device));
  report_device_out_of_memory(where, requested, total, free);
}

constexpr CudaEvents events{&note_allocated, &note_freed, &note_out_of_memory};

WatchCuda load_part(std::string& problem) {
  Dl_info here{};
  if (::dladdr(&traced, &here) == 0 || here.dli_fname == nullptr) {
    problem = "this library's own place is unknown";
    return nullptr;
  }
  std::string file = here.dli_fname;
  file.replace(file.rfind('/') + 1, std::string::npos, "libtensorscope_cuda.so");
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const error = ::dlerror();
    problem = error != nullptr ? error : file + " can't be loaded";
    return nullptr;
  }
  return reinterpret_cast<WatchCuda>(::dlsym(library, kWatchCuda));
}

} // namespace

void watch_cuda() noexcept {
  static std::atomic<bool> done{false};
  if (done.exchange(true)) {
    return;
  }
  try {
    std::string problem;
    const WatchCuda watch = load_part(problem);
    if (watch == nullptr) {
      platform::report_trouble(platform::Trouble::device_unseen,
                               "CUDA's allocator is watched by its reports alone (" + problem +
                                   "): out of memory is not reported, and graphs are known only while they are captured");
      return;
    }
    const CudaWatch found = watch(events);
    traced.store(found.traced, std::memory_order_release);
    if (found.trouble[0] != '\0') {
      platform::report_trouble(platform::Trouble::device_unseen,
                               std::string("CUDA's allocator \"") + found.allocator + "\" tells less than the native one (" +
                                   found.trouble + "): what it does not tell of, no scope owns, and what is released " +
                                   "goes with its last handle");
    }
  } catch (...) {
    // Memory is short: CUDA's reports must do.
  }
}

bool cuda_is_traced() noexcept {
  return traced.load(std::memory_order_acquire);
}

bool cuda_pool_seen() noexcept {
  return pool_seen.exchange(false, std::memory_order_relaxed);
}

} // namespace tensorscope::hooks
