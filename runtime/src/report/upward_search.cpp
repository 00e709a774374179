// SPDX-License-Identifier: Apache-2.0
// One pass through the memory for each step upward, for all objects at once: no index of all words is built, which could
// be as large as the heap. An object that others lead to is looked for once.
#include "report/upward_search.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace tensorscope::report {

struct OwnMemory::Chunk {
  Chunk* before;
  std::size_t size;
  std::size_t used;
};

OwnMemory::~OwnMemory() {
  while (chunks_ != nullptr) {
    Chunk* const before = chunks_->before;
    ::munmap(chunks_, chunks_->size);
    chunks_ = before;
  }
}

void* OwnMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  const auto fits = [&](const Chunk& chunk) {
    const std::size_t at = (chunk.used + alignment - 1) & ~(alignment - 1);
    return at + bytes <= chunk.size;
  };
  if (chunks_ == nullptr || !fits(*chunks_)) {
    const std::size_t size = std::max(kChunk, (bytes + sizeof(Chunk) + alignment + 4095) & ~std::size_t{4095});
    void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::bad_alloc();
    }
    chunks_ = new (memory) Chunk{chunks_, size, sizeof(Chunk)};
  }
  const std::size_t at = (chunks_->used + alignment - 1) & ~(alignment - 1);
  chunks_->used = at + bytes;
  return reinterpret_cast<char*>(chunks_) + at;
}

/// Says quickly of most words that they lead nowhere.
class UpwardSearch::Filter {
 public:
  Filter(const std::pmr::vector<Wanted>& wanted, std::pmr::memory_resource* memory) : pages_(kBits / 64, 0, memory) {
    for (const Wanted& one : wanted) {
      least_ = std::min(least_, one.begin);
      most_ = std::max(most_, one.end);
      for (std::uintptr_t page = one.begin >> kPage; page <= (one.end - 1) >> kPage; ++page) {
        pages_[bit(page) / 64] |= std::uint64_t{1} << (bit(page) % 64);
      }
    }
  }

  bool may_lead(std::uintptr_t word) const {
    return word - least_ < most_ - least_ && (pages_[bit(word >> kPage) / 64] >> (bit(word >> kPage) % 64) & 1) != 0;
  }

 private:
  static constexpr unsigned kPage = 10; // parts of 1 KiB
  static constexpr unsigned kBitsLog = 20;
  static constexpr std::size_t kBits = std::size_t{1} << kBitsLog; // in a core's cache

  static std::size_t bit(std::uintptr_t page) {
    return static_cast<std::size_t>((page * 0x9e3779b97f4a7c15U) >> (64 - kBitsLog));
  }

  std::uintptr_t least_ = ~std::uintptr_t{0};
  std::uintptr_t most_ = 0;
  std::pmr::vector<std::uint64_t> pages_;
};

UpwardSearch::UpwardSearch(const std::vector<Mapping>& mappings, const std::vector<ThreadMemory>& threads,
                           SearchSpace space, SearchLimits limits)
    : mappings_(mappings), threads_(threads), space_(std::move(space)), limits_(limits), heap_(mappings) {
  space_.skipped.push_back(reader_.own_block());
  std::sort(space_.skipped.begin(), space_.skipped.end());
}

void UpwardSearch::ask(std::uintptr_t address) {
  blocks_.emplace(address, static_cast<std::uint32_t>(objects_.size()));
  objects_.push_back({{address, address + 1}, true, false, false});
  met_.push_back(0);
  asked_ = objects_.size();
}

void UpwardSearch::run() {
  std::size_t begin = 0;
  for (unsigned passes = 0; begin < objects_.size(); ++passes) {
    const std::size_t end = objects_.size();
    if (passes >= limits_.passes || bytes_ >= limits_.bytes || end >= limits_.objects) {
      stopped_ = true;
      break;
    }
    pass(begin, end);
    begin = end;
    if (all_found()) {
      break;
    }
  }
  std::stable_sort(edges_.begin(), edges_.end(),
                   [](const HolderEdge& a, const HolderEdge& b) { return a.object < b.object; });
}

/// Looks for what leads to the objects from `begin` to `last`.
void UpwardSearch::pass(std::size_t begin, std::size_t last) {
  std::pmr::vector<Wanted> wanted(&memory_);
  wanted.reserve(last - begin);
  for (std::size_t i = begin; i < last; ++i) {
    const HeldObject& object = objects_[i];
    // The last word of a heap's block may as well be the next one's beginning.
    const std::uintptr_t end = object.mapped ? object.range.second : object.range.second - sizeof(std::uintptr_t);
    wanted.push_back({object.range.first, object.exact ? object.range.first + 1 : end, static_cast<std::uint32_t>(i)});
  }
  std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) { return a.begin < b.begin; });
  const std::size_t first = edges_.size();
  search(wanted);
  place_edges(first);
  for (std::size_t i = begin; i < last; ++i) {
    objects_[i].complete = met_[i] < limits_.edges_of_one && bytes_ < limits_.bytes;
  }
}

/// What may hold handles: writable memory, the calling thread's stack only as far as it is asked for.
std::vector<AddressRange> UpwardSearch::searched() const {
  std::vector<AddressRange> ranges;
  for (const Mapping& mapping : mappings_) {
    const bool anonymous_or_static = !mapping.is_file || mapping.is_static;
    if (mapping.writable && anonymous_or_static) {
      ranges.push_back(mapping.range);
    }
  }
  return ranges;
}

void UpwardSearch::search(const std::pmr::vector<Wanted>& wanted) {
  const Filter filter(wanted, &memory_);
  const auto look = [&](std::uintptr_t address, const std::uintptr_t* words, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!filter.may_lead(words[i])) {
        continue;
      }
      const auto after = std::upper_bound(wanted.begin(), wanted.end(), words[i],
                                          [](std::uintptr_t word, const Wanted& one) { return word < one.begin; });
      if (after == wanted.begin() || words[i] >= std::prev(after)->end) {
        continue;
      }
      const std::uint32_t object = std::prev(after)->object;
      if (met_[object] < limits_.edges_of_one) {
        ++met_[object];
        edges_.push_back({object, kNoObject, address + i * sizeof(words[0]), PlaceKind::block});
      }
    }
  };
  for (const AddressRange& range : searched()) {
    if (bytes_ >= limits_.bytes) {
      stopped_ = true;
      return;
    }
    bytes_ += reader_.read(range, space_.skipped, look);
  }
}

/// Finds out where the new words stand. They are in ascending order but for what is skipped.
void UpwardSearch::place_edges(std::size_t first) {
  auto kept = edges_.begin() + static_cast<std::ptrdiff_t>(first);
  for (auto edge = kept; edge != edges_.end(); ++edge) {
    const Mapping* const mapping = find_mapping(mappings_, edge->place);
    if (mapping == nullptr) {
      continue;
    }
    edge->kind = kind_of(*mapping, edge->place);
    if (edge->kind == PlaceKind::unused_stack) {
      continue;
    }
    if (edge->kind == PlaceKind::block) {
      edge->holder = object_around(edge->place, *mapping);
      if (edge->holder == kNoObject || edge->holder == edge->object) {
        continue; // given back, or an object that leads to itself
      }
    }
    *kept++ = *edge;
  }
  edges_.erase(kept, edges_.end());
}

std::optional<ThreadLocalPlace> UpwardSearch::find_thread_local(const ThreadMemory& thread, const Mapping& mapping, std::uintptr_t place) const {
  constexpr std::uintptr_t kMost = std::uintptr_t{1} << 20;
  const bool may_be = place < thread.pointer && thread.pointer - place <= kMost &&
      mapping.range.first <= thread.pointer && thread.pointer < mapping.range.second;
  return may_be ? thread_local_place(thread.pointer - place) : std::nullopt;
}

PlaceKind UpwardSearch::kind_of(const Mapping& mapping, std::uintptr_t place) const {
  if (mapping.is_static) {
    return space_.is_users(place) ? PlaceKind::user_static : PlaceKind::library_static;
  }
  for (const ThreadMemory& thread : threads_) {
    if (const auto found = find_thread_local(thread, mapping, place)) {
      return space_.is_users(found->library) ? PlaceKind::thread_local_memory : PlaceKind::library_static;
    }
    const bool is_own = &thread == threads_.data();
    const std::uintptr_t from = !is_own ? thread.stack.first : space_.own_stack != 0 ? space_.own_stack : thread.stack.second;
    if (from <= place && place < thread.stack.second) {
      return PlaceKind::stack;
    }
    if (mapping.range.first <= thread.stack.first && thread.stack.first < mapping.range.second && place < from) {
      return PlaceKind::unused_stack;
    }
  }
  return mapping.file.starts_with("[stack") ? PlaceKind::unused_stack : PlaceKind::block;
}

/// The object that the block around `place` is, a new one if need be; none for what was given back.
std::uint32_t UpwardSearch::object_around(std::uintptr_t place, const Mapping& mapping) {
  auto block = heap_.find(place);
  bool mapped = false;
  if (block.state == HeapBlocks::State::free) {
    return kNoObject;
  }
  if (block.state == HeapBlocks::State::outside) {
    // A program's own mapping. Without the C library's heap it may as well be another allocator's whole heap.
    block.range = mapping.range;
    mapped = true;
  }
  if (!mapped && space_.is_weak && space_.is_weak(block.range, place)) {
    return kNoObject;
  }
  // An object that was asked about begins its block, or stands behind make_shared's counts.
  const auto [known, is_new] = blocks_.try_emplace(block.range.first, static_cast<std::uint32_t>(objects_.size()));
  if (is_new) {
    HeldObject object{block.range, !mapped && space_.is_exact && space_.is_exact(block.range), mapped, false};
    if (mapped && !heap_.known()) {
      object.range.second = object.range.first + 1;
      object.exact = true; // what leads into it leads to anything in it
    }
    objects_.push_back(object);
    met_.push_back(0);
  } else if (known->second < asked_) {
    objects_[known->second].range = block.range;
  }
  return known->second;
}

/// Whether a variable of the program's is known behind each word that leads to what was asked about.
bool UpwardSearch::all_found() const {
  const auto ways = ways_up(objects_.size(), edges_, [](const HolderEdge& edge) { return is_variable(edge.kind); });
  return std::all_of(edges_.begin(), edges_.end(), [&](const HolderEdge& edge) {
    return edge.object >= asked_ || is_variable(edge.kind) ||
        (edge.holder != kNoObject && ways[edge.holder] != kNoEdge);
  });
}

std::vector<std::uint32_t> ways_up(std::size_t objects, const std::pmr::vector<HolderEdge>& edges,
                                   const std::function<bool(const HolderEdge&)>& is_root) {
  std::vector<std::uint32_t> ways(objects, kNoEdge);
  std::vector<std::uint32_t> first(objects + 1, 0); // of the edges whose words stand in an object
  for (const HolderEdge& edge : edges) {
    if (edge.holder != kNoObject) {
      ++first[edge.holder + 1];
    }
  }
  for (std::size_t i = 1; i <= objects; ++i) {
    first[i] += first[i - 1];
  }
  std::vector<std::uint32_t> by_holder(first[objects]);
  std::vector<std::uint32_t> next = first;
  std::vector<std::uint32_t> reached;
  for (std::uint32_t i = 0; i < edges.size(); ++i) {
    if (edges[i].holder != kNoObject) {
      by_holder[next[edges[i].holder]++] = i;
    }
    if (is_root(edges[i]) && ways[edges[i].object] == kNoEdge) {
      ways[edges[i].object] = i;
      reached.push_back(edges[i].object);
    }
  }
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const std::uint32_t holder = reached[i];
    for (std::uint32_t j = first[holder]; j < first[holder + 1]; ++j) {
      const HolderEdge& edge = edges[by_holder[j]];
      if (ways[edge.object] == kNoEdge) {
        ways[edge.object] = by_holder[j];
        reached.push_back(edge.object);
      }
    }
  }
  return ways;
}

std::pair<const HolderEdge*, const HolderEdge*> UpwardSearch::edges_of(std::uint32_t object) const {
  const auto by_object = [](const HolderEdge& edge, std::uint32_t wanted) { return edge.object < wanted; };
  const auto first = std::lower_bound(edges_.begin(), edges_.end(), object, by_object);
  const auto last = std::lower_bound(first, edges_.end(), object + 1, by_object);
  return {edges_.data() + (first - edges_.begin()), edges_.data() + (last - edges_.begin())};
}

} // namespace tensorscope::report
