// SPDX-License-Identifier: Apache-2.0
#include "tool/Suppressions.h"
#include <gtest/gtest.h>

using namespace tensorscope;

static constexpr llvm::StringLiteral Rule = "use-after-release";

static bool silences(llvm::StringRef Text, unsigned Line) {
  return Suppressions(Text).suppress(Rule, Line);
}

static std::vector<std::string> problems(const Suppressions &Comments) {
  std::vector<std::string> Lines;
  for (const SuppressionProblem &P :
       Comments.problems([](llvm::StringRef) { return true; }))
    Lines.push_back(std::to_string(P.Line) + ": " + P.Message);
  return Lines;
}

TEST(SuppressionsTest, ALineIsSilencedByNameByWildcardOrByNoName) {
  EXPECT_TRUE(silences("f(); // NOLINT(tensorscope-use-after-release)\n", 1));
  EXPECT_TRUE(silences("f(); // NOLINT(tensorscope-*)\n", 1));
  EXPECT_TRUE(silences("f(); // NOLINT: known\n", 1));
  EXPECT_TRUE(
      silences("f(); // NOLINT(bugprone-x, tensorscope-use-after-release)", 1));
}

TEST(SuppressionsTest, OtherLinesAndOtherNamesAreNot) {
  EXPECT_FALSE(silences("f(); // NOLINT\ng();\n", 2));
  EXPECT_FALSE(silences("f(); // NOLINT(tensorscope-unscoped-loop)\n", 1));
  EXPECT_FALSE(silences("f(); // NOLINT(use-after-release)\n", 1));
  EXPECT_FALSE(silences("f(); // NOLINT()\n", 1));
  EXPECT_FALSE(silences("f(); // NOLINTED\n", 1));
}

TEST(SuppressionsTest, TheNextLineIsSilenced) {
  llvm::StringRef Text =
      "// NOLINTNEXTLINE(tensorscope-use-after-release)\nf();\nf();\n";
  EXPECT_FALSE(silences(Text, 1));
  EXPECT_TRUE(silences(Text, 2));
  EXPECT_FALSE(silences(Text, 3));
}

TEST(SuppressionsTest, ABlockIsSilencedFromItsBeginToItsEnd) {
  llvm::StringRef Text = "a();\n"
                         "// NOLINTBEGIN(tensorscope-use-after-release)\n"
                         "b();\n"
                         "// NOLINTEND(tensorscope-use-after-release)\n"
                         "c();\n";
  EXPECT_FALSE(silences(Text, 1));
  EXPECT_TRUE(silences(Text, 3));
  EXPECT_FALSE(silences(Text, 5));
}

TEST(SuppressionsTest, BlocksWithDifferentNamesCross) {
  llvm::StringRef Text = "// NOLINTBEGIN(tensorscope-use-after-release)\n"
                         "// NOLINTBEGIN(tensorscope-unscoped-loop)\n"
                         "// NOLINTEND(tensorscope-use-after-release)\n"
                         "f();\n"
                         "// NOLINTEND(tensorscope-unscoped-loop)\n";
  Suppressions Comments(Text);
  EXPECT_FALSE(Comments.suppress("use-after-release", 4));
  EXPECT_TRUE(Comments.suppress("unscoped-loop", 4));
}

TEST(SuppressionsTest, ABlockWithoutItsPartnerSilencesNothingAndIsTold) {
  Suppressions Comments("// NOLINTBEGIN(tensorscope-unscoped-loop)\n"
                        "f();\n"
                        "// NOLINTEND(tensorscope-use-after-release)\n");
  EXPECT_FALSE(Comments.suppress("unscoped-loop", 2));
  EXPECT_EQ(problems(Comments),
            (std::vector<std::string>{
                "1: 'NOLINTBEGIN(tensorscope-unscoped-loop)' has no NOLINTEND "
                "after it",
                "3: 'NOLINTEND(tensorscope-use-after-release)' has no "
                "NOLINTBEGIN before it"}));
}

TEST(SuppressionsTest, ACommentThatSilencesNothingIsTold) {
  Suppressions Comments("f(); // NOLINT(tensorscope-use-after-release)\n"
                        "g(); // NOLINT(tensorscope-use-after-release)\n");
  EXPECT_TRUE(Comments.suppress(Rule, 1));
  EXPECT_EQ(problems(Comments),
            std::vector<std::string>{"2: 'NOLINT(tensorscope-use-after-release)"
                                     "' silences nothing"});
}

TEST(SuppressionsTest, ACommentForACheckThatDidNotRunIsNot) {
  Suppressions Comments("f(); // NOLINT(tensorscope-use-after-release)\n");
  EXPECT_TRUE(Comments
                  .problems([](llvm::StringRef Other) {
                    return Other != "use-after-release";
                  })
                  .empty());
}

TEST(SuppressionsTest, CommentsForOtherToolsAreNoneOfOurs) {
  Suppressions Comments("f(); // NOLINT\n"
                        "f(); // NOLINT(bugprone-use-after-move)\n"
                        "// NOLINTBEGIN(bugprone-*)\n");
  EXPECT_TRUE(problems(Comments).empty());
}

TEST(SuppressionsTest, LineEndsOfOtherSystemsDoNotMatter) {
  EXPECT_TRUE(silences("a();\r\nf(); // NOLINT(tensorscope-*)\r\n", 2));
}
