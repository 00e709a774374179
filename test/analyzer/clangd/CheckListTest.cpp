// SPDX-License-Identifier: Apache-2.0
#include "clangd/CheckList.h"

#include <gtest/gtest.h>

namespace tensorscope {
namespace {

const std::string Ours =
    "tensorscope-blob-extent,"
    "tensorscope-contradicted-model,"
    "tensorscope-dangling-blob,"
    "tensorscope-dangling-data-ptr,"
    "tensorscope-discarded-scope-result,"
    "tensorscope-gc-in-loop,"
    "tensorscope-graph-retention,"
    "tensorscope-long-lived-in-scope,"
    "tensorscope-missing-no-grad,"
    "tensorscope-raw-handle-leak,"
    "tensorscope-reference-cycle,"
    "tensorscope-static-device-tensor,"
    "tensorscope-thread-without-scope,"
    "tensorscope-unbalanced-session,"
    "tensorscope-unretained-escape,"
    "tensorscope-unscoped-loop,"
    "tensorscope-use-after-release";

TEST(CheckListTest, OursComeBeforeTheUsersEntriesSoThatThoseWin) {
  EXPECT_EQ(withOurChecks("bugprone-*,-tensorscope-unscoped-loop"), Ours + ",bugprone-*,-tensorscope-unscoped-loop");
  EXPECT_EQ(withOurChecks("*,-tensorscope-*"), Ours + ",*,-tensorscope-*");
}

TEST(CheckListTest, AnEmptyListGetsOursAlone) { EXPECT_EQ(withOurChecks(""), Ours); }

TEST(CheckListTest, OursComeAfterTheLastClearing) {
  EXPECT_EQ(withOurChecks("-*,bugprone-*"), "-*," + Ours + ",bugprone-*");
  EXPECT_EQ(withOurChecks("-*,a-b,-*,c-d"), "-*,a-b,-*," + Ours + ",c-d");
}

TEST(CheckListTest, AClearingWithNothingAfterItSwitchesOursOffToo) {
  EXPECT_EQ(withOurChecks("-*"), "-*");
  EXPECT_EQ(withOurChecks("bugprone-*, -* ,\n"), "bugprone-*, -* ,\n");
}

TEST(CheckListTest, AfterAClearingTheChecksOfOursThatAreNamedAreTheOnes) {
  std::string Chosen = "-*,tensorscope-unscoped-loop";
  EXPECT_EQ(withOurChecks(Chosen), Chosen);
  std::string Before = "tensorscope-unscoped-loop,-*,a-b";
  EXPECT_EQ(withOurChecks(Before), "tensorscope-unscoped-loop,-*," + Ours + ",a-b");
  EXPECT_EQ(withOurChecks("-*,a-b,-tensorscope-unscoped-loop"), "-*," + Ours + ",a-b,-tensorscope-unscoped-loop");
}

TEST(CheckListTest, LineEndsPartEntriesAsCommasDo) {
  EXPECT_EQ(withOurChecks("-*\n  bugprone-*,\n  -bugprone-branch-clone\n"),
            "-*," + Ours + ",bugprone-*,-bugprone-branch-clone");
}

TEST(CheckListTest, AListThatNamesOursAloneSaysNothingOfOthers) {
  EXPECT_TRUE(namesOnlyOurs(""));
  EXPECT_TRUE(namesOnlyOurs("-tensorscope-*, tensorscope-unscoped-loop"));
  EXPECT_FALSE(namesOnlyOurs("-tensorscope-*,bugprone-*"));
  EXPECT_FALSE(namesOnlyOurs("-*"));
}

TEST(CheckListTest, OurChecksAreKnownByTheirFullNames) {
  EXPECT_TRUE(isOurCheck("tensorscope-use-after-release"));
  EXPECT_FALSE(isOurCheck("use-after-release"));
  EXPECT_FALSE(isOurCheck("tensorscope-use-after-move"));
  EXPECT_FALSE(isOurCheck("bugprone-use-after-move"));
}

} // namespace
} // namespace tensorscope
