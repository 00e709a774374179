// SPDX-License-Identifier: Apache-2.0
// Asks the dynamic linker.
#include "platform/loaded_code.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>

namespace tensorscope::platform {
namespace {

constinit std::atomic<std::uint64_t> noted{0};
constinit std::atomic<bool> all_are_noted{false};

// Since glibc 2.35.
#if defined(DLFO_EH_SEGMENT_TYPE)
#define TENSORSCOPE_FINDS_WITHOUT_LOCK 1
#endif

#if !defined(TENSORSCOPE_FINDS_WITHOUT_LOCK)
struct Search {
  std::uintptr_t address;
  LoadedCode result;
};

int look_into(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  void* header = nullptr;
  bool inside = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    inside = inside || (segment.p_type == PT_LOAD && search.address - begin < segment.p_memsz);
    header = segment.p_type == PT_GNU_EH_FRAME ? reinterpret_cast<void*>(begin) : header;
  }
  if (inside) {
    search.result = {true, header};
  }
  return inside ? 1 : 0;
}
#endif

} // namespace

LoadedCode loaded_code_at(std::uintptr_t address) noexcept {
#if defined(TENSORSCOPE_FINDS_WITHOUT_LOCK)
  dl_find_object found{};
  if (::_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) {
    return {};
  }
  return {true, found.dlfo_eh_frame};
#else
  Search search{address, {}};
  ::dl_iterate_phdr(&look_into, &search);
  return search.result;
#endif
}

void note_unloading() noexcept {
  noted.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t unloads() noexcept {
  if (all_are_noted.load(std::memory_order_relaxed)) [[likely]] {
    return noted.load(std::memory_order_relaxed);
  }
  std::uint64_t count = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        *static_cast<std::uint64_t*>(data) = info->dlpi_subs;
        return 1;
      },
      &count);
  return count;
}

void unloading_is_noted() noexcept {
  all_are_noted.store(true, std::memory_order_relaxed);
}

} // namespace tensorscope::platform
