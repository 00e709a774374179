// SPDX-License-Identifier: Apache-2.0
// Which block of the C library's heap an address lies in. Read from glibc's size words, each step checked: where they make
// no sense (another allocator, a heap that was overwritten, a thread that is changing it) the block is not known.
#pragma once

#include "report/memory.h"

#include <functional>
#include <memory>
#include <vector>

namespace tensorscope::report {

/// The blocks of the main heap, of the threads' heaps, and those that have a mapping of their own.
class HeapBlocks {
 public:
  explicit HeapBlocks(const std::vector<Mapping>& mappings);

  /// The same in a copy of the memory. Blocks that have a mapping of their own are not looked for.
  using ReadMemory = std::function<bool(std::uintptr_t from, void* to, std::size_t bytes)>;
  HeapBlocks(const std::vector<Mapping>& mappings, ReadMemory read);
  ~HeapBlocks();
  HeapBlocks(const HeapBlocks&) = delete;
  HeapBlocks& operator=(const HeapBlocks&) = delete;

  enum class State {
    outside, ///< no part of a heap that could be read
    free,    ///< given back, or the heap's own
    used,
  };
  struct Block {
    State state = State::outside;
    AddressRange range; ///< what the program may use of it, and up to 15 bytes more
  };
  /// Quick where addresses come in ascending order.
  Block find(std::uintptr_t address);

  /// Whether any heap could be read.
  bool known() const { return !areas_.empty(); }

  /// The mappings of heaps whose blocks are known to the very end. They hold nothing but the blocks and what the allocator
  /// needs itself.
  std::vector<AddressRange> whole_heaps() const;

  /// Calls `visit` for each block of a heap, upward.
  void visit(const AddressRange& whole_heap, const std::function<void(const Block&)>& visit);

 private:
  /// A run of blocks, one after the other.
  struct Area {
    AddressRange range;                 ///< from the first block's header to the end of the last
    std::vector<std::uintptr_t> starts; ///< of some blocks, at most `kStride` bytes and one block apart
    bool mapped = false;                ///< each of its blocks was mapped by itself
    AddressRange mapping;               ///< that it is all of, but for what the allocator needs itself; else {0, 0}
  };

  void add_heaps(const std::vector<Mapping>& mappings, bool mapped_blocks);
  void add_parts(const Mapping& mapping, bool mapped_blocks);
  void add_heap(const Mapping& mapping);
  bool add_arena(const Mapping& mapping);
  void add_mapped_blocks(const Mapping& mapping);
  Block find_in(const Area& area, std::uintptr_t address);
  bool is_used(std::uintptr_t header, std::uintptr_t next, const Area& area);
  bool is_cached(std::uintptr_t header, std::uintptr_t end);

  class Window;
  std::unique_ptr<Window> window_;
  std::uintptr_t latest_ = 0; ///< header of the block that was found last
  std::vector<Area> areas_;
  std::uintptr_t cache_key_ = 0; ///< the word that marks a block in a thread's cache; 0 if there is none
};

} // namespace tensorscope::report
