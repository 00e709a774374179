// SPDX-License-Identifier: Apache-2.0
// Everything that can be written to is a root unless it is known to be none: blocks of the heap, the parts of stacks that
// are not in use. So what is not understood hides leaks, and makes none.
#include "report/reach_search.h"

#include "report/mappings_text.h"
#include "report/planted.h"
#include "report/stopped_threads.h"
#include "report/threads_memory.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

namespace tensorscope::report {
namespace {

constexpr std::uintptr_t kHeader = 16;   // of a block of glibc's heap
constexpr std::uintptr_t kRedZone = 128; // below a stack pointer, in use by a function that calls no other

/// The program's threads, as a search sees them.
struct Threads {
  std::vector<ThreadMemory> all;          ///< the calling one first
  std::vector<ThreadRegisters> stopped;   ///< of the others
  bool are_stopped = false;               ///< or there are no others
};

class Search {
 public:
  Search(const std::vector<std::uintptr_t>& complements, const ReachQuestion& question)
      : question_(question), complements_(complements) {
    plant(Planted::Where::anywhere);
  }

  ReachAnswer run() {
    std::vector<Reach> found;
    ReachTrouble trouble = look(false, found);
    const bool alone = threads_.are_stopped;
    const bool any_lost = std::any_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(asked()),
                                      [](Reach reach) { return reach == Reach::lost || reach == Reach::in_cycle; });
    if (!alone && (trouble != ReachTrouble::none || any_lost)) {
      trouble = look(true, found);
    }
    if (trouble != ReachTrouble::none) {
      return {std::vector<Reach>(asked(), Reach::unknown), trouble};
    }
    found.resize(asked());
    return {std::move(found), ReachTrouble::none};
  }

 private:
  std::size_t asked() const { return complements_.size() - Planted::kObjects; }

  /// Instead of what was planted before.
  void plant(Planted::Where where) {
    if (planted_) {
      complements_.resize(asked());
    }
    planted_.emplace(where);
    planted_->add_to(complements_);
    where_ = where;
  }

  /// Words that a program left over may lead to where blocks happen to be planted, which says nothing about the search: it
  /// is tried again with others, in memory that has no such past.
  ReachTrouble look(bool stop, std::vector<Reach>& found) {
    const ReachTrouble trouble = look_once(stop, found);
    if (trouble != ReachTrouble::not_trusted || where_ == Planted::Where::in_new_memory ||
        Planted::judge(planted_of(found)) != Planted::Verdict::words_left) {
      return trouble;
    }
    plant(Planted::Where::in_new_memory);
    return look_once(stop, found);
  }

  std::span<const Reach> planted_of(const std::vector<Reach>& found) const {
    return {found.data() + asked(), Planted::kObjects};
  }

  /// Copies the memory and goes through it.
  ReachTrouble look_once(bool stop, std::vector<Reach>& found) {
    found.assign(complements_.size(), Reach::unknown);
    if (const ReachTrouble trouble = copy(stop); trouble != ReachTrouble::none) {
      return trouble;
    }
    snapshot_.blank(question_.skipped);
    // Ours say where tensors' data are, or have room that was never written to, where words of earlier blocks may stand.
    snapshot_.blank(std::array{range_of(question_.skipped.data(), question_.skipped.size()),
                               range_of(mappings_.data(), mappings_.capacity()),
                               range_of(threads_.all.data(), threads_.all.capacity())});
    found = find_reach(complements_, space(), snapshot_);
    const std::span<const Reach> planted = planted_of(found);
    if (planted[0] == Reach::unknown) {
      return ReachTrouble::heap_unknown;
    }
    return Planted::judge(planted) == Planted::Verdict::right ? ReachTrouble::none : ReachTrouble::not_trusted;
  }

  /// Until it happened while nothing was mapped or given back: what is mapped can't be listed while others are stopped.
  ReachTrouble copy(bool stop) {
    constexpr int kMostTries = 20;
    for (int i = 0; i < kMostTries; ++i) {
      if (const auto outcome = try_copy(stop)) {
        return *outcome;
      }
    }
    return ReachTrouble::memory_changes;
  }

  std::optional<ReachTrouble> try_copy(bool stop) {
    if (!before_.read()) {
      return ReachTrouble::unreadable;
    }
    mappings_ = readable_mappings();
    if (before_.has_reservation()) {
      return ReachTrouble::too_large;
    }
    threads_.all = threads_of_process(mappings_);
    threads_.stopped.clear();
    const std::vector<AddressRange> ranges = copied();
    if (stop && !stopper_.stop()) {
      return ReachTrouble::threads_run;
    }
    const bool same = after_.read() && after_ == before_;
    const auto outcome = same ? snapshot_.take(ranges) : MemorySnapshot::Outcome::done;
    stopper_.go_on();
    if (!same) {
      return std::nullopt;
    }
    threads_.are_stopped = stop || is_alone();
    if (stop) {
      threads_.stopped.assign(stopper_.threads().begin(), stopper_.threads().end());
    }
    switch (outcome) {
      case MemorySnapshot::Outcome::done:
        return ReachTrouble::none;
      case MemorySnapshot::Outcome::too_large:
        return ReachTrouble::too_large;
      case MemorySnapshot::Outcome::unreadable:
        return ReachTrouble::unreadable;
    }
    return ReachTrouble::unreadable;
  }

  /// The memory that may hold addresses, without large parts that are known to hold none.
  std::vector<AddressRange> copied() const {
    constexpr std::uintptr_t kLarge = std::uintptr_t{1} << 16;
    std::vector<AddressRange> left_out = snapshot_.own_memory();
    for (const AddressRange& own : {stopper_.own_memory(), before_.own_memory(), after_.own_memory()}) {
      left_out.push_back(own);
    }
    for (const AddressRange& one : question_.skipped) {
      if (one.second - one.first >= kLarge) {
        left_out.emplace_back(one.first, one.second - kHeader); // a block reaches into the next one's header
      }
    }
    std::sort(left_out.begin(), left_out.end());
    std::vector<AddressRange> ranges;
    for (const Mapping& mapping : mappings_) {
      const bool is_device = mapping.file.starts_with("/dev/") && !mapping.file.starts_with("/dev/shm/") &&
          !mapping.file.starts_with("/dev/zero");
      if ((mapping.writable || !mapping.is_file) && !is_device) {
        const auto parts = without(mapping.range, left_out);
        ranges.insert(ranges.end(), parts.begin(), parts.end());
      }
    }
    return ranges;
  }

  ReachSpace space() const {
    ReachSpace space;
    space.mappings = mappings_;
    space.is_weak = question_.is_weak;
    for (const Mapping& mapping : mappings_) {
      space.roots.push_back(mapping.range); // of what was not copied nothing is seen
      if (mapping.is_static && mapping.file.find("/libc.so") != std::string::npos) {
        space.allocators.push_back(mapping.range);
      }
    }
    for (const ThreadRegisters& thread : threads_.stopped) {
      space.words.insert(space.words.end(), thread.words.begin(), thread.words.end());
    }
    space.words.insert(space.words.end(), question_.caller.registers.begin(), question_.caller.registers.end());
    space.no_roots = sorted(unused_stacks());
    return space;
  }

  std::vector<AddressRange> unused_stacks() const {
    std::vector<AddressRange> unused;
    for (std::size_t i = 0; i < threads_.all.size(); ++i) {
      const ThreadMemory& thread = threads_.all[i];
      if (i == 0) {
        add_own(thread, unused);
      } else if (thread.id == 0) {
        add_ended(thread, unused);
      } else if (threads_.stopped.empty() && thread.in_use_known) {
        add_below(thread.stack.first - kRedZone, thread.pointer, unused);
      }
    }
    for (const ThreadRegisters& thread : threads_.stopped) {
      add_below(thread.stack_pointer - kRedZone, thread.pointer, unused);
    }
    return unused;
  }

  void add_own(const ThreadMemory& thread, std::vector<AddressRange>& unused) const {
    const std::uintptr_t from = question_.caller.begin != 0 ? question_.caller.begin : thread.stack.second;
    add_below(from, thread.pointer, unused);
    unused.emplace_back(std::min(thread.stack.first, from), from); // ours
  }

  /// The stack of a thread that has ended, which is kept for others. None may have come to use it meanwhile.
  void add_ended(const ThreadMemory& thread, std::vector<AddressRange>& unused) const {
    const bool is_used = std::any_of(threads_.stopped.begin(), threads_.stopped.end(), [&](const ThreadRegisters& other) {
      return other.pointer == thread.stack.second;
    });
    if (threads_.are_stopped && !is_used) {
      add_below(thread.stack.second, thread.stack.second, unused);
    }
  }

  /// The part of a stack below `from`. A mapping is only known to be one stack, and not one of several that a program made
  /// beside each other, where a guard stands before it and a thread's own block at its end.
  void add_below(std::uintptr_t from, std::uintptr_t pointer, std::vector<AddressRange>& unused) const {
    const Mapping* const mapping = find_mapping(mappings_, from - 1);
    if (mapping == nullptr || mapping->is_file) {
      return;
    }
    const bool is_one_stack = mapping->file.starts_with("[stack") ||
        (from <= pointer && pointer < mapping->range.second && before_.has_guard_before(mapping->range.first));
    const bool is_shared = std::any_of(threads_.stopped.begin(), threads_.stopped.end(), [&](const ThreadRegisters& other) {
      return (mapping->range.first <= other.pointer && other.pointer < from) ||
          (mapping->range.first <= other.stack_pointer && other.stack_pointer < from - kRedZone);
    });
    if (is_one_stack && !is_shared) {
      unused.emplace_back(mapping->range.first, from);
    }
  }

  bool is_alone() const {
    return std::count_if(threads_.all.begin(), threads_.all.end(), [](const ThreadMemory& one) { return one.id != 0; }) == 1;
  }

  template <class Item>
  static AddressRange range_of(const Item* items, std::size_t count) {
    const auto begin = reinterpret_cast<std::uintptr_t>(items);
    return {begin, begin + count * sizeof(Item)};
  }

  static std::vector<AddressRange> sorted(std::vector<AddressRange> ranges) {
    std::sort(ranges.begin(), ranges.end());
    return ranges;
  }

  const ReachQuestion& question_;
  std::optional<Planted> planted_;
  Planted::Where where_ = Planted::Where::anywhere;
  std::vector<std::uintptr_t> complements_; ///< of the objects, and of what was planted
  std::vector<Mapping> mappings_;
  Threads threads_;
  StoppedThreads stopper_;
  MappingsText before_, after_;
  MemorySnapshot snapshot_;
};

} // namespace

ReachAnswer search_reach(const std::vector<std::uintptr_t>& complements, const ReachQuestion& question) {
  return Search(complements, question).run();
}

} // namespace tensorscope::report
