// SPDX-License-Identifier: Apache-2.0
// A copy of what the program's memory holds at one moment, so that it can be gone through while the program goes on.
#pragma once

#include "report/memory.h"
#include "report/own_mapping.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tensorscope::report {

/// Lies where no search finds it: its own mapping is no part of what it copies.
class MemorySnapshot {
 public:
  /// More than this is not copied: the program may be near its end because memory is short.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;

  enum class Outcome { done, too_large, unreadable };

  /// Copies `ranges`, which are sorted. Allocates nothing, so other threads may be stopped meanwhile.
  Outcome take(std::span<const AddressRange> ranges) noexcept;

  /// Has no words any more that stand in `ranges`.
  void blank(std::span<const AddressRange> ranges);

  /// Calls `visit(address, words, count)` for what was copied of `range`. What was never written to is left out.
  template <class Visit>
  void visit(AddressRange range, Visit visit) const;

  /// Whether all bytes were copied.
  bool read(std::uintptr_t from, void* to, std::size_t bytes) const;

  /// What belongs to it: holds copies of all words.
  std::vector<AddressRange> own_memory() const;

 private:
  /// A run of words without a gap.
  struct Run {
    std::uintptr_t begin = 0;
    std::size_t count = 0;
    std::uintptr_t* words = nullptr;

    std::uintptr_t end() const { return begin + count * sizeof(std::uintptr_t); }
  };
  const Run* run_behind(std::uintptr_t address) const;
  bool add(std::uintptr_t address, const std::uintptr_t* words, std::size_t count) noexcept;

  static constexpr std::size_t kMostRuns = 65'536;
  MemoryReader reader_;
  OwnMapping word_memory_{kMostBytes};
  OwnMapping run_memory_{kMostRuns * sizeof(Run)};
  std::uintptr_t* const words_ = static_cast<std::uintptr_t*>(word_memory_.data());
  Run* const runs_ = static_cast<Run*>(run_memory_.data());
  std::size_t used_ = 0;
  std::size_t run_count_ = 0;
};

template <class Visit>
void MemorySnapshot::visit(AddressRange range, Visit visit) const {
  constexpr std::uintptr_t kWord = sizeof(std::uintptr_t);
  for (const Run* run = run_behind(range.first); run != runs_ + run_count_ && run->begin < range.second; ++run) {
    const std::uintptr_t begin = (std::max(run->begin, range.first) + kWord - 1) & ~(kWord - 1);
    const std::uintptr_t end = std::min(run->end(), range.second) & ~(kWord - 1);
    if (begin < end) {
      visit(begin, static_cast<const std::uintptr_t*>(run->words + (begin - run->begin) / kWord), (end - begin) / kWord);
    }
  }
}

} // namespace tensorscope::report
