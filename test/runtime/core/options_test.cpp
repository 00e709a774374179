// SPDX-License-Identifier: Apache-2.0
// TENSORSCOPE_OPTIONS: what is taken, what is warned of, what is refused.
#include "core/options.h"

#include <gtest/gtest.h>

namespace {

using namespace tensorscope::core;

TEST(OptionsTest, NothingGivenIsAllDefaults) {
  const auto parsed = parse_options("");
  EXPECT_EQ(parsed.options.level, Level::scopes);
  EXPECT_EQ(parsed.options.on_escape, OnEscape::release);
  EXPECT_TRUE(parsed.warnings.empty());
  EXPECT_TRUE(parsed.error.empty());
}

TEST(OptionsTest, KeysAreTakenInAnyOrder) {
  const auto parsed = parse_options("on_escape=throw:level=off");
  EXPECT_EQ(parsed.options.level, Level::off);
  EXPECT_EQ(parsed.options.on_escape, OnEscape::throw_error);
  EXPECT_TRUE(parsed.error.empty());
}

TEST(OptionsTest, EmptyEntriesAreNone) {
  const auto parsed = parse_options("::level=off:");
  EXPECT_EQ(parsed.options.level, Level::off);
  EXPECT_TRUE(parsed.warnings.empty());
}

TEST(OptionsTest, AnUnknownKeyIsAWarningThatNamesIt) {
  const auto parsed = parse_options("levle=off:on_escape=report");
  ASSERT_EQ(parsed.warnings.size(), 1u);
  EXPECT_NE(parsed.warnings[0].find("'levle'"), std::string::npos);
  EXPECT_TRUE(parsed.error.empty());
  EXPECT_EQ(parsed.options.on_escape, OnEscape::report);
}

TEST(OptionsTest, ABadValueIsAnErrorThatNamesTheKeyAndWhatItTakes) {
  const auto parsed = parse_options("on_escape=keep");
  EXPECT_EQ(parsed.error,
            "TENSORSCOPE_OPTIONS: bad value 'keep' for 'on_escape': use release, report, throw");
  EXPECT_EQ(parsed.options.on_escape, OnEscape::release);
}

TEST(OptionsTest, AMissingValueIsABadOne) {
  EXPECT_NE(parse_options("level").error.find("'level'"), std::string::npos);
  EXPECT_NE(parse_options("level=").error.find("'level'"), std::string::npos);
}

TEST(OptionsTest, TheFirstBadValueIsTheError) {
  const auto parsed = parse_options("level=on:on_escape=keep");
  EXPECT_NE(parsed.error.find("'level'"), std::string::npos);
}

} // namespace
