// SPDX-License-Identifier: Apache-2.0
// Suppression files: what is read, what is refused, what a pattern fits.
#include "core/suppressions.h"

#include <gtest/gtest.h>

#include <chrono>

namespace {

using namespace tensorscope::core;

TEST(SuppressionsTest, APatternIsFoundAnywhereInTheText) {
  EXPECT_FALSE(matches_pattern("load_table", "app::load_tabel(int)"));
  EXPECT_TRUE(matches_pattern("load_table", "app::load_table(int)"));
  EXPECT_TRUE(matches_pattern("app::load_table(int)", "app::load_table(int)"));
}

TEST(SuppressionsTest, AStarIsAnyRunOfCharacters) {
  EXPECT_FALSE(matches_pattern("app::*::fill", "app::fill"));
  EXPECT_TRUE(matches_pattern("app::*::fill", "app::cache::fill()"));
  EXPECT_TRUE(matches_pattern("app::*fill", "app::fill()"));
  EXPECT_TRUE(matches_pattern("*fill*", "fill"));
}

TEST(SuppressionsTest, ACaretAtTheBeginningTiesItToTheTextsBeginning) {
  EXPECT_FALSE(matches_pattern("^fill", "refill()"));
  EXPECT_TRUE(matches_pattern("^fill", "fill()"));
  EXPECT_TRUE(matches_pattern("^*fill", "refill()"));
}

TEST(SuppressionsTest, ADollarAtTheEndTiesItToTheTextsEnd) {
  EXPECT_FALSE(matches_pattern("fill$", "fill()"));
  EXPECT_TRUE(matches_pattern("fill$", "refill"));
  EXPECT_TRUE(matches_pattern("fill$", "fill fill"));
  EXPECT_TRUE(matches_pattern("fill*$", "fill()"));
  EXPECT_FALSE(matches_pattern("^fill$", "fill "));
  EXPECT_TRUE(matches_pattern("^fill$", "fill"));
}

TEST(SuppressionsTest, OtherCharactersMeanThemselves) {
  EXPECT_FALSE(matches_pattern("operator[]", "operator(]"));
  EXPECT_TRUE(matches_pattern("operator[](int)", "Table::operator[](int)"));
  EXPECT_FALSE(matches_pattern("a?c", "abc"));
  EXPECT_TRUE(matches_pattern("a\\c", "a\\c"));
  EXPECT_TRUE(matches_pattern("operator^(int)", "X::operator^(int)"));
  EXPECT_TRUE(matches_pattern("lambda(int*)#1", "f()::lambda(int*)#1"));
}

TEST(SuppressionsTest, AnEmptyTextFitsNothing) {
  EXPECT_FALSE(matches_pattern("*", ""));
  EXPECT_FALSE(matches_pattern("^$", ""));
}

TEST(SuppressionsTest, ManyStarsOnALongNameTakeNoTime) {
  std::string name;
  for (int i = 0; i < 20'000; ++i) {
    name += "ab";
  }
  const auto before = std::chrono::steady_clock::now();
  EXPECT_FALSE(matches_pattern("a*a*a*a*b*b*a*b*x", name));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(2));
}

TEST(SuppressionsTest, EachKindOfRuleIsReadWithItsPlace) {
  const auto parsed = parse_suppressions("leak:^app::fill$\n op:aten::mul \nscope:train.cpp:12\r\n\tdevice:cuda:0", "a.supp");
  EXPECT_TRUE(parsed.problems.empty());
  ASSERT_EQ(parsed.rules.size(), 4u);
  EXPECT_EQ(parsed.rules[0].kind, SuppressionKind::leak);
  EXPECT_EQ(parsed.rules[0].pattern, "^app::fill$");
  EXPECT_EQ(parsed.rules[0].origin, "a.supp:1");
  EXPECT_EQ(parsed.rules[1].text(), "op:aten::mul");
  EXPECT_EQ(parsed.rules[2].pattern, "train.cpp:12");
  EXPECT_EQ(parsed.rules[3].text(), "device:cuda:0");
  EXPECT_EQ(parsed.rules[3].origin, "a.supp:4");
}

TEST(SuppressionsTest, CommentsAndEmptyLinesAreNoRules) {
  const auto parsed = parse_suppressions("# a comment\n\n   \n  # leak:another\nleak:one#two", "a");
  EXPECT_TRUE(parsed.problems.empty());
  ASSERT_EQ(parsed.rules.size(), 1u);
  EXPECT_EQ(parsed.rules[0].pattern, "one#two");
}

TEST(SuppressionsTest, ALineThatIsNoRuleIsNamedWithItsPlaceAndTheOthersStay) {
  const auto parsed = parse_suppressions("leak:one\nrace:two\nthree\n:four\nleak:five\n", "dir/a.supp");
  ASSERT_EQ(parsed.problems.size(), 3u);
  EXPECT_EQ(parsed.problems[0], "dir/a.supp:2: 'race:two' is no rule: use leak:, op:, scope: or device: and a pattern");
  EXPECT_EQ(parsed.problems[1].find("dir/a.supp:3: 'three' "), 0u);
  EXPECT_EQ(parsed.problems[2].find("dir/a.supp:4: ':four' "), 0u);
  EXPECT_EQ(parsed.rules.size(), 2u);
}

TEST(SuppressionsTest, AFileOfAnotherKindIsShownAsTextAndNotInFull) {
  const auto binary = parse_suppressions(std::string("\x7f" "ELF\x01\x1b[1m") + std::string(500, 'x'), "a.out");
  ASSERT_EQ(binary.problems.size(), 1u);
  EXPECT_EQ(binary.problems[0].find("a.out:1: '?ELF??[1mxxx"), 0u) << binary.problems[0];
  EXPECT_LT(binary.problems[0].size(), 150u);
  std::string lines;
  for (int i = 0; i < 1000; ++i) {
    lines += "no rule\n";
  }
  EXPECT_EQ(parse_suppressions(lines + "leak:one", "a").problems.size(), 20u);
  EXPECT_EQ(parse_suppressions(lines + "leak:one", "a").rules.size(), 1u);
}

TEST(SuppressionsTest, ARuleThatHidesEverythingIsRefused) {
  for (const char* const line : {"leak:", "leak:*", "op:  ", "scope:^*$", "device:^"}) {
    const auto parsed = parse_suppressions(line, "a");
    ASSERT_EQ(parsed.problems.size(), 1u) << line;
    EXPECT_NE(parsed.problems[0].find("would hide everything"), std::string::npos);
    EXPECT_TRUE(parsed.rules.empty());
  }
}

} // namespace
