// SPDX-License-Identifier: Apache-2.0
// From the program's variables downward: which blocks of the heap nothing leads to any more, neither directly nor through
// other blocks. As LeakSanitizer does it, and like that rather believes that something is held: any aligned word with an
// address anywhere in a block leads to it, whatever its lowest three and its highest sixteen bits are.
#pragma once

#include "report/heap_blocks.h"
#include "report/memory.h"
#include "report/memory_snapshot.h"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tensorscope::report {

enum class Reach : std::uint8_t {
  unknown,  ///< in no block of a heap that could be read
  reached,
  lost,     ///< nothing leads to it
  in_cycle, ///< only blocks lead to it that lead to each other
};

/// What a program may have variables in, and which blocks its heaps have.
struct ReachSpace {
  std::vector<AddressRange> roots;
  std::vector<AddressRange> no_roots;  ///< parts of these, sorted: stacks below what is in use
  std::vector<std::uintptr_t> words;   ///< in registers
  std::vector<AddressRange> allocators; ///< variables of the heap's allocator, which knows blocks that nobody else does
  std::vector<Mapping> mappings;        ///< heaps among them; where they are none, they may be roots
  /// Whether a word at this place of one block keeps another alive: a weak reference does not. Only for the question
  /// whether blocks lead to each other. May be empty.
  std::function<bool(const AddressRange& holder, std::uintptr_t place, const AddressRange& held)> is_weak;
};

/// For each object what leads to it in `snapshot`. They are given by the complements of their addresses, so that the question
/// itself leads to none.
std::vector<Reach> find_reach(const std::vector<std::uintptr_t>& complements, const ReachSpace& space,
                              const MemorySnapshot& snapshot);

} // namespace tensorscope::report
