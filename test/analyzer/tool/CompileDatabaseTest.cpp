// SPDX-License-Identifier: Apache-2.0
//
// Every way in which a compile database can be wrong is one line that says
// where.
#include "tool/CompileDatabase.h"
#include "TemporaryFolder.h"
#include "llvm/Support/FileSystem.h"

using namespace tensorscope;

namespace {

std::string problemOf(llvm::Expected<CompileDatabase> Database) {
  return Database ? "" : llvm::toString(Database.takeError());
}

std::string entry(llvm::StringRef Folder, llvm::StringRef File) {
  return ("{\"directory\": \"" + Folder + "\", \"file\": \"" + File +
          "\", \"arguments\": [\"clang++\", \"-c\", \"" + File + "\"]}")
      .str();
}

std::string list(std::initializer_list<std::string> Entries) {
  std::string Text = "[\n";
  for (const std::string &Entry : Entries) {
    if (Text.size() > 2)
      Text += ",\n";
    Text += Entry;
  }
  return Text += "]";
}

class CompileDatabaseTest : public testing::Test {
protected:
  std::string write(llvm::StringRef Text) {
    return Folder.write("compile_commands.json", Text);
  }
  std::string problem(llvm::StringRef Text) {
    return problemOf(CompileDatabase::load(write(Text), ""));
  }
  std::vector<std::string> selected(std::vector<std::string> Paths) {
    auto Database = CompileDatabase::load(Folder.path(), "");
    EXPECT_TRUE(bool(Database)) << llvm::toString(Database.takeError());
    auto Commands = Database->select(Paths);
    if (!Commands)
      return {llvm::toString(Commands.takeError())};
    std::vector<std::string> Files;
    for (const auto &Command : *Commands)
      Files.push_back(Command.Filename);
    return Files;
  }

  TemporaryFolder Folder;
  std::string File = Folder.path("compile_commands.json");
};

} // namespace

TEST_F(CompileDatabaseTest, AMissingFileIsNamed) {
  EXPECT_NE(problemOf(CompileDatabase::load(Folder.path("no"), ""))
                .find(Folder.path("no") + ": no such file"),
            std::string::npos);
  EXPECT_NE(problemOf(CompileDatabase::load(Folder.path(), ""))
                .find(File + ": no such file"),
            std::string::npos);
}

TEST_F(CompileDatabaseTest, AnEmptyListIsRefused) {
  EXPECT_EQ(problem("[]"), File + ": the database is empty");
}

TEST_F(CompileDatabaseTest, MalformedTextIsRefusedWithItsLine) {
  EXPECT_EQ(problem("[\n{\"file\" \"a.cpp\"}\n]"),
            File + ":2: Expected : after object key");
  EXPECT_EQ(problem("").find(File + ":1: "), 0u);
  EXPECT_EQ(problem("{}"), File + ":1: expected a list of compile commands");
}

TEST_F(CompileDatabaseTest, AnEntryWithoutItsKeysIsRefused) {
  EXPECT_EQ(problem(list({entry("/d", "a.cpp"), "7"})),
            File + ": entry 2 is not an object");
  EXPECT_EQ(problem("[{\"directory\": \"/d\"}]"),
            File + ": entry 1 has no string \"file\"");
  EXPECT_EQ(problem("[{\"file\": \"a\", \"directory\": 3}]"),
            File + ": entry 1 has no string \"directory\"");
  EXPECT_EQ(problem("[{\"file\": \"a\", \"directory\": \"/d\"}]"),
            File + ": entry 1 has neither \"command\" nor \"arguments\"");
}

TEST_F(CompileDatabaseTest, IsFoundAboveTheFirstPath) {
  std::string Source = Folder.write("src/deep/a.cpp", "");
  write(list({entry(Folder.path(), "src/deep/a.cpp")}));
  auto Database = CompileDatabase::load("", Source);
  ASSERT_TRUE(bool(Database)) << llvm::toString(Database.takeError());
  EXPECT_EQ(Database->path(), File);
}

TEST_F(CompileDatabaseTest, IsFoundInABuildFolder) {
  std::string Source = Folder.write("src/a.cpp", "");
  std::string Entry = list({entry(Folder.path(), "src/a.cpp")});
  std::string Inner =
      Folder.write("build/release/compile_commands.json", Entry);
  auto Database = CompileDatabase::load("", Source);
  ASSERT_TRUE(bool(Database)) << llvm::toString(Database.takeError());
  EXPECT_EQ(Database->path(), Inner);
  std::string Outer = Folder.write("build/compile_commands.json", Entry);
  Database = CompileDatabase::load("", Source);
  ASSERT_TRUE(bool(Database)) << llvm::toString(Database.takeError());
  EXPECT_EQ(Database->path(), Outer);
}

TEST_F(CompileDatabaseTest, SeveralBuildFoldersAreNamed) {
  std::string Source = Folder.write("src/a.cpp", "");
  std::string Entry = list({entry(Folder.path(), "src/a.cpp")});
  std::string Debug = Folder.write("build/debug/compile_commands.json", Entry);
  std::string Release =
      Folder.write("build/release/compile_commands.json", Entry);
  EXPECT_EQ(problemOf(CompileDatabase::load("", Source)),
            "several build folders have a compile_commands.json: " + Debug +
                ", " + Release + "; name one with -p");
}

TEST_F(CompileDatabaseTest, AnEmptyCommandIsRefused) {
  EXPECT_EQ(problem("[{\"file\": \"a\", \"directory\": \"/d\", "
                    "\"command\": \" \"}]"),
            File + ": entry 1 has an empty command: it must name the compiler");
  EXPECT_EQ(problem("[{\"file\": \"a\", \"directory\": \"/d\", "
                    "\"arguments\": []}]"),
            File + ": entry 1 has an empty command: it must name the compiler");
}

TEST_F(CompileDatabaseTest, AFileWithTwoNamesIsSelectedOnce) {
  std::string Source = Folder.write("a.cpp", "");
  std::string Link = Folder.path("link.cpp");
  ASSERT_FALSE(llvm::sys::fs::create_link(Source, Link));
  write(list({entry(Folder.path(), "a.cpp"), entry(Folder.path(), "link.cpp")}));
  EXPECT_EQ(selected({}), std::vector<std::string>{Source});
  EXPECT_EQ(selected({Link}), std::vector<std::string>{Source});
}

TEST_F(CompileDatabaseTest, NothingFoundAboveThePathIsSaid) {
  EXPECT_EQ(problemOf(CompileDatabase::load("", "/proc/self")),
            "no compile_commands.json in /proc/self or above it; name its "
            "folder with -p");
}

TEST_F(CompileDatabaseTest, NoPathsSelectEverythingSortedByFile) {
  write(list({entry(Folder.path(), "b.cpp"),
              entry(Folder.path("x"), "../a.cpp")}));
  EXPECT_EQ(selected({}), (std::vector<std::string>{Folder.path("a.cpp"),
                                                    Folder.path("b.cpp")}));
}

TEST_F(CompileDatabaseTest, AFolderSelectsWhatLiesUnderIt) {
  for (const char *Name : {"lib/a.cpp", "lib/sub/b.cpp", "library/c.cpp"})
    Folder.write(Name, "");
  write(list({entry(Folder.path(), "lib/a.cpp"),
              entry(Folder.path(), "lib/sub/b.cpp"),
              entry(Folder.path(), "library/c.cpp")}));
  EXPECT_EQ(selected({Folder.path("lib")}),
            (std::vector<std::string>{Folder.path("lib/a.cpp"),
                                      Folder.path("lib/sub/b.cpp")}));
}

TEST_F(CompileDatabaseTest, APathThatIsNotInItIsRefused) {
  Folder.write("a.cpp", "");
  std::string Header = Folder.write("a.h", "");
  std::string Empty = Folder.write("empty/x.txt", "");
  write(list({entry(Folder.path(), "a.cpp")}));
  EXPECT_EQ(selected({Header}), std::vector<std::string>{
                                    Header + ": not in " + File});
  EXPECT_EQ(selected({Folder.path("empty")}),
            std::vector<std::string>{Folder.path("empty") +
                                     ": no file under it is in " + File});
  EXPECT_EQ(selected({Folder.path("gone.cpp")}),
            std::vector<std::string>{Folder.path("gone.cpp") +
                                     ": no such file or folder"});
}

TEST_F(CompileDatabaseTest, AFileWithTwoCommandsIsSelectedTwice) {
  std::string Source = Folder.write("a.cpp", "");
  write(list({entry(Folder.path(), "a.cpp"), entry(Folder.path(), Source)}));
  EXPECT_EQ(selected({Source}), (std::vector<std::string>{Source, Source}));
}

TEST_F(CompileDatabaseTest, KnowsTheLineThatNamesAFile) {
  write(list({entry(Folder.path(), "a.cpp"),
              entry(Folder.path(), "src/b.cpp")}));
  auto Database = CompileDatabase::load(Folder.path(), "");
  ASSERT_TRUE(bool(Database));
  EXPECT_EQ(Database->lineOf(Folder.path("a.cpp")), 2u);
  EXPECT_EQ(Database->lineOf(Folder.path("src/b.cpp")), 3u);
  EXPECT_EQ(Database->lineOf("/c.cpp"), 0u);
}
