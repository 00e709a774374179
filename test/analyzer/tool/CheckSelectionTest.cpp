// SPDX-License-Identifier: Apache-2.0
#include "tool/CheckSelection.h"
#include <gtest/gtest.h>

using namespace tensorscope;

static std::string refusal(CheckSelection &Checks, llvm::StringRef Entry) {
  return llvm::toString(Checks.apply(Entry));
}

TEST(CheckSelectionTest, ALevelRunsTheChecksUpToIt) {
  CheckSelection Certain(0);
  EXPECT_TRUE(Certain.runs("use-after-release"));
  EXPECT_FALSE(Certain.runs("unscoped-loop"));
  CheckSelection Default(1);
  EXPECT_TRUE(Default.runs("unscoped-loop"));
}

TEST(CheckSelectionTest, AFindingAboveTheLevelIsNotReported) {
  CheckSelection Certain(0);
  EXPECT_TRUE(Certain.reports("use-after-release", 0));
  EXPECT_FALSE(Certain.reports("use-after-release", 1));
}

TEST(CheckSelectionTest, AMinusSwitchesACheckOff) {
  CheckSelection Checks(1);
  EXPECT_EQ(refusal(Checks, "-use-after-release"), "");
  EXPECT_FALSE(Checks.runs("use-after-release"));
  EXPECT_FALSE(Checks.reports("use-after-release", 0));
  EXPECT_TRUE(Checks.runs("discarded-scope-result"));
}

TEST(CheckSelectionTest, ANameSwitchesACheckOnAtAnyLevel) {
  CheckSelection Checks(0);
  EXPECT_EQ(refusal(Checks, "unscoped-loop"), "");
  EXPECT_TRUE(Checks.reports("unscoped-loop", 1));
  EXPECT_TRUE(Checks.reports("unscoped-loop", 2));
}

TEST(CheckSelectionTest, EntriesApplyInOrderWithWildcardsAndPrefix) {
  CheckSelection Checks(1);
  EXPECT_EQ(refusal(Checks, "-*"), "");
  EXPECT_EQ(refusal(Checks, " tensorscope-unretained-escape "), "");
  EXPECT_TRUE(Checks.runs("unretained-escape"));
  EXPECT_FALSE(Checks.runs("use-after-release"));
}

TEST(CheckSelectionTest, AnEntryThatNamesNoCheckIsRefused) {
  CheckSelection Checks(1);
  EXPECT_EQ(refusal(Checks, "use-after-relase"),
            "no check is named 'use-after-relase'; did you mean "
            "'use-after-release'?");
  EXPECT_NE(refusal(Checks, "-use[").find("check '-use['"), std::string::npos);
}
