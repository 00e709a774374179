// SPDX-License-Identifier: Apache-2.0
// The C library's heap: how large a block is, and giving free memory back.
#pragma once

#include <cstddef>

#include <malloc.h>

namespace tensorscope::platform {

/// Bytes that the heap set aside for `block`, which came from malloc or posix_memalign.
inline std::size_t block_size(void* block) noexcept { return ::malloc_usable_size(block); }

/// Gives free memory back to the system.
inline void trim_heap() noexcept { ::malloc_trim(0); }

} // namespace tensorscope::platform
