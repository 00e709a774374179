// SPDX-License-Identifier: Apache-2.0
// Reads /proc/self/maps, and memory by process_vm_readv.
#include "report/memory.h"

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
#include <iterator>

namespace tensorscope::report {
namespace {

constexpr std::size_t kBlockWords = std::size_t{1} << 15; // 256 KiB: stays in a core's cache
constexpr std::array kSanitizers{"liblsan", "libasan", "libtsan", "libhwasan"};

/// A sanitizer's allocator keeps addresses of blocks it gave out in variables of its own.
bool is_sanitizer(const std::string& file) {
  const auto name = file.rfind('/');
  return name != std::string::npos && std::any_of(kSanitizers.begin(), kSanitizers.end(), [&](const char* sanitizer) {
    return file.compare(name + 1, std::strlen(sanitizer), sanitizer) == 0;
  });
}

/// The variables of the program and its libraries, by address. As the loader has it: what a reader of debug information
/// maps is a file, too, and a heap may follow it without a gap.
std::vector<AddressRange> variables() {
  std::vector<AddressRange> ranges;
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* list) {
        for (std::size_t i = 0; i < module->dlpi_phnum; ++i) {
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

/// Cuts a writable mapping where variables begin and end.
void add_parts(const Mapping& mapping, bool named, const std::vector<AddressRange>& statics, std::vector<Mapping>& all) {
  const std::size_t first = all.size();
  for (const AddressRange& rest : without(mapping.range, statics)) {
    Mapping part = mapping;
    part.range = rest;
    if (!named) { // the heap may follow a library without a gap
      part.is_file = false;
      part.file.clear();
    }
    all.push_back(std::move(part));
  }
  for (const AddressRange& variables : statics) {
    Mapping part = mapping;
    part.range = {std::max(mapping.range.first, variables.first), std::min(mapping.range.second, variables.second)};
    if (part.range.first < part.range.second) {
      part.is_static = part.is_file && !is_sanitizer(part.file);
      all.push_back(std::move(part));
    }
  }
  std::sort(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(),
            [](const Mapping& a, const Mapping& b) { return a.range < b.range; });
}

bool parse(const std::string& line, Mapping& mapping, std::array<char, 5>& rights) {
  int name = 0;
  if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %*s %n", &mapping.range.first,
                  &mapping.range.second, rights.data(), &name) != 3) {
    return false;
  }
  mapping.file = name > 0 && static_cast<std::size_t>(name) < line.size() ? line.substr(static_cast<std::size_t>(name)) : "";
  mapping.writable = rights[1] == 'w';
  mapping.executable = rights[2] == 'x';
  return true;
}

} // namespace

bool is_reservation(const AddressRange& range) {
  static const auto physical =
      static_cast<std::uintptr_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return range.second - range.first > physical;
}

std::vector<Mapping> readable_mappings() {
  const std::vector<AddressRange> statics = variables();
  std::vector<Mapping> mappings;
  std::ifstream maps("/proc/self/maps");
  Mapping last_of_file; // variables without initial value follow a file's mapping
  for (std::string line; std::getline(maps, line);) {
    Mapping mapping;
    std::array<char, 5> rights{};
    if (!parse(line, mapping, rights)) {
      continue;
    }
    const bool named = !mapping.file.empty();
    if (!named && mapping.range.first == last_of_file.range.second && !last_of_file.file.empty()) {
      mapping.file = last_of_file.file;
    }
    mapping.is_file = mapping.file.starts_with('/');
    if (mapping.is_file) {
      last_of_file = mapping;
    }
    if (rights[0] != 'r' || is_reservation(mapping.range) || mapping.file.starts_with("[v")) {
      continue;
    }
    if (mapping.writable) {
      add_parts(mapping, named, statics, mappings);
    } else {
      mappings.push_back(std::move(mapping));
    }
  }
  return mappings;
}

const Mapping* find_mapping(const std::vector<Mapping>& mappings, std::uintptr_t address) {
  const auto after = std::upper_bound(mappings.begin(), mappings.end(), address,
                                      [](std::uintptr_t wanted, const Mapping& one) { return wanted < one.range.first; });
  return after != mappings.begin() && address < std::prev(after)->range.second ? &*std::prev(after) : nullptr;
}

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

MemoryReader::MemoryReader() : pages_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)), block_(kBlockWords) {}

MemoryReader::~MemoryReader() {
  ::explicit_bzero(block_.data(), block_.size() * sizeof(block_[0])); // no later search may find what was read
  if (pages_ >= 0) {
    ::close(pages_);
  }
}

std::size_t MemoryReader::read(AddressRange range, const Visit& visit) {
  constexpr std::size_t kWord = sizeof(std::uintptr_t);
  std::size_t total = 0;
  range.first = (range.first + kWord - 1) & ~(kWord - 1);
  while (range.first + kWord <= range.second) {
    const std::size_t bytes = std::min(range.second - range.first, kBlockWords * kWord);
    if (!any_used(range.first, bytes)) {
      range.first += bytes;
      continue;
    }
    iovec here{block_.data(), bytes};
    iovec there{reinterpret_cast<void*>(range.first), bytes};
    const auto got = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
    if (got < static_cast<ssize_t>(kWord)) {
      refused_ = refused_ || (got < 0 && errno != EFAULT); // a mapping that is gone holds nothing
      missed_ = true;
      break;
    }
    const auto words = static_cast<std::size_t>(got) / kWord;
    visit(range.first, block_.data(), words);
    range.first += words * kWord;
    total += words * kWord;
  }
  return total;
}

std::size_t MemoryReader::read(AddressRange range, const std::vector<AddressRange>& skipped, const Visit& visit) {
  constexpr std::size_t kWorthACall = std::size_t{1} << 16; // asking the kernel again takes as long as reading this
  std::vector<AddressRange> large;
  auto small = std::lower_bound(skipped.begin(), skipped.end(), AddressRange{range.first, 0});
  if (small != skipped.begin() && std::prev(small)->second > range.first) {
    --small;
  }
  const auto end = std::lower_bound(small, skipped.end(), AddressRange{range.second, 0});
  std::copy_if(small, end, std::back_inserter(large),
               [](const AddressRange& one) { return one.second - one.first >= kWorthACall; });
  std::size_t total = 0;
  for (const AddressRange& part : without(range, large)) {
    total += read(part, [&](std::uintptr_t address, std::uintptr_t* words, std::size_t count) {
      const std::uintptr_t behind = address + count * sizeof(words[0]);
      while (small != end && small->second <= address) {
        ++small;
      }
      for (auto one = small; one != end && one->first < behind; ++one) {
        const std::size_t from = std::max(one->first, address) - address;
        const std::size_t to = std::min(one->second, behind) - address;
        std::fill(words + from / sizeof(words[0]), words + (to + sizeof(words[0]) - 1) / sizeof(words[0]), 0);
      }
      visit(address, words, count);
    });
  }
  return total;
}

bool MemoryReader::read_all(AddressRange range, const Visit& visit) {
  missed_ = false;
  read(range, visit);
  return !missed_;
}

AddressRange MemoryReader::own_block() const {
  const auto begin = reinterpret_cast<std::uintptr_t>(block_.data());
  return {begin, begin + kBlockWords * sizeof(std::uintptr_t)};
}

/// Whether any page of the range is in memory or swapped out; true if that can't be known.
bool MemoryReader::any_used(std::uintptr_t begin, std::size_t bytes) const {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::uint64_t kPresentOrSwapped = std::uint64_t{3} << 62;
  std::array<std::uint64_t, kBlockWords * sizeof(std::uintptr_t) / 4096 + 2> entries{};
  const std::size_t count = (begin + bytes - 1) / page - begin / page + 1;
  const auto place = static_cast<off_t>(begin / page * sizeof(entries[0]));
  if (count > entries.size() ||
      ::pread(pages_, entries.data(), count * sizeof(entries[0]), place) != static_cast<ssize_t>(count * sizeof(entries[0]))) {
    return true;
  }
  return std::any_of(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count),
                     [](std::uint64_t entry) { return (entry & kPresentOrSwapped) != 0; });
}

} // namespace tensorscope::report
