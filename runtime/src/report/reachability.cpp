// SPDX-License-Identifier: Apache-2.0
// Marks what the roots lead to. What stays unmarked is garbage, in which sources are taken away one after the other until
// only cycles are left, and what those lead to.
#include "report/reachability.h"

#include <algorithm>
#include <limits>

namespace tensorscope::report {
namespace {

constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::uintptr_t kHeader = 2 * sizeof(std::uintptr_t); // before each block of glibc's
constexpr std::uintptr_t kAddressBits = (std::uintptr_t{1} << 48) - 1;

/// The blocks of all heaps, numbered upward. To a block belongs all from its beginning to the next one's, so that an
/// address just behind its end leads to it.
class BlockTable {
 public:
  void add_heap(HeapBlocks& blocks, const AddressRange& heap) {
    Heap one{heap, static_cast<std::uint32_t>(begins_.size()), 0, {}};
    blocks.visit(heap, [&](const HeapBlocks::Block& block) {
      begins_.push_back(block.range.first);
      used_.push_back(block.state == HeapBlocks::State::used ? 1 : 0);
    });
    one.last = static_cast<std::uint32_t>(begins_.size());
    if (one.first == one.last) {
      return;
    }
    one.range.first = begins_[one.first];
    std::uint32_t block = one.first;
    for (std::uintptr_t page = one.range.first; page < one.range.second; page += kPage) {
      while (block + 1 < one.last && begins_[block + 1] <= page) {
        ++block;
      }
      one.pages.push_back(block);
    }
    least_ = std::min(least_, one.range.first);
    most_ = std::max(most_, one.range.second);
    heaps_.push_back(std::move(one));
  }

  /// The block that a word leads to; kNone if there is none, or it is free.
  std::uint32_t led_to(std::uintptr_t word) const {
    word &= kAddressBits;
    if (word - least_ >= most_ - least_) {
      return kNone;
    }
    const std::uint32_t block = block_at(word);
    return block != kNone && used_[block] != 0 ? block : kNone;
  }

  /// Whether a word is what the heap itself has of a block: the address of its header.
  bool is_header(std::uintptr_t word) const {
    const std::uint32_t block = block_at(word + kHeader);
    return block != kNone && begins_[block] == word + kHeader;
  }

  /// What a block may hold of the program's.
  AddressRange content(std::uint32_t block) const {
    const auto heap = std::upper_bound(heaps_.begin(), heaps_.end(), block,
                                       [](std::uint32_t wanted, const Heap& one) { return wanted < one.last; });
    const std::uintptr_t next = block + 1 < heap->last ? begins_[block + 1] - kHeader : heap->range.second;
    return {begins_[block], std::min(next + sizeof(std::uintptr_t), heap->range.second)};
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(begins_.size()); }
  bool used(std::uint32_t block) const { return used_[block] != 0; }

 private:
  static constexpr std::uintptr_t kPage = 4096;
  struct Heap {
    AddressRange range;
    std::uint32_t first, last;        ///< its blocks
    std::vector<std::uint32_t> pages; ///< the block at the beginning of each
  };

  std::uint32_t block_at(std::uintptr_t address) const {
    const auto after = std::upper_bound(heaps_.begin(), heaps_.end(), address,
                                        [](std::uintptr_t wanted, const Heap& heap) { return wanted < heap.range.first; });
    if (after == heaps_.begin() || address >= std::prev(after)->range.second) {
      return kNone;
    }
    const Heap& heap = *std::prev(after);
    const std::size_t page = (address - heap.range.first) / kPage;
    const auto from = begins_.begin() + heap.pages[page];
    const auto to = page + 1 < heap.pages.size() ? begins_.begin() + heap.pages[page + 1] + 1 : begins_.begin() + heap.last;
    return static_cast<std::uint32_t>(std::upper_bound(from, to, address) - begins_.begin() - 1);
  }

  std::vector<std::uintptr_t> begins_;
  std::vector<std::uint8_t> used_;
  std::vector<Heap> heaps_; ///< upward
  std::uintptr_t least_ = std::numeric_limits<std::uintptr_t>::max();
  std::uintptr_t most_ = 0;
};

class Marking {
 public:
  Marking(const std::vector<std::uintptr_t>& complements, const ReachSpace& space, const MemorySnapshot& snapshot)
      : complements_(complements), space_(space), snapshot_(snapshot),
        heap_(space.mappings, [&](std::uintptr_t from, void* to, std::size_t bytes) { return snapshot.read(from, to, bytes); }) {
    for (const AddressRange& heap : heap_.whole_heaps()) {
      blocks_.add_heap(heap_, heap);
      heap_ranges_.push_back(heap);
    }
    marked_.resize(blocks_.size(), 0);
  }

  std::vector<Reach> run() {
    mark();
    std::vector<Reach> found;
    found.reserve(complements_.size());
    for (const std::uintptr_t complement : complements_) {
      found.push_back(reach_of(complement));
    }
    if (std::find(found.begin(), found.end(), Reach::lost) != found.end()) {
      find_cycles(found);
    }
    return found;
  }

 private:
  void mark() {
    for (const std::uintptr_t word : space_.words) {
      meet(word);
    }
    for (const AddressRange& root : space_.roots) {
      for (const AddressRange& part : without(root, heap_ranges_)) {
        for (const AddressRange& used : without(part, space_.no_roots)) {
          mark_from(used);
        }
      }
    }
    while (!to_do_.empty()) {
      const AddressRange content = blocks_.content(to_do_.back());
      to_do_.pop_back();
      snapshot_.visit(content, [&](std::uintptr_t, const std::uintptr_t* words, std::size_t count) {
        std::for_each_n(words, count, [&](std::uintptr_t word) { meet(word); });
      });
    }
  }

  void mark_from(const AddressRange& root) {
    snapshot_.visit(root, [&](std::uintptr_t address, const std::uintptr_t* words, std::size_t count) {
      const bool allocators = find_range(space_.allocators, address);
      std::for_each_n(words, count, [&](std::uintptr_t word) {
        if (!allocators || !blocks_.is_header(word)) {
          meet(word);
        }
      });
    });
  }

  static bool find_range(const std::vector<AddressRange>& ranges, std::uintptr_t address) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const AddressRange& one) { return one.first <= address && address < one.second; });
  }

  void meet(std::uintptr_t word) {
    if (const std::uint32_t block = blocks_.led_to(word); block != kNone && marked_[block] == 0) {
      marked_[block] = 1;
      to_do_.push_back(block);
    }
  }

  Reach reach_of(std::uintptr_t complement) const {
    const std::uint32_t block = blocks_.led_to(~complement);
    return block == kNone ? Reach::unknown : marked_[block] != 0 ? Reach::reached : Reach::lost;
  }

  /// A word of garbage that leads to garbage.
  struct Edge {
    std::uint32_t holder, held;
  };

  std::vector<Edge> edges_of_garbage() const {
    std::vector<Edge> edges;
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
      if (!blocks_.used(block) || marked_[block] != 0) {
        continue;
      }
      const AddressRange content = blocks_.content(block);
      snapshot_.visit(content, [&](std::uintptr_t address, const std::uintptr_t* words, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
          const std::uint32_t held = blocks_.led_to(words[i]);
          const bool counts = held != kNone && held != block && marked_[held] == 0 &&
              (!space_.is_weak || !space_.is_weak(content, address + i * sizeof(words[0]), blocks_.content(held)));
          if (counts) {
            edges.push_back({block, held});
          }
        }
      });
    }
    return edges; // by holder
  }

  /// What is left when no block remains that nothing leads to is in a cycle, or one leads to it.
  void find_cycles(std::vector<Reach>& found) const {
    const std::vector<Edge> edges = edges_of_garbage();
    std::vector<std::uint32_t> held_by(blocks_.size(), 0);
    for (const Edge& edge : edges) {
      ++held_by[edge.held];
    }
    std::vector<std::uint32_t> sources;
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
      if (held_by[block] == 0) {
        sources.push_back(block);
      }
    }
    while (!sources.empty()) {
      const std::uint32_t source = sources.back();
      sources.pop_back();
      auto edge = std::lower_bound(edges.begin(), edges.end(), source,
                                   [](const Edge& one, std::uint32_t wanted) { return one.holder < wanted; });
      for (; edge != edges.end() && edge->holder == source; ++edge) {
        if (--held_by[edge->held] == 0) {
          sources.push_back(edge->held);
        }
      }
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] == Reach::lost && held_by[blocks_.led_to(~complements_[i])] != 0) {
        found[i] = Reach::in_cycle;
      }
    }
  }

  const std::vector<std::uintptr_t>& complements_;
  const ReachSpace& space_;
  const MemorySnapshot& snapshot_;
  HeapBlocks heap_;
  BlockTable blocks_;
  std::vector<AddressRange> heap_ranges_;
  std::vector<std::uint8_t> marked_;         ///< by block
  std::vector<std::uint32_t> to_do_;
};

} // namespace

std::vector<Reach> find_reach(const std::vector<std::uintptr_t>& complements, const ReachSpace& space,
                              const MemorySnapshot& snapshot) {
  return Marking(complements, space, snapshot).run();
}

} // namespace tensorscope::report
