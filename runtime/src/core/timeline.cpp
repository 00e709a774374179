// SPDX-License-Identifier: Apache-2.0
#include "core/timeline.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

namespace tensorscope::core {
namespace {

TimelineClock monotonic() noexcept {
  return static_cast<TimelineClock>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

constinit std::atomic<TimelineClock> loaded_at{0};

} // namespace

TimelineClock timeline_now() noexcept {
  return monotonic() - loaded_at.load(std::memory_order_relaxed);
}

void start_timeline_clock() noexcept { loaded_at.store(monotonic(), std::memory_order_relaxed); }

bool Timeline::take() const noexcept { return !busy_.exchange(true, std::memory_order_acquire); }

void Timeline::note(TimelineClock now) noexcept {
  // A few looks at the clock for each stretch, whatever the pace of the work.
  const TimelineClock passed = now > looked_at_ ? now - looked_at_ : 0;
  if (passed < kFirstLength / 16) {
    pace_ = std::min(2 * pace_, kMostPace);
  } else if (passed > kFirstLength / 4) {
    pace_ = std::max<std::uint32_t>(pace_ / 2, 1);
  }
  looked_at_ = now;
  countdown_ = pace_;
  noted_ = live_;
  if (!take()) { // it is being read: the next look will do
    return;
  }
  if (samples_ == nullptr) {
    samples_.reset(new (std::nothrow) Sample[kSamples]);
  }
  if (samples_ != nullptr) {
    add(now);
    highest_ = live_;
  }
  give_back();
}

void Timeline::add(TimelineClock now) noexcept {
  if (count_ != 0 && now < samples_[count_ - 1].begin + length_) {
    Sample& last = samples_[count_ - 1];
    last.live = live_;
    last.highest = std::max(last.highest, highest_);
    return;
  }
  if (count_ == kSamples) {
    halve();
  }
  samples_[count_++] = {now, live_, highest_};
}

void Timeline::halve() noexcept {
  for (std::size_t i = 0; i < kSamples / 2; ++i) {
    const Sample& first = samples_[2 * i];
    const Sample& second = samples_[2 * i + 1];
    samples_[i] = {first.begin, second.live, std::max(first.highest, second.highest)};
  }
  count_ = kSamples / 2;
  length_ *= 2;
}

std::vector<Timeline::Sample> Timeline::samples() const {
  std::vector<Sample> copy;
  copy.reserve(kSamples);
  constexpr int kTries = 10000;
  for (int i = 0; !take(); ++i) {
    if (i == kTries) {
      return copy;
    }
    std::this_thread::yield();
  }
  copy.assign(samples_.get(), samples_.get() + count_);
  give_back();
  return copy;
}

} // namespace tensorscope::core
