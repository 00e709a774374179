// SPDX-License-Identifier: Apache-2.0
// Leak tests with GoogleTest: one that holds, one that fails and names the line that leaks.
#include "recent_scores.h"

#include <tensorscope/tensorscope.h>

#include <gtest/gtest.h>

namespace {

TEST(ScorerTest, ScoringKeepsNothing) {
  example::Scorer scorer;
  const auto input = torch::ones({4, 8});
  const auto check = tensorscope::expect_no_leaks([&] { scorer.score(input); });
  EXPECT_TRUE(check) << check;
}

TEST(ScorerTest, RememberingKeepsMoreAndMore) {
  example::Scorer scorer;
  const auto input = torch::ones({4, 8});
  const auto check = tensorscope::expect_no_leaks([&] { scorer.score_and_remember(input); }, {.warmup = 3});
  EXPECT_TRUE(check) << check;
}

TEST(ScorerTest, WithoutAWarmUpACacheThatFillsIsNoticed) {
  example::Scorer scorer;
  const auto input = torch::ones({4, 8});
  EXPECT_FALSE(tensorscope::expect_no_leaks([&] { scorer.score(input); }, {.warmup = 0}));
}

} // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
