// SPDX-License-Identifier: Apache-2.0
// A scan of all writable mappings. They may change while they are read, so each is read through the kernel, which
// refuses what is gone.
#include "report/handles_search.h"

#include <fcntl.h>
#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

namespace tensorscope::report {
namespace {

constexpr std::size_t kBlockWords = std::size_t{1} << 15; // 256 KiB: stays in a core's cache
constexpr std::array<std::string_view, 4> kSanitizers{"liblsan", "libasan", "libtsan", "libhwasan"};

struct Mapping {
  AddressRange range;
  bool is_static = false; ///< variables of the program or a library
};

/// More than the machine has: an address space that is only reserved, such as a sanitizer's shadow.
bool is_reservation(const AddressRange& range) {
  const auto physical = static_cast<std::uintptr_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return range.second - range.first > physical;
}

/// Tells which pages were ever written: reserved memory can be far larger than what is used of it.
class UsedPages {
 public:
  UsedPages() : map_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  ~UsedPages() {
    if (map_ >= 0) {
      ::close(map_);
    }
  }
  UsedPages(const UsedPages&) = delete;
  UsedPages& operator=(const UsedPages&) = delete;

  /// Whether any page of the range is in memory or swapped out; true if that can't be known.
  bool any(std::uintptr_t begin, std::size_t bytes) const {
    static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    constexpr std::uint64_t kPresentOrSwapped = std::uint64_t{3} << 62;
    std::array<std::uint64_t, kBlockWords * sizeof(std::uintptr_t) / 4096 + 2> entries{};
    const std::size_t count = (begin + bytes - 1) / page - begin / page + 1;
    const auto place = static_cast<off_t>(begin / page * sizeof(entries[0]));
    if (count > entries.size() ||
        ::pread(map_, entries.data(), count * sizeof(entries[0]), place) != static_cast<ssize_t>(count * sizeof(entries[0]))) {
      return true;
    }
    return std::any_of(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count),
                       [](std::uint64_t entry) { return (entry & kPresentOrSwapped) != 0; });
  }

 private:
  int map_;
};

/// A sanitizer's allocator keeps addresses of blocks it gave out in variables of its own.
bool is_sanitizer(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return std::any_of(kSanitizers.begin(), kSanitizers.end(),
                     [&](std::string_view sanitizer) { return name.substr(0, sanitizer.size()) == sanitizer; });
}

/// The variables of the program and its libraries, sorted. As the loader has it: what a reader of debug information maps is
/// a file, too, and a heap may follow it without a gap.
std::vector<AddressRange> static_memory() {
  std::vector<AddressRange> ranges;
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* list) {
        for (std::size_t i = 0; i < module->dlpi_phnum && !is_sanitizer(module->dlpi_name); ++i) {
          const auto& segment = module->dlpi_phdr[i];
          const std::uintptr_t begin = module->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0) {
            static_cast<std::vector<AddressRange>*>(list)->emplace_back(begin, begin + segment.p_memsz);
          }
        }
        return 0;
      },
      &ranges);
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

/// `range` without the parts in `skipped`, which is sorted.
std::vector<AddressRange> without(AddressRange range, const std::vector<AddressRange>& skipped) {
  std::vector<AddressRange> left;
  auto next = std::lower_bound(skipped.begin(), skipped.end(), AddressRange{range.first, 0});
  if (next != skipped.begin() && std::prev(next)->second > range.first) {
    --next;
  }
  for (; next != skipped.end() && next->first < range.second; ++next) {
    if (next->first > range.first) {
      left.emplace_back(range.first, next->first);
    }
    range.first = std::max(range.first, next->second);
  }
  if (range.first < range.second) {
    left.push_back(range);
  }
  return left;
}

/// Readable and writable mappings of this process, but the stack that holds `own_stack`.
std::vector<Mapping> writable_memory(std::uintptr_t own_stack) {
  const std::vector<AddressRange> statics = static_memory();
  std::vector<Mapping> mappings;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    AddressRange range;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &range.first, &range.second, rights) != 3 ||
        std::strncmp(rights, "rw", 2) != 0 || (range.first <= own_stack && own_stack < range.second) || is_reservation(range)) {
      continue;
    }
    for (const AddressRange& part : without(range, statics)) {
      mappings.push_back({part, false});
    }
    for (const AddressRange& variables : statics) {
      const AddressRange part{std::max(range.first, variables.first), std::min(range.second, variables.second)};
      if (part.first < part.second) {
        mappings.push_back({part, true});
      }
    }
  }
  return mappings;
}

class Search {
 public:
  explicit Search(const std::vector<std::uintptr_t>& complements) : found_(complements.size(), HandlePlace::nowhere) {
    for (std::size_t i = 0; i < complements.size(); ++i) {
      wanted_.emplace_back(complements[i], i);
    }
    std::sort(wanted_.begin(), wanted_.end());
  }

  void look_in(AddressRange range, HandlePlace place) {
    // The block is ours and would be found; its words are complemented as soon as they are read.
    range.first = (range.first + sizeof(std::uintptr_t) - 1) & ~(sizeof(std::uintptr_t) - 1);
    while (range.first < range.second) {
      const std::size_t bytes = std::min(range.second - range.first, kBlockWords * sizeof(std::uintptr_t));
      if (!used_.any(range.first, bytes)) {
        range.first += bytes;
        continue;
      }
      iovec here{block_.data(), bytes};
      iovec there{reinterpret_cast<void*>(range.first), bytes};
      const auto got = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
      if (got <= 0) {
        can_read_ = can_read_ && errno == EFAULT; // a mapping that is gone holds nothing
        return;
      }
      look_in_block(static_cast<std::size_t>(got) / sizeof(std::uintptr_t), place);
      range.first += static_cast<std::size_t>(got);
    }
  }

  AddressRange own_block() const {
    const auto begin = reinterpret_cast<std::uintptr_t>(block_.data());
    return {begin, begin + kBlockWords * sizeof(std::uintptr_t)};
  }
  /// Where nothing could be read, handles may be anywhere.
  std::vector<HandlePlace> found() const {
    return can_read_ ? found_ : std::vector<HandlePlace>(found_.size(), HandlePlace::elsewhere);
  }
  void cannot_read() { can_read_ = false; }

 private:
  void look_in_block(std::size_t words, HandlePlace place) {
    const std::uintptr_t least = wanted_.front().first;
    const std::uintptr_t most = wanted_.back().first;
    for (std::size_t i = 0; i < words; ++i) {
      const std::uintptr_t word = ~block_[i];
      block_[i] = 0;
      if (word < least || word > most) {
        continue;
      }
      auto hit = std::lower_bound(wanted_.begin(), wanted_.end(), std::pair<std::uintptr_t, std::size_t>(word, 0));
      for (; hit != wanted_.end() && hit->first == word; ++hit) {
        found_[hit->second] = std::max(found_[hit->second], place);
      }
    }
  }

  std::vector<std::pair<std::uintptr_t, std::size_t>> wanted_; ///< complement and place in the question, sorted
  std::vector<HandlePlace> found_;
  UsedPages used_;
  bool can_read_ = true;
  std::vector<std::uintptr_t> block_ = std::vector<std::uintptr_t>(kBlockWords);
};

} // namespace

std::vector<HandlePlace> find_handles(const std::vector<std::uintptr_t>& complements, std::vector<AddressRange> skipped) {
  if (complements.empty()) {
    return {};
  }
  Search search(complements);
  skipped.push_back(search.own_block());
  std::sort(skipped.begin(), skipped.end());
  const int on_stack = 0;
  const auto memories = writable_memory(reinterpret_cast<std::uintptr_t>(&on_stack));
  if (memories.empty()) {
    search.cannot_read();
  }
  for (const Mapping& memory : memories) {
    for (const AddressRange& part : without(memory.range, skipped)) {
      search.look_in(part, memory.is_static ? HandlePlace::in_static : HandlePlace::elsewhere);
    }
  }
  return search.found();
}

} // namespace tensorscope::report
