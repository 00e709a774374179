// SPDX-License-Identifier: Apache-2.0
// Leak tests with Catch2, version 2 or 3: one that holds, one that fails and names the line that leaks.
#include "recent_scores.h"

#include <tensorscope/tensorscope.h>

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#include <catch2/catch.hpp>
#endif

namespace {

TEST_CASE("scoring keeps nothing", "[clean]") {
  example::Scorer scorer;
  const auto input = torch::ones({4, 8});
  const auto check = tensorscope::expect_no_leaks([&] { scorer.score(input); });
  INFO(check);
  CHECK(check);
}

TEST_CASE("remembering keeps more and more", "[leaking]") {
  example::Scorer scorer;
  const auto input = torch::ones({4, 8});
  const auto check = tensorscope::expect_no_leaks([&] { scorer.score_and_remember(input); }, {.warmup = 3});
  INFO(check);
  CHECK(check);
}

} // namespace
