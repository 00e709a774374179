// SPDX-License-Identifier: Apache-2.0
// glibc, 64 bits: before each block stand the size of the one before, if that is free, and its own size with flags in the
// lowest bits. https://sourceware.org/glibc/wiki/MallocInternals
#include "report/heap_blocks.h"

#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace tensorscope::report {
namespace {

constexpr std::uintptr_t kPreviousUsed = 1;
constexpr std::uintptr_t kMapped = 2;
constexpr std::uintptr_t kFlags = 7;
constexpr std::uintptr_t kHeader = 2 * sizeof(std::uintptr_t);
constexpr std::uintptr_t kSmallest = 32;
constexpr std::uintptr_t kAlignment = 16;
constexpr std::uintptr_t kStride = std::uintptr_t{1} << 15;      // between blocks whose place is noted
constexpr std::uintptr_t kArenaAlignment = std::uintptr_t{1} << 26; // of threads' heaps
constexpr std::uintptr_t kArenaHeader = 4096;                    // the first block comes before
constexpr std::size_t kMostOtherPages = 16384;

struct Step {
  std::uintptr_t size = 0; ///< 0: makes no sense
  bool previous_used = false;
};

/// Whether `malloc` is the C library's: another allocator has other words before its blocks.
bool is_glibc() {
  Dl_info allocator{};
  Dl_info library{};
  return ::dladdr(reinterpret_cast<void*>(&std::malloc), &allocator) != 0 &&
      ::dladdr(reinterpret_cast<void*>(&::mallopt), &library) != 0 && allocator.dli_fbase == library.dli_fbase &&
      allocator.dli_fname != nullptr && std::strstr(allocator.dli_fname, "libc.so") != nullptr;
}

/// What a block in a thread's cache has as its second word: seen in one that is given back right now. The same in all.
std::uintptr_t learn_cache_key() {
  constexpr std::size_t kSize = 1000; // rarely used, so that the cache has room
  auto* const block = static_cast<std::uintptr_t*>(std::malloc(kSize));
  if (block == nullptr) {
    return 0;
  }
  std::memset(block, 0, kSize);
  const auto address = reinterpret_cast<std::uintptr_t>(block) + sizeof(std::uintptr_t);
  std::free(block);
  return read_word(address).value_or(0);
}

/// What heaps may be in. After a fork, what is added to a heap is a mapping of its own beside that of what was there.
std::vector<Mapping> joined(const std::vector<Mapping>& mappings) {
  std::vector<Mapping> all;
  for (const Mapping& one : mappings) {
    if (!one.writable || one.is_file || !(one.file.empty() || one.file == "[heap]")) {
      continue;
    }
    if (!all.empty() && all.back().range.second == one.range.first && all.back().file == one.file) {
      all.back().range.second = one.range.second;
    } else {
      all.push_back(one);
    }
  }
  return all;
}

} // namespace

/// Reads headers through a window that moves upward. It keeps words changed: a search must find no addresses in it.
class HeapBlocks::Window {
 public:
  explicit Window(ReadMemory read) : read_(std::move(read)) {}

  /// Copies two words at `at`, in a heap that ends at `end`.
  bool read(std::uintptr_t at, std::uintptr_t end, std::array<std::uintptr_t, 2>& words) {
    if (at + kHeader > end) {
      return false;
    }
    if (at < begin_ || at + kHeader > begin_ + filled_) {
      filled_ = std::min(shifted_.size() * sizeof(shifted_[0]), end - at);
      begin_ = at;
      bool done = read_(at, shifted_.data(), filled_);
      if (!done) { // what follows may not be there, and what comes before it was read
        shifted_.fill(0);
        filled_ = kHeader;
        done = read_(at, shifted_.data(), filled_);
      }
      std::for_each_n(shifted_.begin(), filled_ / sizeof(shifted_[0]), [](std::uintptr_t& word) { word += kShift; });
      if (!done) {
        filled_ = 0;
        return false;
      }
    }
    std::memcpy(words.data(), reinterpret_cast<const char*>(shifted_.data()) + (at - begin_), kHeader);
    std::for_each(words.begin(), words.end(), [](std::uintptr_t& word) { word -= kShift; });
    return true;
  }

  /// The block whose header is at `at`.
  Step step(std::uintptr_t at, std::uintptr_t end) {
    std::array<std::uintptr_t, 2> words{};
    if (!read(at, end, words)) {
      return {};
    }
    const std::uintptr_t size = words[1] & ~kFlags;
    const bool sense = size % kAlignment == 0 && size >= kHeader && size <= end - at && (words[1] & kMapped) == 0;
    return sense ? Step{size, (words[1] & kPreviousUsed) != 0} : Step{};
  }

  /// Whether a heap ends at `end` that another one of the same arena follows: the last header says 0 then.
  bool is_end(std::uintptr_t at, std::uintptr_t end) {
    std::array<std::uintptr_t, 2> words{};
    return end - at == kHeader && read(at, end, words) && words[1] == kPreviousUsed;
  }

 private:
  /// A complement would not do: the window lies in a heap itself, and so do earlier ones and lists of complements. What it
  /// reads of those must not become addresses again.
  static constexpr std::uintptr_t kShift = 0x9e3779b97f4a7c15;

  ReadMemory read_;
  std::uintptr_t begin_ = 0;
  std::size_t filled_ = 0;
  std::array<std::uintptr_t, 2048> shifted_{};
};

HeapBlocks::~HeapBlocks() = default;

HeapBlocks::HeapBlocks(const std::vector<Mapping>& mappings) : window_(std::make_unique<Window>(&read_memory)) {
  add_heaps(mappings, true);
}

HeapBlocks::HeapBlocks(const std::vector<Mapping>& mappings, ReadMemory read)
    : window_(std::make_unique<Window>(std::move(read))) {
  add_heaps(mappings, false);
}

void HeapBlocks::add_heaps(const std::vector<Mapping>& mappings, bool mapped_blocks) {
  if (!is_glibc()) {
    return;
  }
  cache_key_ = learn_cache_key();
  for (const Mapping& mapping : joined(mappings)) {
    if (mapping.file.empty()) {
      add_parts(mapping, mapped_blocks);
    } else {
      add_heap(mapping);
    }
  }
  std::sort(areas_.begin(), areas_.end(), [](const Area& a, const Area& b) { return a.range < b.range; });
}

/// Mappings beside each other look like one: a thread's heap may begin wherever it is aligned.
void HeapBlocks::add_parts(const Mapping& mapping, bool mapped_blocks) {
  Mapping others = mapping; // since the last such heap
  Mapping part = mapping;
  for (std::uintptr_t at = mapping.range.first; at < mapping.range.second; at = part.range.second) {
    part.range = {at, std::min(mapping.range.second, (at / kArenaAlignment + 1) * kArenaAlignment)};
    if (!add_arena(part)) {
      continue;
    }
    others.range.second = at;
    if (mapped_blocks) {
      add_mapped_blocks(others);
    }
    others.range = {part.range.second, mapping.range.second};
  }
  if (mapped_blocks) {
    add_mapped_blocks(others);
  }
}

void HeapBlocks::add_heap(const Mapping& mapping) {
  Area area{{mapping.range.first, mapping.range.first}, {}, false, {}};
  while (area.range.second < mapping.range.second) {
    const Step step = window_->step(area.range.second, mapping.range.second);
    if (step.size == 0) {
      if (!area.starts.empty() && window_->is_end(area.range.second, mapping.range.second)) {
        area.range.second = mapping.range.second;
      }
      break; // what follows is not known
    }
    if (area.starts.empty() || area.range.second - area.starts.back() >= kStride) {
      area.starts.push_back(area.range.second);
    }
    area.range.second += step.size;
  }
  if (area.range.second == mapping.range.second) {
    area.mapping = mapping.range;
  }
  if (!area.starts.empty()) {
    areas_.push_back(std::move(area));
  }
}

/// Where the first block begins depends on the version; only from there do the sizes lead to the very end.
bool HeapBlocks::add_arena(const Mapping& mapping) {
  if (mapping.range.first % kArenaAlignment != 0) {
    return false;
  }
  for (std::uintptr_t first = mapping.range.first + kSmallest; first < mapping.range.first + kArenaHeader;
       first += kAlignment) {
    Mapping rest = mapping;
    rest.range.first = first;
    const std::size_t before = areas_.size();
    add_heap(rest);
    if (areas_.size() != before) {
      if (areas_.back().range.second == mapping.range.second) {
        areas_.back().mapping = mapping.range;
        return true;
      }
      areas_.pop_back();
    }
  }
  return false;
}

/// Mappings beside each other look like one, so each page of one may begin a block.
void HeapBlocks::add_mapped_blocks(const Mapping& mapping) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  std::uintptr_t at = mapping.range.first;
  std::size_t others = 0; // pages of something else, in a row: memory that is only reserved may be huge
  while (at + page <= mapping.range.second && others < kMostOtherPages) {
    std::array<std::uintptr_t, 2> words{};
    if (!read_memory(at, words.data(), kHeader)) {
      return;
    }
    const std::uintptr_t size = words[1] & ~kFlags;
    const bool is_block = (words[1] & kFlags) == kMapped && words[0] < page && size % page == 0 && size != 0 &&
        size <= mapping.range.second - at;
    if (is_block) {
      areas_.push_back({{at, at + size}, {}, true, {}});
    }
    others = is_block ? 0 : others + 1;
    at += is_block ? size : page;
  }
}

HeapBlocks::Block HeapBlocks::find(std::uintptr_t address) {
  auto after = std::upper_bound(areas_.begin(), areas_.end(), address,
                                [](std::uintptr_t wanted, const Area& area) { return wanted < area.range.first; });
  if (after == areas_.begin() || address >= (--after)->range.second) {
    return {};
  }
  return after->mapped ? Block{State::used, {after->range.first + kHeader, after->range.second}} : find_in(*after, address);
}

HeapBlocks::Block HeapBlocks::find_in(const Area& area, std::uintptr_t address) {
  const auto after = std::upper_bound(area.starts.begin(), area.starts.end(), address - sizeof(std::uintptr_t));
  if (after == area.starts.begin()) {
    return {};
  }
  std::uintptr_t at = *std::prev(after);
  if (at <= latest_ && latest_ + kHeader <= address) {
    at = latest_; // those asked one after the other lie near each other
  }
  while (at < area.range.second) {
    const Step step = window_->step(at, area.range.second);
    if (step.size == 0) {
      return {}; // changed since
    }
    const std::uintptr_t next = at + step.size;
    // A block reaches into the next one's header, up to the size there.
    if (address < next + sizeof(std::uintptr_t)) {
      latest_ = at;
      const bool used = address >= at + kHeader && is_used(at, next, area);
      return {used ? State::used : State::free, {at + kHeader, next + sizeof(std::uintptr_t)}};
    }
    at = next;
  }
  return {};
}

std::vector<AddressRange> HeapBlocks::whole_heaps() const {
  std::vector<AddressRange> heaps;
  for (const Area& area : areas_) {
    if (area.mapping.second != 0) {
      heaps.push_back(area.mapping);
    }
  }
  return heaps;
}

void HeapBlocks::visit(const AddressRange& whole_heap, const std::function<void(const Block&)>& visit) {
  for (const Area& area : areas_) {
    if (area.mapping != whole_heap) {
      continue;
    }
    std::uintptr_t next = 0;
    for (std::uintptr_t at = area.range.first; at < area.range.second; at = next) {
      const Step step = window_->step(at, area.range.second);
      if (step.size == 0) {
        return; // the end of a heap that another one follows
      }
      next = at + step.size;
      visit({is_used(at, next, area) ? State::used : State::free, {at + kHeader, next + sizeof(std::uintptr_t)}});
    }
  }
}

/// Whether the program has the block from `header` to `next`, where the one after it begins.
bool HeapBlocks::is_used(std::uintptr_t header, std::uintptr_t next, const Area& area) {
  return next < area.range.second && window_->step(next, area.range.second).previous_used &&
      !is_cached(header, area.range.second);
}

bool HeapBlocks::is_cached(std::uintptr_t header, std::uintptr_t end) {
  std::array<std::uintptr_t, 2> words{};
  return cache_key_ != 0 && window_->read(header + kHeader, end, words) && words[1] == cache_key_;
}

} // namespace tensorscope::report
