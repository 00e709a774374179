// SPDX-License-Identifier: Apache-2.0
#include "tool/Report.h"
#include "TemporaryFolder.h"
#include "tool/CheckSelection.h"
#include "tool/SourceTexts.h"

using namespace tensorscope;

namespace {

Finding finding(std::string File, unsigned Line,
                std::string Rule = "use-after-release") {
  Finding F;
  F.Rule = std::move(Rule);
  F.At = {std::move(File), Line, 5};
  return F;
}

FileReport file(std::string Name, std::vector<Finding> Findings = {}) {
  FileReport Report;
  Report.File = std::move(Name);
  Report.Findings = std::move(Findings);
  return Report;
}

class ReportTest : public testing::Test {
protected:
  Report make(std::vector<FileReport> Files, bool WholeDatabase = true) {
    return makeReport(std::move(Files), Folder.path(), Checks, WholeDatabase,
                      Sources);
  }
  TemporaryFolder Folder;
  CheckSelection Checks{2};
  SourceTexts Sources;
};

} // namespace

TEST_F(ReportTest, FindingsAreSortedWhateverTheOrderOfFiles) {
  FileReport A = file("/a.cpp", {finding("/a.cpp", 7), finding("/a.cpp", 3)});
  FileReport B = file("/b.cpp", {finding("/b.cpp", 1)});
  for (auto Files : {std::vector{A, B}, std::vector{B, A}}) {
    Report Result = make(Files);
    ASSERT_EQ(Result.Findings.size(), 3u);
    EXPECT_EQ(Result.Findings[0].At.Line, 3u);
    EXPECT_EQ(Result.Findings[1].At.Line, 7u);
    EXPECT_EQ(Result.Findings[2].At.File, "/b.cpp");
    EXPECT_EQ(Result.Files[0].File, "/a.cpp");
  }
}

TEST_F(ReportTest, AHeadersFindingIsReportedOnce) {
  Report Result = make({file("/a.cpp", {finding("/h.h", 3)}),
                        file("/b.cpp", {finding("/h.h", 3)})});
  EXPECT_EQ(Result.Findings.size(), 1u);
  EXPECT_EQ(Result.totals().Findings, 1u);
}

TEST_F(ReportTest, TwoRulesAtOnePlaceAreTwoFindings) {
  Report Result = make({file("/a.cpp", {finding("/a.cpp", 3),
                                        finding("/a.cpp", 3, "unscoped-loop")})});
  EXPECT_EQ(Result.Findings.size(), 2u);
}

TEST_F(ReportTest, TheWorseOfTwoCommandsForAFileCounts) {
  FileReport Failed = file("/a.cpp");
  Failed.Status = FileStatus::Failed;
  Failed.Reason.Message = "no such type";
  FileReport Skipped = file("/b.cpp");
  Skipped.Status = FileStatus::Skipped;
  Report Result =
      make({file("/a.cpp"), Failed, Skipped, file("/b.cpp")});
  ASSERT_EQ(Result.Files.size(), 2u);
  EXPECT_EQ(Result.Files[0].Status, FileStatus::Failed);
  EXPECT_EQ(Result.Files[0].Reason.Message, "no such type");
  EXPECT_EQ(Result.Files[1].Status, FileStatus::Analyzed);
}

TEST_F(ReportTest, ASuppressedFindingStaysButDoesNotCount) {
  std::string A =
      Folder.write("a.cpp", "f(); // NOLINT(tensorscope-use-after-release)\n");
  Report Result = make({file(A, {finding(A, 1)})});
  ASSERT_EQ(Result.Findings.size(), 1u);
  EXPECT_TRUE(Result.Findings[0].Suppressed);
  EXPECT_EQ(Result.totals().Findings, 0u);
  EXPECT_EQ(Result.totals().Suppressed, 1u);
}

TEST_F(ReportTest, AHeadersUselessNoLintIsToldWhenAllItsUsersWereChecked) {
  std::string Header = Folder.write("h.h", "// NOLINT(tensorscope-*)\n");
  FileReport A = file("/a.cpp");
  A.FilesWithNoLint = {Header};
  EXPECT_EQ(make({A}, /*WholeDatabase=*/true).NoLintProblems.size(), 1u);
  EXPECT_EQ(make({A}, /*WholeDatabase=*/false).NoLintProblems.size(), 0u);
  FileReport Failed = file("/b.cpp");
  Failed.Status = FileStatus::Failed;
  EXPECT_EQ(make({A, Failed}, true).NoLintProblems.size(), 0u);
}

TEST_F(ReportTest, TheRootIsTheNearestMarkedFolder) {
  Folder.write("p/.tensorscope.yml", "");
  Folder.write("p/src/a.cpp", "");
  EXPECT_EQ(findRoot(Folder.path("p/src/a.cpp")), Folder.path("p"));
}
