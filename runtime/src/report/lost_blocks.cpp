// SPDX-License-Identifier: Apache-2.0
// Each step up is one pass over the memory. Addresses are kept as complements, so that a pass does not find this search.
#include "report/lost_blocks.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <unordered_map>

extern "C" {
/// Defined where a sanitizer has a heap of its own.
__attribute__((weak)) void __lsan_do_leak_check();
__attribute__((weak)) void __tsan_init();
}

namespace tensorscope::report {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};
constexpr std::chrono::milliseconds kMostTime{500}; ///< after which no other pass begins
constexpr std::size_t kMostBlocks = 200'000;

struct Memory {
  std::vector<AddressRange> writable; ///< without the calling thread's stack and the heap
  AddressRange heap{0, 0};
};

Memory memory_of_process(std::uintptr_t own_stack) {
  Memory memory;
  const auto physical = static_cast<std::uintptr_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    AddressRange range;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &range.first, &range.second, rights) != 3 ||
        std::strncmp(rights, "rw", 2) != 0 || (range.first <= own_stack && own_stack < range.second)) {
      continue;
    }
    if (line.find("[heap]") != std::string::npos) {
      memory.heap = range;
    } else if (range.second - range.first <= physical) { // else it is only reserved
      memory.writable.push_back(range);
    }
  }
  return memory;
}

/// The blocks of the C library's main heap, one behind the other, each with its size in front of it.
class HeapBlocks {
 public:
  /// False where the heap does not look as expected: another allocator serves the program.
  bool read(AddressRange heap) {
    constexpr std::uintptr_t kFlags = 7;
    constexpr std::uintptr_t kPreviousInUse = 1;
    constexpr std::uintptr_t kSmallest = 32;
    std::uintptr_t chunk = heap.first;
    while (heap.second - chunk >= kSmallest) {
      const std::uintptr_t size = word_at(chunk + 8) & ~kFlags;
      if (size < kSmallest || size % 16 != 0 || size > heap.second - chunk) {
        return false;
      }
      if (chunk + size == heap.second) {
        std::reverse(begins_.begin(), begins_.end()); // complements rise as addresses fall
        std::reverse(sizes_.begin(), sizes_.end());
        return true; // what is left is the rest of the heap
      }
      if ((word_at(chunk + size + 8) & kPreviousInUse) != 0) {
        begins_.push_back(~(chunk + 16));
        sizes_.push_back(size - 8);
      }
      chunk += size;
    }
    return false;
  }

  /// The block in use around an address.
  std::size_t around(std::uintptr_t address) const {
    const auto found = std::lower_bound(begins_.begin(), begins_.end(), ~address);
    if (found == begins_.end()) {
      return kNone;
    }
    const auto block = static_cast<std::size_t>(found - begins_.begin());
    return address - ~*found < sizes_[block] ? block : kNone;
  }

  /// Its addresses as complements, the last one included. Not those of its last word: there the next block begins as the
  /// heap's own lists see it.
  AddressRange complements_of(std::size_t block) const { return {begins_[block] - sizes_[block] + 9, begins_[block]}; }

 private:
  static std::uintptr_t word_at(std::uintptr_t address) {
    std::uintptr_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof(word));
    return word;
  }

  std::vector<std::uintptr_t> begins_; ///< complements, rising
  std::vector<std::uintptr_t> sizes_;
};

/// What holds something: a root, or blocks.
struct Holders {
  bool root = false;
  std::vector<std::size_t> blocks;
};

struct Target {
  AddressRange complements;
  std::size_t block = kNone; ///< its own: what it says of itself does not count
  Holders* holders = nullptr;
};

class Pass {
 public:
  Pass(const Memory& memory, const HeapBlocks& blocks, std::vector<AddressRange> skipped)
      : memory_(memory), blocks_(blocks), skipped_(std::move(skipped)) {
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer_.data());
    skipped_.emplace_back(begin, begin + buffer_.size() * sizeof(std::uintptr_t));
    std::sort(skipped_.begin(), skipped_.end());
  }

  void run(std::vector<Target> targets) {
    std::sort(targets.begin(), targets.end(), [](const Target& a, const Target& b) { return a.complements < b.complements; });
    targets_ = std::move(targets);
    look_in(memory_.heap, true);
    for (const AddressRange& range : memory_.writable) {
      look_in(range, false);
    }
  }

 private:
  void look_in(AddressRange range, bool heap) {
    while (range.first < range.second) {
      const std::size_t bytes = std::min(range.second - range.first, buffer_.size() * sizeof(std::uintptr_t));
      iovec here{buffer_.data(), bytes};
      iovec there{reinterpret_cast<void*>(range.first), bytes};
      const auto got = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
      if (got <= 0) {
        return; // the mapping is gone
      }
      for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof(std::uintptr_t); ++i) {
        meet(~buffer_[i], range.first + i * sizeof(std::uintptr_t), heap);
      }
      range.first += static_cast<std::size_t>(got);
    }
  }

  void meet(std::uintptr_t complement, std::uintptr_t place, bool heap) {
    if (complement < targets_.front().complements.first || complement > targets_.back().complements.second) {
      return;
    }
    auto target = std::upper_bound(targets_.begin(), targets_.end(), complement, [](std::uintptr_t wanted, const Target& one) {
      return wanted < one.complements.first;
    });
    if (target == targets_.begin() || complement > (--target)->complements.second || is_skipped(place)) {
      return;
    }
    const std::size_t block = heap ? blocks_.around(place) : kNone;
    if (!heap) {
      target->holders->root = true;
    } else if (block != kNone && block != target->block) {
      target->holders->blocks.push_back(block);
    }
  }

  bool is_skipped(std::uintptr_t place) const {
    auto after = std::upper_bound(skipped_.begin(), skipped_.end(), AddressRange{place, ~std::uintptr_t{0}});
    return after != skipped_.begin() && place < std::prev(after)->second;
  }

  const Memory& memory_;
  const HeapBlocks& blocks_;
  std::vector<AddressRange> skipped_;
  std::vector<Target> targets_;
  std::vector<std::uintptr_t> buffer_ = std::vector<std::uintptr_t>(std::size_t{1} << 15);
};

using Graph = std::unordered_map<std::size_t, Holders>;

/// Asks for the holders of the objects, of these, and so on. What is not known when it becomes too much is a root.
void climb(Pass& pass, const HeapBlocks& blocks, std::vector<Target> targets, std::vector<Holders>& objects, Graph& graph) {
  std::vector<const Holders*> last;
  for (const Holders& object : objects) {
    last.push_back(&object);
  }
  const auto begin = std::chrono::steady_clock::now();
  while (!targets.empty()) {
    if (std::chrono::steady_clock::now() - begin > kMostTime || graph.size() > kMostBlocks) {
      std::for_each(targets.begin(), targets.end(), [](const Target& target) { target.holders->root = true; });
      return;
    }
    pass.run(targets);
    targets.clear();
    std::vector<const Holders*> next;
    for (const Holders* holders : last) {
      for (const std::size_t block : holders->blocks) {
        const auto [known, is_new] = graph.try_emplace(block);
        if (is_new) {
          targets.push_back({blocks.complements_of(block), block, &known->second});
          next.push_back(&known->second);
        }
      }
    }
    last.swap(next);
  }
}

/// Marks what a root leads to.
void spread(Graph& graph) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [block, holders] : graph) {
      if (!holders.root && std::any_of(holders.blocks.begin(), holders.blocks.end(),
                                       [&](std::size_t holder) { return graph[holder].root; })) {
        holders.root = true;
        changed = true;
      }
    }
  }
}

Reach reach_of(const Holders& object, Graph& graph) {
  if (object.root || object.blocks.empty()) {
    return Reach::reachable; // one that nothing holds is another search's to find
  }
  std::vector<std::size_t> to_do = object.blocks;
  std::unordered_map<std::size_t, bool> met;
  while (!to_do.empty()) {
    const std::size_t block = to_do.back();
    to_do.pop_back();
    const Holders& holders = graph[block];
    if (holders.root) {
      return Reach::reachable;
    }
    if (holders.blocks.empty()) {
      return Reach::lost;
    }
    if (met.emplace(block, true).second) {
      to_do.insert(to_do.end(), holders.blocks.begin(), holders.blocks.end());
    }
  }
  return Reach::cycle;
}

std::vector<Reach> search(const std::vector<std::uintptr_t>& complements, std::vector<AddressRange> skipped) {
  std::vector<Reach> found(complements.size(), Reach::reachable);
  const int on_stack = 0;
  const Memory memory = memory_of_process(reinterpret_cast<std::uintptr_t>(&on_stack));
  HeapBlocks blocks;
  if (complements.empty() || memory.heap.second == 0 || !blocks.read(memory.heap)) {
    return found;
  }
  std::vector<Holders> objects(complements.size());
  std::vector<Target> targets;
  for (std::size_t i = 0; i < complements.size(); ++i) {
    targets.push_back({{complements[i], complements[i]}, kNone, &objects[i]});
  }
  Graph graph;
  Pass pass(memory, blocks, std::move(skipped));
  climb(pass, blocks, std::move(targets), objects, graph);
  spread(graph);
  std::transform(objects.begin(), objects.end(), found.begin(),
                 [&](const Holders& object) { return reach_of(object, graph); });
  return found;
}

} // namespace

std::vector<Reach> find_unreachable(const std::vector<std::uintptr_t>& complements, const std::vector<AddressRange>& skipped) {
  if (&__lsan_do_leak_check != nullptr || &__tsan_init != nullptr) {
    return std::vector<Reach>(complements.size(), Reach::reachable);
  }
  auto found = search(complements, skipped);
  // A thread that knows nothing of tensors may have been at work in the heap. What is lost is lost the next time, too.
  std::vector<std::uintptr_t> again;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] != Reach::reachable) {
      again.push_back(complements[i]);
      places.push_back(i);
    }
  }
  const auto confirmed = search(again, skipped);
  for (std::size_t i = 0; i < places.size(); ++i) {
    found[places[i]] = confirmed[i];
  }
  return found;
}

} // namespace tensorscope::report
