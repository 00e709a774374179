// SPDX-License-Identifier: Apache-2.0
// A scan of all writable mappings. They may change while they are read, so each is read through the kernel, which
// refuses what is gone.
#include "report/handles_search.h"

#include "platform/made_code.h"

#include <fcntl.h>
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

namespace tensorscope::report {
namespace {

constexpr std::size_t kBlockWords = std::size_t{1} << 15; // 256 KiB: stays in a core's cache
constexpr std::array kSanitizers{"liblsan", "libasan", "libtsan", "libhwasan"};

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
bool is_sanitizer(const std::string& mapping) {
  const auto name = mapping.rfind('/');
  return name != std::string::npos && std::any_of(kSanitizers.begin(), kSanitizers.end(), [&](const char* sanitizer) {
    return mapping.compare(name + 1, std::strlen(sanitizer), sanitizer) == 0;
  });
}

/// Readable and writable mappings of this process, but the stack that holds `own_stack`.
std::vector<Mapping> writable_memory(std::uintptr_t own_stack) {
  std::vector<Mapping> mappings;
  std::ifstream maps("/proc/self/maps");
  std::uintptr_t end_of_file = 0; // of the last mapping of a file: variables without initial value follow it
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, rights) != 3) {
      continue;
    }
    const bool is_file = line.find('/') != std::string::npos && !is_sanitizer(line);
    const bool follows_file = begin == end_of_file && line.find('[') == std::string::npos;
    if (is_file || follows_file) {
      end_of_file = end;
    }
    if (std::strncmp(rights, "rw", 2) == 0 && !(begin <= own_stack && own_stack < end) &&
        !is_reservation({begin, end})) {
      mappings.push_back({{begin, end}, is_file || follows_file});
    }
  }
  return mappings;
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
  for (const platform::MadeVariable& variable : platform::made_variables()) {
    search.look_in({variable.begin, variable.end}, HandlePlace::in_static);
  }
  return search.found();
}

} // namespace tensorscope::report
