// SPDX-License-Identifier: Apache-2.0
// What is a pile, by the times at which its parts were made.
#include "report/piles.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tensorscope::report {
namespace {

const core::OperatorInfo* const kOperator = nullptr;

/// A place that thread 7 came to first at `begin`.
core::Stack place(core::WorkClock begin) {
  core::Stack stack;
  stack.first_thread = 7;
  stack.first_time = begin;
  return stack;
}

/// So many living tensors of one place, made evenly between two times; the work goes on to the time `now`.
std::vector<Unscoped> made(const core::Stack& stack, int count, core::WorkClock from, core::WorkClock to,
                           core::WorkClock now, std::uint32_t thread = 7) {
  std::vector<Unscoped> all;
  for (int i = 0; i < count; ++i) {
    const auto share = static_cast<core::WorkClock>(i) / static_cast<core::WorkClock>(count);
    all.push_back({kOperator, &stack, from + share * (to - from), now, thread});
  }
  return all;
}

bool all_piled(const std::vector<Unscoped>& tensors) {
  const auto piled = find_piles(tensors);
  EXPECT_EQ(piled.size(), tensors.size());
  return std::all_of(piled.begin(), piled.end(), [](bool part) { return part; });
}

bool none_piled(const std::vector<Unscoped>& tensors) {
  const auto piled = find_piles(tensors);
  return std::none_of(piled.begin(), piled.end(), [](bool part) { return part; });
}

TEST(PilesTest, WhatIsKeptAllTheTimeIsAPile) {
  const auto stack = place(0);
  EXPECT_TRUE(all_piled(made(stack, 20, 0, 1000, 1000)));
  EXPECT_TRUE(all_piled(made(stack, 10, 0, 10, 10)));
}

TEST(PilesTest, AFewAreNoPile) {
  const auto stack = place(0);
  EXPECT_TRUE(none_piled(made(stack, 9, 0, 1000, 1000)));
  EXPECT_TRUE(none_piled({}));
}

TEST(PilesTest, WhatIsMadeAtTheBeginningIsEquipment) {
  const auto stack = place(0);
  EXPECT_TRUE(none_piled(made(stack, 200, 0, 10, 1000)));
  EXPECT_TRUE(none_piled(made(stack, 200, 0, 600, 1000)));
}

TEST(PilesTest, APileMayStopBeforeTheEnd) {
  const auto stack = place(0);
  EXPECT_TRUE(all_piled(made(stack, 200, 0, 800, 1000)));
}

TEST(PilesTest, TheLatestOfManyAreNoPile) {
  const auto stack = place(0);
  EXPECT_TRUE(none_piled(made(stack, 200, 900, 1000, 1000)));
  EXPECT_TRUE(none_piled(made(stack, 200, 400, 1000, 1000)));
}

TEST(PilesTest, APileMayBeginLate) {
  const auto stack = place(900);
  EXPECT_TRUE(all_piled(made(stack, 50, 900, 1000, 1000)));
}

TEST(PilesTest, WhereNothingIsUsedUpThereIsNoPile) {
  const auto stack = place(5);
  EXPECT_TRUE(none_piled(made(stack, 100, 5, 5, 5)));
  EXPECT_TRUE(none_piled(made(stack, 100, 5, 55, 55)));
}

TEST(PilesTest, PlacesAreJudgedApart) {
  const auto steady = place(0);
  const auto early = place(0);
  auto all = made(steady, 20, 0, 1000, 1000);
  const auto more = made(early, 20, 0, 10, 1000);
  all.insert(all.end(), more.begin(), more.end());
  const auto piled = find_piles(all);
  EXPECT_EQ(std::count(piled.begin(), piled.begin() + 20, true), 20);
  EXPECT_EQ(std::count(piled.begin() + 20, piled.end(), true), 0);
}

TEST(PilesTest, TheThreadThatWasThereFirstDecides) {
  const auto stack = place(0);
  auto all = made(stack, 20, 0, 1000, 1000);
  const auto others = made(stack, 5, 30, 40, 50, 8);
  all.insert(all.end(), others.begin(), others.end());
  EXPECT_TRUE(all_piled(all));
  EXPECT_TRUE(none_piled(made(stack, 20, 0, 1000, 1000, 8)));
}

TEST(PilesTest, WithoutAStackThereIsNoPlace) {
  auto all = made(place(0), 20, 0, 1000, 1000);
  for (auto& tensor : all) {
    tensor.stack = nullptr;
  }
  EXPECT_TRUE(none_piled(all));
}

} // namespace
} // namespace tensorscope::report
