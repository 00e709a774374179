// SPDX-License-Identifier: Apache-2.0
//
// One file parsed as its command says. What the checks find is tested
// elsewhere; here it is what happens around them.
#include "tool/FileRunner.h"
#include "TemporaryFolder.h"
#include "model/ModelSet.h"
#include "tool/CheckSelection.h"
#include "tool/ResourceFolder.h"
#include "tool/WorkerPool.h"

using namespace tensorscope;
using clang::tooling::CompileCommand;

namespace {

class FileRunnerTest : public testing::Test {
protected:
  /// In a process of its own, since it changes the current folder.
  FileReport check(const CompileCommand &Command) {
    llvm::Expected<std::string> Resources = findResourceFolder();
    EXPECT_TRUE(bool(Resources)) << llvm::toString(Resources.takeError());
    CheckSelection Checks(1);
    ModelSet Models = ModelSet::builtin();
    RunSettings Settings{Checks, Models, AnalyzerOptions(), *Resources};
    return runInWorkers(
        1, 1, [&](size_t) { return checkFile(Command, Settings, ""); },
        [](size_t, FileReport &) {})[0];
  }

  FileReport check(llvm::StringRef Text,
                   std::vector<std::string> Flags = {}) {
    std::string File = Folder.write("a.cpp", Text);
    std::vector<std::string> Arguments = {"g++"};
    Arguments.insert(Arguments.end(), Flags.begin(), Flags.end());
    Arguments.insert(Arguments.end(), {"-c", File});
    return check(CompileCommand(Folder.path(), File, Arguments, ""));
  }

  TemporaryFolder Folder;
};

} // namespace

TEST_F(FileRunnerTest, ACleanFileIsAnalyzed) {
  FileReport Report = check("int one() { return 1; }\n");
  EXPECT_EQ(Report.Status, FileStatus::Analyzed) << Report.Reason.Message;
  EXPECT_EQ(Report.Errors, 0u);
  EXPECT_GT(Report.PeakMegabytes, 0u);
}

TEST_F(FileRunnerTest, TheCompilersOwnHeadersAndTheLibrarysAreFound) {
  FileReport Report = check("#include <stddef.h>\n#include <vector>\n"
                            "std::vector<size_t> v;\n");
  EXPECT_EQ(Report.Status, FileStatus::Analyzed) << Report.Reason.Message;
}

TEST_F(FileRunnerTest, WarningsAreNoErrorsWhateverTheFlags) {
  FileReport Report = check("int f() { }\n#warning hello\n",
                            {"-Wall", "-Werror", "-pedantic-errors"});
  EXPECT_EQ(Report.Status, FileStatus::Analyzed) << Report.Reason.Message;
}

TEST_F(FileRunnerTest, FlagsThatOnlyAnotherCompilerKnowsDoNotMatter) {
  FileReport Report =
      check("int x;\n", {"-fno-such-flag-of-gcc", "-Wno-such-warning",
                         "-fno-semantic-interposition", "-flto=auto"});
  EXPECT_EQ(Report.Status, FileStatus::Analyzed) << Report.Reason.Message;
}

TEST_F(FileRunnerTest, TheFirstErrorIsTheReasonAndAllAreCounted) {
  FileReport Report = check("\nint f() { return a; }\nint g() { return b; }\n");
  EXPECT_EQ(Report.Status, FileStatus::Failed);
  EXPECT_EQ(Report.Errors, 2u);
  EXPECT_EQ(Report.Reason.At.File, Folder.path("a.cpp"));
  EXPECT_EQ(Report.Reason.At.Line, 2u);
  EXPECT_EQ(Report.Reason.Message, "use of undeclared identifier 'a'");
}

TEST_F(FileRunnerTest, AMissingHeaderDoesNotEndTheParse) {
  FileReport Report = check("#include \"gone.h\"\nint f() { return a; }\n");
  EXPECT_EQ(Report.Reason.Message, "'gone.h' file not found");
  EXPECT_EQ(Report.Errors, 2u);
}

TEST_F(FileRunnerTest, ManyErrorsDoNotEndTheParse) {
  std::string Text;
  for (int I = 0; I < 57; ++I)
    Text += "int v" + std::to_string(I) + " = nothing;\n";
  EXPECT_EQ(check(Text).Errors, 57u);
}

TEST_F(FileRunnerTest, ACommandThatCannotBeRunSaysWhy) {
  FileReport Report = check("int x;\n", {"--target=no-such-machine"});
  EXPECT_EQ(Report.Status, FileStatus::Failed);
  EXPECT_EQ(Report.Reason.At.File, Folder.path("a.cpp"));
  EXPECT_EQ(Report.Reason.Message, "unknown target triple 'no-such-machine'");
}

TEST_F(FileRunnerTest, AFolderThatIsGoneSaysSo) {
  std::string File = Folder.write("a.cpp", "int x;\n");
  FileReport Report = check(
      CompileCommand(Folder.path("gone"), File, {"g++", "-c", File}, ""));
  EXPECT_EQ(Report.Status, FileStatus::Failed);
  EXPECT_EQ(Report.Reason.Message, "its compile command's folder " +
                                       Folder.path("gone") +
                                       ": No such file or directory");
}

TEST_F(FileRunnerTest, PathsInTheCommandAreRelativeToItsFolder) {
  Folder.write("include/h.h", "int h();\n");
  FileReport Report =
      check("#include \"h.h\"\nint f() { return h(); }\n", {"-Iinclude"});
  EXPECT_EQ(Report.Status, FileStatus::Analyzed) << Report.Reason.Message;
}

TEST_F(FileRunnerTest, FilesWithSuppressionsAreListedButSystemHeadersAreNot) {
  Folder.write("mine/m.h", "// NOLINT\n");
  Folder.write("theirs/t.h", "// NOLINT\n");
  FileReport Report = check("#include \"m.h\"\n#include <t.h>\n",
                            {"-Imine", "-isystem", "theirs"});
  EXPECT_EQ(Report.FilesWithNoLint,
            std::vector<std::string>{Folder.path("mine/m.h")});
}
