// SPDX-License-Identifier: Apache-2.0
#include "tool/FileReportJson.h"
#include <gtest/gtest.h>

using namespace tensorscope;
namespace json = llvm::json;

static FileReport sent(const FileReport &Report) {
  std::string Text;
  llvm::raw_string_ostream(Text) << json::Value(toJSON(Report));
  auto Received = json::parse<FileReport>(Text);
  EXPECT_TRUE(bool(Received));
  return Received ? std::move(*Received) : FileReport();
}

TEST(FileReportJsonTest, AReportArrivesAsItWasSent) {
  FileReport Report;
  Report.File = "/a.cpp";
  Report.Status = FileStatus::Failed;
  Report.Reason = {{"/a.h", 3, 5}, "no such type"};
  Report.Errors = 2;
  Report.FunctionsNotAnalyzed = {"f()"};
  Report.FilesWithNoLint = {"/a.h"};
  Report.ParseSeconds = 1.25;
  Finding F;
  F.Rule = "use-after-release";
  F.Level = 1;
  F.Conf = Confidence::Maybe;
  F.At = {"/a.cpp", 13, 7};
  F.Message = "'x' is used";
  F.Steps = {{{"/a.cpp", 11, 3}, "released here"}};
  F.Fix = {{{"/a.cpp", 13, 7}, {"/a.cpp", 13, 8}, "y"}};
  F.Function = "void f()";
  Report.Findings = {F};

  FileReport Other = sent(Report);
  EXPECT_EQ(json::Value(toJSON(Report)), json::Value(toJSON(Other)));
  ASSERT_EQ(Other.Findings.size(), 1u);
  EXPECT_EQ(Other.Findings[0].Conf, Confidence::Maybe);
  EXPECT_EQ(Other.Findings[0].Steps[0].At.Line, 11u);
  EXPECT_EQ(Other.Findings[0].Fix[0].Text, "y");
  EXPECT_EQ(Other.Status, FileStatus::Failed);
}

TEST(FileReportJsonTest, TextThatIsNotUtf8IsRepaired) {
  FileReport Report;
  Report.File = "/\xff.cpp";
  EXPECT_EQ(sent(Report).File, "/\xEF\xBF\xBD.cpp");
}

TEST(FileReportJsonTest, HalfAReportIsRefused) {
  EXPECT_FALSE(bool(llvm::expectedToOptional(
      json::parse<FileReport>("{\"file\": \"/a.cpp\"}"))));
}
