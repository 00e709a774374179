// SPDX-License-Identifier: Apache-2.0
// How many bytes one thread has allocated more than it freed, over time, in a buffer that never grows: when it is full,
// each two neighbours become one. Written by its thread at level `full`, read by whoever reports.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace tensorscope::core {

/// Nanoseconds since the library was loaded.
using TimelineClock = std::uint64_t;
TimelineClock timeline_now() noexcept;

/// To be called when the library is loaded.
void start_timeline_clock() noexcept;

class Timeline {
 public:
  /// A stretch of time, up to the next one's begin.
  struct Sample {
    TimelineClock begin = 0;
    std::int64_t live = 0;    ///< at its end; negative where the thread frees what others allocated
    std::int64_t highest = 0; ///< within
  };

  static constexpr std::size_t kSamples = 512;
  static constexpr TimelineClock kFirstLength = 1'000'000; ///< of a stretch; doubled when the buffer is full

  /// The thread's bytes change. Two comparisons, mostly: the clock is read once in many small changes, or after a large one.
  void change(std::int64_t amount) noexcept {
    live_ += amount;
    highest_ = live_ > highest_ ? live_ : highest_;
    constexpr std::int64_t kLarge = 1 << 20;
    if (--countdown_ == 0 || static_cast<std::uint64_t>(live_ - noted_ + kLarge) > 2 * kLarge) [[unlikely]] {
      note(timeline_now());
    }
  }

  /// A copy. What the thread did since it last looked at the clock is not in it. Empty if the thread is writing all the time,
  /// as one that a fork left behind.
  std::vector<Sample> samples() const;

  /// Takes the state down; `now` never goes back. Called by change(), and by tests.
  void note(TimelineClock now) noexcept;

 private:
  bool take() const noexcept;
  void give_back() const noexcept { busy_.store(false, std::memory_order_release); }
  void add(TimelineClock now) noexcept;
  void halve() noexcept;

  static constexpr std::uint32_t kMostPace = 1024;

  // The thread's alone.
  std::int64_t live_ = 0;
  std::int64_t highest_ = 0; ///< since it was last noted
  std::int64_t noted_ = 0;
  std::uint32_t countdown_ = 1;
  std::uint32_t pace_ = 1;
  TimelineClock looked_at_ = 0;

  // While busy.
  mutable std::atomic<bool> busy_{false};
  std::unique_ptr<Sample[]> samples_;
  std::size_t count_ = 0;
  TimelineClock length_ = kFirstLength;
};

} // namespace tensorscope::core
