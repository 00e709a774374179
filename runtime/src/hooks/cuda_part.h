// SPDX-License-Identifier: Apache-2.0
// What only CUDA's caching allocator tells: which pool memory is of, and that there is none left. Lives in a library of
// its own (libtensorscope_cuda.so), which needs LibTorch's CUDA libraries, and is loaded where a program has them. The
// program runs without it, and without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tensorscope::hooks {

/// What the part calls. The first two run under the allocator's lock.
struct CudaEvents {
  void (*allocated)(const void* bytes, bool of_a_pool) noexcept;
  void (*freed)(const void* bytes) noexcept;
  void (*out_of_memory)(int device, std::size_t requested, std::size_t total, std::size_t free) noexcept;
};

/// How far CUDA's allocator can be watched.
struct CudaWatch {
  bool traced = false;         ///< it tells of each allocation
  bool observed = false;       ///< it tells when it has none left
  char allocator[64] = {};     ///< its name
  char trouble[256] = {};      ///< why it tells less, in its own words
};

/// Begins to watch; called once, after the allocator is initialized.
using WatchCuda = CudaWatch (*)(const CudaEvents& events);
inline constexpr char kWatchCuda[] = "tensorscope_watch_cuda";

/// Loads the part and has it watch. Once; says in one line what can't be had.
void watch_cuda() noexcept;

/// Whether CUDA's allocator tells of each allocation, pools included.
bool cuda_is_traced() noexcept;

/// Whether memory of a graph's or another private pool was given out since the last call.
bool cuda_pool_seen() noexcept;

} // namespace tensorscope::hooks
