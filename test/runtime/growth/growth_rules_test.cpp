// SPDX-License-Identifier: Apache-2.0
// Which samples make growth.
#include "report/growth.h"

#include <gtest/gtest.h>

namespace tensorscope::report {
namespace {

constexpr std::uint64_t kWarmup = 5;

/// A rise of so many points, ten repeats from one to the next.
core::Rise rise_of(std::initializer_list<std::uint32_t> amounts) {
  core::Rise rise;
  std::uint32_t repeats = 0;
  for (const std::uint32_t amount : amounts) {
    rise.add({repeats += 10, amount, amount * 100, repeats});
  }
  return rise;
}

TEST(GrowthRulesTest, WhatIsAddedInEachRepeatGrows) {
  const auto slope = steady_slope(rise_of({10, 20, 30, 40, 50}), kWarmup);
  ASSERT_TRUE(slope);
  EXPECT_EQ(slope->iterations, 40U);
  EXPECT_EQ(slope->to - slope->from, 40U);
  EXPECT_EQ(slope->bytes, 4000);
  EXPECT_EQ(slope->passes, 40U);
}

TEST(GrowthRulesTest, WhatIsAddedNowAndThenGrows) {
  EXPECT_TRUE(steady_slope(rise_of({4, 4, 5, 5, 6, 6, 7, 8}), kWarmup));
}

TEST(GrowthRulesTest, WhatStaysTheSameDoesNotGrow) {
  EXPECT_FALSE(steady_slope(rise_of({40, 40, 40, 40, 40}), kWarmup));
  EXPECT_FALSE(steady_slope(rise_of({40, 41, 39, 42, 40}), kWarmup));
}

TEST(GrowthRulesTest, WhatIsFullDoesNotGrow) {
  EXPECT_FALSE(steady_slope(rise_of({10, 20, 30, 30, 30, 30, 30, 30}), kWarmup));
}

TEST(GrowthRulesTest, AStepIsNoSlope) {
  EXPECT_FALSE(steady_slope(rise_of({5, 50, 50, 50, 50}), kWarmup));
  EXPECT_FALSE(steady_slope(rise_of({5, 5, 5, 5, 50}), kWarmup));
}

TEST(GrowthRulesTest, GrowthMayBeginLate) {
  const auto slope = steady_slope(rise_of({8, 8, 8, 8, 8, 18, 28, 38, 48}), kWarmup);
  ASSERT_TRUE(slope);
  EXPECT_EQ(slope->iterations, 40U);
}

TEST(GrowthRulesTest, WarmupDoesNotCount) {
  EXPECT_FALSE(steady_slope(rise_of({10, 20, 30, 40, 50}), 40));
  EXPECT_TRUE(steady_slope(rise_of({10, 20, 30, 40, 50}), 30));
}

TEST(GrowthRulesTest, WhatIsLetGoEndsARise) {
  const auto rise = rise_of({10, 20, 30, 2, 12, 22});
  EXPECT_EQ(rise.earlier_peak(), 30U);
  EXPECT_EQ(rise.points().size(), 3U);
}

TEST(GrowthRulesTest, ARiseKeepsFewPoints) {
  core::Rise rise;
  for (std::uint32_t repeats = 1; repeats < 10'000; ++repeats) {
    rise.add({repeats, repeats, 0, 0});
  }
  EXPECT_LE(rise.points().size(), 16U);
  EXPECT_EQ(rise.points().front().repeats, 1U);
  EXPECT_EQ(rise.last().repeats, 9999U);
  EXPECT_TRUE(steady_slope(rise, kWarmup));
}

TEST(GrowthRulesTest, ALookWithoutARepeatIsNoPoint) {
  core::Rise rise;
  rise.add({10, 5, 0, 0});
  rise.add({10, 6, 0, 0});
  EXPECT_EQ(rise.points().size(), 1U);
  EXPECT_EQ(rise.last().amount, 6U);
}

core::Stack somewhere;

/// A log with one place, whose graphs rose over so many repeats with a backward pass in each, or with none.
std::vector<GrowthFinding> graphs_rose(std::uint32_t repeats, bool passes, std::uint64_t passes_later) {
  static const core::Liveness liveness{[](const void*) noexcept { return true; }, [](void*) noexcept {}};
  core::GrowthLog log(liveness);
  auto& site = *log.site_at({&somewhere, &core::unknown_operator(), 0, core::GrowthOf::tensors});
  site.graphs = std::make_unique<core::Rise>();
  for (std::uint32_t repeat = kWarmup; repeat <= repeats; ++repeat) {
    site.graphs->add({repeat, repeat, 0, passes ? repeat : 0});
  }
  return find_growth(log, {repeats, (passes ? repeats : 0) + passes_later, kWarmup});
}

TEST(GrowthRulesTest, GraphsThatOutliveBackwardPassesGrow) {
  EXPECT_EQ(graphs_rose(12, true, 0).size(), 1U);
  EXPECT_EQ(graphs_rose(12, true, 3).size(), 1U);
}

TEST(GrowthRulesTest, GraphsThatWaitForABackwardPassDoNot) {
  EXPECT_TRUE(graphs_rose(200, false, 1).empty());
  EXPECT_EQ(graphs_rose(200, false, 0).size(), 1U);
}

TEST(GrowthRulesTest, AFewGraphsWithoutABackwardPassAreNoGrowth) { EXPECT_TRUE(graphs_rose(15, false, 0).empty()); }

} // namespace
} // namespace tensorscope::report
