// SPDX-License-Identifier: Apache-2.0
// The threads' timelines as one.
#include "report/usage.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tensorscope::report {
namespace {

using Samples = std::vector<core::Timeline::Sample>;

TEST(UsageTest, WithoutThreadsThereIsNoPoint) { EXPECT_TRUE(add_up({}, 10).empty()); }

TEST(UsageTest, ThreadsAreAddedUpInTheOrderOfTime) {
  const auto points = add_up({Samples{{10, 100, 150}, {30, 50, 100}}, Samples{{20, 7, 9}}}, 10);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].live, 100U);
  EXPECT_EQ(points[0].highest, 150U);
  EXPECT_EQ(points[1].begin, 20U);
  EXPECT_EQ(points[1].live, 107U);
  EXPECT_EQ(points[1].highest, 109U);
  EXPECT_EQ(points[2].live, 57U);
}

TEST(UsageTest, WhatOneThreadMakesAndAnotherFreesIsGone) {
  const auto points = add_up({Samples{{10, 1000, 1000}}, Samples{{20, -1000, 0}}}, 10);
  EXPECT_EQ(points.back().live, 0U);
  EXPECT_EQ(points.back().highest, 1000U);
}

TEST(UsageTest, ManyPointsBecomeFewWithTheSamePeak) {
  Samples samples;
  for (std::int64_t i = 0; i < 5000; ++i) {
    samples.push_back({static_cast<core::TimelineClock>(i * 10), i, i == 4321 ? 99999 : i});
  }
  const auto points = add_up({samples}, 100);
  EXPECT_LE(points.size(), 100U);
  EXPECT_GE(points.size(), 90U);
  EXPECT_EQ(points.back().live, 4999U);
  std::uint64_t peak = 0;
  for (const auto& point : points) {
    peak = std::max(peak, point.highest);
  }
  EXPECT_EQ(peak, 99999U);
}

} // namespace
} // namespace tensorscope::report
