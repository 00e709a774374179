// SPDX-License-Identifier: Apache-2.0
// From objects upward to what holds them: which words of the program's memory lead to an object, in which block or variable
// each of these stands, what leads to that block, and so on.
#pragma once

#include "report/heap_blocks.h"
#include "report/memory.h"
#include "report/threads_memory.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory_resource>
#include <vector>

namespace tensorscope::report {

/// Memory for what is kept while others' memory is searched: none of it is searched.
class OwnMemory : public std::pmr::memory_resource {
 public:
  OwnMemory() = default;
  ~OwnMemory() override;
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  struct Chunk;
  Chunk* chunks_ = nullptr; ///< the latest first
};

/// Where a word stands.
enum class PlaceKind : std::uint8_t {
  block,           ///< on the heap, or in memory that was mapped
  user_static,     ///< in a variable of the program's
  library_static,  ///< in one of LibTorch's, the system's or ours
  stack,
  thread_local_memory,
  unused_stack,    ///< left over from functions that have returned
};

struct HeldObject {
  AddressRange range;
  bool exact = true;     ///< only the address of its beginning leads to it; else any in it
  bool mapped = false;   ///< no block of the heap, but a whole mapping
  bool complete = false; ///< all that leads to it was looked for
};

constexpr std::uint32_t kNoObject = 0xffffffff;

/// A word that leads to an object.
struct HolderEdge {
  std::uint32_t object = 0;
  std::uint32_t holder = kNoObject; ///< the object that the word stands in; none for variables
  std::uintptr_t place = 0;
  PlaceKind kind = PlaceKind::block;
};

/// What bounds a search.
struct SearchLimits {
  std::size_t bytes = std::size_t{6} << 30; ///< read in all
  unsigned passes = 40;                     ///< through the memory; one for each step upward
  std::size_t objects = 1'000'000;
  std::size_t edges_of_one = 64;            ///< words that lead to one object
};

struct SearchSpace {
  std::vector<AddressRange> skipped;   ///< not searched: tensors' bytes, the reporter's own
  std::uintptr_t own_stack = 0;        ///< the calling thread's is searched from there on; 0: not at all
  std::function<bool(std::uintptr_t)> is_users; ///< whether an address of an executable or library is the program's
  /// Whether only the beginning of an object that stands at the beginning of the block leads to it.
  std::function<bool(const AddressRange&)> is_exact;
  /// Whether a word at this place in the block keeps nothing alive.
  std::function<bool(const AddressRange&, std::uintptr_t place)> is_weak;
};

inline bool is_variable(PlaceKind kind) {
  return kind == PlaceKind::user_static || kind == PlaceKind::stack || kind == PlaceKind::thread_local_memory;
}

constexpr std::uint32_t kNoEdge = 0xffffffff;

/// For each object the number of its edge on the shortest way up to one that is a root; kNoEdge where there is no way.
std::vector<std::uint32_t> ways_up(std::size_t objects, const std::pmr::vector<HolderEdge>& edges,
                                   const std::function<bool(const HolderEdge&)>& is_root);

class UpwardSearch {
 public:
  UpwardSearch(const std::vector<Mapping>& mappings, const std::vector<ThreadMemory>& threads, SearchSpace space,
               SearchLimits limits);

  /// Adds an object that is asked about. Before `run`.
  void ask(std::uintptr_t address);
  void run();

  const std::pmr::vector<HeldObject>& objects() const { return objects_; } ///< those asked about first, in their order
  const std::pmr::vector<HolderEdge>& edges() const { return edges_; }     ///< by object
  /// The words that lead to an object.
  std::pair<const HolderEdge*, const HolderEdge*> edges_of(std::uint32_t object) const;
  bool stopped_early() const { return stopped_; }
  bool heap_known() const { return heap_.known(); }

 private:
  struct Wanted {
    std::uintptr_t begin, end; ///< of addresses that lead to it
    std::uint32_t object;
  };
  class Filter;

  void pass(std::size_t begin, std::size_t last);
  void search(const std::pmr::vector<Wanted>& wanted);
  void place_edges(std::size_t first);
  PlaceKind kind_of(const Mapping& mapping, std::uintptr_t place) const;
  std::uint32_t object_around(std::uintptr_t place, const Mapping& mapping);
  bool all_found() const;
  std::vector<AddressRange> searched() const;
  std::optional<ThreadLocalPlace> find_thread_local(const ThreadMemory& thread, const Mapping& mapping, std::uintptr_t place) const;

  OwnMemory memory_;
  const std::vector<Mapping>& mappings_;
  const std::vector<ThreadMemory>& threads_;
  SearchSpace space_;
  SearchLimits limits_;
  HeapBlocks heap_;
  MemoryReader reader_;
  std::pmr::vector<HeldObject> objects_{&memory_};
  std::pmr::vector<HolderEdge> edges_{&memory_};
  std::pmr::map<std::uintptr_t, std::uint32_t> blocks_{&memory_}; ///< objects by their beginnings
  std::pmr::vector<std::uint32_t> met_{&memory_};                 ///< words found of each object
  std::size_t asked_ = 0;
  std::size_t bytes_ = 0;
  bool stopped_ = false;
};

} // namespace tensorscope::report
