// SPDX-License-Identifier: Apache-2.0
// Through the kernel, which refuses where a read would be a crash.
#include "platform/memory.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <sys/uio.h>
#include <unistd.h>

namespace tensorscope::platform {
namespace {

using Page = std::array<char, 4096>;

bool read_bytes(const void* from, Page& to, std::size_t size) noexcept {
  ::iovec local{to.data(), size};
  ::iovec remote{const_cast<void*>(from), size};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<::ssize_t>(size);
}

} // namespace

bool same_bytes(const void* one, const void* other, std::size_t size) noexcept {
  constexpr std::size_t kPages = 4;
  Page first;
  Page second;
  for (std::size_t at = 0; at < std::min(size, kPages * first.size()); at += first.size()) {
    const std::size_t part = std::min(first.size(), size - at);
    if (!read_bytes(static_cast<const char*>(one) + at, first, part) ||
        !read_bytes(static_cast<const char*>(other) + at, second, part) ||
        std::memcmp(first.data(), second.data(), part) != 0) {
      return false;
    }
  }
  return true;
}

} // namespace tensorscope::platform
