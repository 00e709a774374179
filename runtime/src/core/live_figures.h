// SPDX-License-Identifier: Apache-2.0
// What LibTorch's CPU allocator gave and has not got back, summed up from the threads' records.
#pragma once

#include <cstdint>

namespace tensorscope::core {

struct Live {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

/// Of all threads; threads that allocate or free meanwhile may be in it by halves.
Live live_in_process() noexcept;

} // namespace tensorscope::core
