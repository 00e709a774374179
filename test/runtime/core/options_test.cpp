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

TEST(OptionsTest, AllUnknownKeysAreNamedInOneWarning) {
  const auto parsed = parse_options("levle=off:on_escape=report:rate=3:x");
  ASSERT_EQ(parsed.warnings.size(), 1u);
  EXPECT_EQ(parsed.warnings[0],
            "TENSORSCOPE_OPTIONS: unknown keys 'levle' (did you mean 'level'?), 'rate', 'x' are ignored; help=1 lists the "
            "keys");
}

TEST(OptionsTest, AnUnknownKeyComesWithTheOneThatWasProbablyMeant) {
  const auto nearest_to = [](const std::string& key) {
    const std::string line = parse_options(key + "=1").warnings.at(0);
    const auto begin = line.find("did you mean '");
    return begin == std::string::npos ? "" : line.substr(begin + 14, line.find('\'', begin + 14) - begin - 14);
  };
  EXPECT_EQ(nearest_to("zzz"), "");
  EXPECT_EQ(nearest_to("verbose"), "");
  EXPECT_EQ(nearest_to(""), "");
  EXPECT_EQ(nearest_to(std::string(100'000, 'x')), "");
  EXPECT_EQ(nearest_to("levl"), "level");
  EXPECT_EQ(nearest_to("suppression"), "suppressions");
  EXPECT_EQ(nearest_to("logpath"), "log_path");
  EXPECT_EQ(nearest_to("exit_code"), "exitcode");
  EXPECT_EQ(nearest_to("Depth"), "depth");
}

TEST(OptionsTest, WhatHasNoEffectBelowLevelFullIsATrouble) {
  EXPECT_EQ(trouble_between(parse_options("halt=1").options), "TENSORSCOPE_OPTIONS: no effect below level=full: halt=1");
  EXPECT_NE(trouble_between(parse_options("halt=1:level=off").options), "");
  EXPECT_EQ(trouble_between(parse_options("suppressions=a:limit_mb=5").options),
            "TENSORSCOPE_OPTIONS: no effect below level=full: limit_mb, suppressions");
  EXPECT_EQ(trouble_between(parse_options("halt=1:level=full").options), "");
  EXPECT_EQ(trouble_between(parse_options("suppressions=a:limit_mb=5:level=full").options), "");
  EXPECT_EQ(trouble_between(parse_options("halt=0").options), "");
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

TEST(OptionsTest, NumbersSwitchesAndTextsAreTaken) {
  const auto parsed = parse_options("exitcode=0:leaks=0:depth=256:log_path=/tmp/%p.log");
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.options.exitcode, 0u);
  EXPECT_FALSE(parsed.options.leaks);
  EXPECT_EQ(parsed.options.depth, 256u);
  EXPECT_EQ(parsed.options.log_path, "/tmp/%p.log");
}

TEST(OptionsTest, ABadNumberIsAnErrorThatSaysTheRange) {
  for (const char* const value : {"256", "-1", "1x", "", "0x10", " 1", "99999999999999999999"}) {
    const auto parsed = parse_options(std::string("exitcode=") + value);
    EXPECT_EQ(parsed.error, std::string("TENSORSCOPE_OPTIONS: bad value '") + value +
                  "' for 'exitcode': use a whole number from 0 to 255");
    EXPECT_EQ(parsed.options.exitcode, 23u);
  }
}

TEST(OptionsTest, ASwitchTakesZeroAndOne) {
  EXPECT_EQ(parse_options("halt=yes").error, "TENSORSCOPE_OPTIONS: bad value 'yes' for 'halt': use 0, 1");
}

TEST(OptionsTest, AListTakesEachValueOnceInTheOrderGiven) {
  const auto parsed = parse_options("report=json,text,json");
  EXPECT_EQ(parsed.options.report, (std::vector<ReportFormat>{ReportFormat::json, ReportFormat::text}));
}

TEST(OptionsTest, AListWithABadValueIsLeftAsItWas) {
  for (const char* const value : {"text,xml", "text,", ",text", ""}) {
    const auto parsed = parse_options(std::string("report=") + value);
    EXPECT_NE(parsed.error.find("use one or more of text, json"), std::string::npos) << value;
    EXPECT_EQ(parsed.options.report, std::vector<ReportFormat>{ReportFormat::text});
  }
}

TEST(OptionsTest, AQuotedValueHoldsColons) {
  EXPECT_EQ(parse_options("log_path='a:b':halt=1").options.log_path, "a:b");
  EXPECT_TRUE(parse_options("log_path=\"a:b\":halt=1").options.halt);
  EXPECT_EQ(parse_options("log_path=it\"'\"s").options.log_path, "it's");
}

TEST(OptionsTest, WhatIsGivenWinsOverTheDefaults) {
  Options defaults;
  defaults.level = Level::full;
  defaults.exitcode = 5;
  const auto parsed = parse_options("level=scopes", defaults);
  EXPECT_EQ(parsed.options.level, Level::scopes);
  EXPECT_EQ(parsed.options.exitcode, 5u);
}

TEST(OptionsTest, TheHelpListsEveryKeyOnALineOfItsOwn) {
  const auto help = options_help();
#define TENSORSCOPE_OPTION(key, type, value, sentence, values) EXPECT_NE(help.find("\n  " #key "="), std::string::npos);
#define TENSORSCOPE_SET(key, type, value, sentence, values) EXPECT_NE(help.find("\n  " #key "="), std::string::npos);
#define TENSORSCOPE_SWITCH(key, value, sentence) EXPECT_NE(help.find("\n  " #key "=0, 1"), std::string::npos);
#define TENSORSCOPE_NUMBER(key, value, most, sentence) EXPECT_NE(help.find("\n  " #key "=number"), std::string::npos);
#define TENSORSCOPE_TEXT(key, what, sentence) EXPECT_NE(help.find("\n  " #key "=" what), std::string::npos);
#include "options.inc"
}

} // namespace
