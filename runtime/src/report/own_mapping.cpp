// SPDX-License-Identifier: Apache-2.0
// Between two pages that nobody may touch.
#include "report/own_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace tensorscope::report {
namespace {

std::size_t page() noexcept {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

} // namespace

OwnMapping::OwnMapping(std::size_t bytes) noexcept : bytes_((bytes + page() - 1) / page() * page()) {
  void* const memory =
      ::mmap(nullptr, bytes_ + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return;
  }
  data_ = static_cast<char*>(memory) + page();
  if (::mprotect(data_, bytes_, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(memory, bytes_ + 2 * page());
    data_ = nullptr;
  }
}

OwnMapping::~OwnMapping() {
  if (data_ != nullptr) {
    ::munmap(static_cast<char*>(data_) - page(), bytes_ + 2 * page());
  }
}

AddressRange OwnMapping::range() const noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(data_);
  return {begin, data_ != nullptr ? begin + bytes_ : begin};
}

} // namespace tensorscope::report
