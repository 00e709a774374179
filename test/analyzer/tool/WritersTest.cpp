// SPDX-License-Identifier: Apache-2.0
//
// The text and the JSON format, and the lines beside them.
#include "tool/Writers.h"
#include "TemporaryFolder.h"
#include "llvm/Support/JSON.h"
#include "tool/Report.h"
#include "tool/SourceTexts.h"

using namespace tensorscope;
namespace json = llvm::json;

namespace {

class WritersTest : public testing::Test {
protected:
  WritersTest() {
    A = Folder.write("a.cpp", "int first;\n\tuse(x); // naïve\n");
    Finding F;
    F.Rule = "use-after-release";
    F.Message = "'x' is used after its storage was released";
    F.At = {A, 2, 6};
    F.Steps = {{{A, 1, 5}, "released here"}};
    F.Fix = {{{A, 2, 6}, {A, 2, 7}, "y"}};
    F.Fingerprint = "00ff";
    Result.Root = Folder.path();
    Result.Findings = {F};
    FileReport File;
    File.File = A;
    File.FunctionsAnalyzed = 3;
    Result.Files = {File};
  }

  std::string text(bool Colors = false) {
    std::string Text;
    llvm::raw_string_ostream Out(Text);
    writeText(Out, Result, Sources, Colors);
    return Out.str();
  }
  std::string problems(bool WithSkipped) {
    std::string Text;
    llvm::raw_string_ostream Out(Text);
    writeFileProblems(Out, Result, WithSkipped);
    return Out.str();
  }

  TemporaryFolder Folder;
  std::string A;
  Report Result;
  SourceTexts Sources;
};

} // namespace

TEST_F(WritersTest, TextHasTheLineTheCaretTheNoteAndTheTotals) {
  std::string Text = text();
  EXPECT_EQ(Text.find(A + ":2:6: warning: 'x' is used after its storage was "
                          "released [tensorscope-use-after-release]\n"),
            0u)
      << Text;
  EXPECT_NE(Text.find("use(x); // naïve\n"), std::string::npos) << Text;
  EXPECT_NE(Text.find("^"), std::string::npos) << Text;
  EXPECT_NE(Text.find(A + ":1:5: note: released here\n"), std::string::npos);
  EXPECT_NE(Text.find("tensorscope: 1 finding in 1 file; 1 file analysed; 3 "
                      "functions analysed\n"),
            std::string::npos)
      << Text;
}

TEST_F(WritersTest, ColorsOnlyWhenAsked) {
  EXPECT_EQ(text(false).find('\033'), std::string::npos);
  EXPECT_NE(text(true).find('\033'), std::string::npos);
}

TEST_F(WritersTest, AFindingInAFileThatIsGoneKeepsItsLine) {
  Result.Findings[0].At.File = "/gone.cpp";
  Result.Findings[0].Fix.clear();
  EXPECT_EQ(text().find("/gone.cpp:2:6: warning: 'x' is used"), 0u);
}

TEST_F(WritersTest, ASuppressedFindingIsOnlyCounted) {
  Result.Findings[0].Suppressed = true;
  EXPECT_EQ(text(), "tensorscope: 0 findings, 1 suppressed; 1 file analysed; "
                    "3 functions analysed\n");
}

TEST_F(WritersTest, TotalsNameWhatWasNotAnalyzed) {
  Result.Files[0].FunctionsNotAnalyzed = {"f()", "g()", "h()", "i()"};
  Result.Files[0].FunctionsWithErrors = 2;
  EXPECT_NE(summaryLine(Result).find(
                "2 with errors, 4 too large to analyse (f(), g(), h(), ...)"),
            std::string::npos)
      << summaryLine(Result);
}

TEST_F(WritersTest, TotalsCountThePlacesThatWereSilenced) {
  Result.Files[0].SilencedByUnknown = 1;
  EXPECT_NE(summaryLine(Result).find("; 1 place silenced as unknown"),
            std::string::npos)
      << summaryLine(Result);
}

TEST_F(WritersTest, AFailedFileIsOneLineWithItsFirstError) {
  Result.Files[0].Status = FileStatus::Failed;
  Result.Files[0].Errors = 3;
  Result.Files[0].Reason = {{A, 2, 6}, "unknown type"};
  EXPECT_EQ(problems(false),
            A + ":2: error: unknown type (the first of 3 errors)\n");
}

TEST_F(WritersTest, ASkippedFileIsNamedUnlessQuiet) {
  Result.Files[0].Status = FileStatus::Skipped;
  Result.Files[0].Reason.Message = "compiled by nvcc";
  EXPECT_EQ(problems(true), A + ": skipped: compiled by nvcc\n");
  EXPECT_EQ(problems(false), "");
}

TEST_F(WritersTest, JsonHoldsEveryFieldOfTheContract) {
  Result.Findings[0].Suppressed = true;
  Result.Findings[0].Conf = Confidence::Maybe;
  FileReport Failed;
  Failed.File = "/b.cpp";
  Failed.Status = FileStatus::Failed;
  Result.Files.push_back(Failed);
  std::string Text;
  llvm::raw_string_ostream Out(Text);
  writeJson(Out, Result, /*WithTiming=*/false);
  llvm::Expected<json::Value> Parsed = json::parse(Out.str());
  ASSERT_TRUE(bool(Parsed)) << llvm::toString(Parsed.takeError());
  const json::Object &Root = *Parsed->getAsObject();
  EXPECT_EQ(Root.getInteger("version"), 1);
  const json::Object &F = *(*Root.getArray("findings"))[0].getAsObject();
  EXPECT_EQ(F.getString("rule"), "tensorscope-use-after-release");
  EXPECT_EQ(F.getInteger("level"), 0);
  EXPECT_EQ(F.getString("confidence"), "maybe");
  EXPECT_EQ(F.getString("file"), A);
  EXPECT_EQ(F.getInteger("line"), 2);
  EXPECT_EQ(F.getInteger("column"), 6);
  EXPECT_EQ(F.getBoolean("suppressed"), true);
  EXPECT_EQ(F.getString("fingerprint"), "00ff");
  const json::Object &N = *(*F.getArray("notes"))[0].getAsObject();
  EXPECT_EQ(N.getString("message"), "released here");
  EXPECT_EQ(N.getInteger("line"), 1);
  const json::Object &E = *(*F.getArray("fixes"))[0].getAsObject();
  EXPECT_EQ(E.getString("text"), "y");
  EXPECT_EQ(E.getInteger("end_column"), 7);
  const json::Array &Files = *Root.getArray("files");
  EXPECT_EQ(Files[0].getAsObject()->getString("status"), "analyzed");
  EXPECT_EQ(Files[1].getAsObject()->getString("status"), "failed");
  EXPECT_EQ(Text.find("parse_seconds"), std::string::npos);
}
