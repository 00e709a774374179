// SPDX-License-Identifier: Apache-2.0
// One thread's live bytes over time: what a bounded buffer still says of a long run.
#include "core/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tensorscope::core {
namespace {

constexpr TimelineClock kLength = Timeline::kFirstLength;

TEST(TimelineTest, WithoutAllocationsThereIsNothing) { EXPECT_TRUE(Timeline().samples().empty()); }

TEST(TimelineTest, EachStretchHasItsLastValueAndItsHighest) {
  Timeline timeline;
  timeline.change(100);
  timeline.change(50);
  timeline.change(-120);
  timeline.note(timeline_now() + 5 * kLength);
  timeline.change(7);
  timeline.note(timeline_now() + 10 * kLength);
  const auto samples = timeline.samples();
  ASSERT_GE(samples.size(), 3U);
  std::int64_t highest = 0;
  for (const auto& sample : samples) {
    highest = std::max(highest, sample.highest);
  }
  EXPECT_EQ(highest, 150);
  EXPECT_EQ(samples.back().live, 37);
}

TEST(TimelineTest, WhatIsFreedForOthersIsNegative) {
  Timeline timeline;
  timeline.change(-64);
  EXPECT_EQ(timeline.samples().back().live, -64);
}

TEST(TimelineTest, AFullBufferKeepsThePeakAndTheWholeTime) {
  Timeline timeline;
  const TimelineClock begin = timeline_now() + kLength;
  constexpr TimelineClock kStretches = 100'000;
  for (TimelineClock i = 0; i < kStretches; ++i) {
    timeline.change(i == 70'001 ? 5'000'000 : 1);
    timeline.change(i == 70'001 ? -5'000'000 : 0);
    timeline.note(begin + i * kLength);
  }
  const auto samples = timeline.samples();
  EXPECT_LE(samples.size(), Timeline::kSamples);
  EXPECT_GE(samples.size(), Timeline::kSamples / 2 - 1);
  EXPECT_LE(samples.front().begin, begin);
  EXPECT_GE(samples.back().begin, begin + kStretches * kLength * 9 / 10);
  EXPECT_TRUE(std::is_sorted(samples.begin(), samples.end(),
                             [](const auto& a, const auto& b) { return a.begin < b.begin; }));
  const auto top = std::max_element(samples.begin(), samples.end(),
                                    [](const auto& a, const auto& b) { return a.highest < b.highest; });
  EXPECT_EQ(top->highest, 5'070'001);
  EXPECT_NEAR(static_cast<double>(top->begin - begin), 70'001.0 * kLength, 1000.0 * kLength);
}

TEST(TimelineTest, ALargeChangeIsSeenWhileSmallOnesAreMany) {
  Timeline timeline;
  for (int i = 0; i < 1'000'000; ++i) {
    timeline.change(8);
    timeline.change(-8);
  }
  timeline.change(3 << 20);
  EXPECT_EQ(timeline.samples().back().live, 3 << 20);
}

} // namespace
} // namespace tensorscope::core
