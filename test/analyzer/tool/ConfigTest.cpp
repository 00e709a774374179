// SPDX-License-Identifier: Apache-2.0
#include "tool/Config.h"
#include "TemporaryFolder.h"
#include "model/ModelSet.h"

using namespace tensorscope;

namespace {

class ConfigTest : public testing::Test {
protected:
  Config load(llvm::StringRef Text) {
    auto Loaded = Config::load(Folder.write("c.yml", Text));
    EXPECT_TRUE(bool(Loaded));
    if (Loaded)
      return std::move(*Loaded);
    ADD_FAILURE() << llvm::toString(Loaded.takeError());
    return {};
  }
  /// What is wrong, after the file's name.
  std::string problem(llvm::StringRef Text) {
    std::string File = Folder.write("c.yml", Text);
    auto Loaded = Config::load(File);
    if (Loaded)
      return "";
    std::string Line = llvm::toString(Loaded.takeError());
    EXPECT_EQ(Line.find(File + ":"), 0u) << Line;
    EXPECT_EQ(Line.find('\n'), std::string::npos) << Line;
    return Line.substr(File.size() + 1);
  }

  TemporaryFolder Folder;
};

} // namespace

TEST_F(ConfigTest, ReadsEachKey) {
  Config C = load("level: 2\n"
                  "scopes: required\n"
                  "small-loop-bound: 7\n"
                  "checks:\n"
                  "  - -use-after-release\n"
                  "  - unscoped-loop\n");
  EXPECT_EQ(C.Level, 2u);
  EXPECT_EQ(C.Scopes, ScopesMode::Required);
  EXPECT_EQ(C.SmallLoopBound, 7u);
  EXPECT_EQ(C.Checks,
            (std::vector<std::string>{"-use-after-release", "unscoped-loop"}));
}

TEST_F(ConfigTest, AnEmptyFileSetsNothing) {
  for (const char *Text : {"", "# nothing\n", "---\n", "models: []\n"}) {
    Config C = load(Text);
    EXPECT_EQ(C.Level, std::nullopt) << Text;
    EXPECT_TRUE(C.Models.empty()) << Text;
  }
}

TEST_F(ConfigTest, AnUnknownKeyIsRefusedAtItsLineWithTheNearestOne) {
  EXPECT_EQ(problem("level: 1\n\nlevels: 2\n"),
            "3: unknown key 'levels'; did you mean 'level'?");
  EXPECT_EQ(problem("ignored-paths: x\n"), "1: unknown key 'ignored-paths'");
}

TEST_F(ConfigTest, ABadValueIsRefusedAtItsLine) {
  EXPECT_EQ(problem("scopes: off\nlevel: 3\n"), "2: level is 0, 1 or 2, not '3'");
  EXPECT_EQ(problem("scopes: always\n"),
            "1: scopes is auto, required or off, not 'always'");
  EXPECT_EQ(problem("scopes: requird\n"),
            "1: scopes is auto, required or off, not 'requird'; did you mean "
            "'required'?");
  EXPECT_EQ(problem("level: 1\nsmall-loop-bound: -3\n"),
            "2: small-loop-bound is a number from 0, not '-3'");
  EXPECT_EQ(problem("# first\nchecks:\n  - use-after-release\n  - typo\n"),
            "4: no check is named 'typo'");
  EXPECT_EQ(problem("checks:\n  - -unscoped-lop\n"),
            "2: no check is named 'unscoped-lop'; did you mean "
            "'unscoped-loop'?");
  EXPECT_EQ(problem("checks: 3\n"), "1: not a sequence");
}

TEST_F(ConfigTest, WhatIsNotKeysAndValuesIsRefused) {
  EXPECT_EQ(problem("- level\n"), "1: expected keys and values");
  EXPECT_EQ(problem("level: 1\nlevel: 2\n"),
            "2: duplicated mapping key 'level'");
  EXPECT_NE(problem("level: 1\nchecks: [\n"), "");
}

TEST_F(ConfigTest, ReadsModelFilesFromItsOwnFolder) {
  Folder.write("models/mine.yml", "version: 1\n");
  Config C = load("models:\n  - models/mine.yml\n");
  ASSERT_EQ(C.Models.size(), 1u);
  EXPECT_EQ(C.Models[0].FileName, Folder.path("models/mine.yml"));
  EXPECT_EQ(C.Models[0].Yaml, "version: 1\n");
}

TEST_F(ConfigTest, AModelFileThatIsAbsentIsRefusedAtItsLine) {
  EXPECT_EQ(problem("level: 1\nmodels:\n  - gone.yml\n"),
            "3: model file " + Folder.path("gone.yml") +
                ": No such file or directory");
  EXPECT_EQ(problem("level: 1\nmodels: all\n"),
            "2: models is a list of files and of models");
}

TEST_F(ConfigTest, AnInlineModelIsUnderstood) {
  Config C = load("models:\n"
                  "  - version: 1\n"
                  "    functions:\n"
                  "      - names: [\"app::free_now\"]\n"
                  "        effects: [release(0)]\n");
  ASSERT_EQ(C.Models.size(), 1u);
  ModelSet Models;
  EXPECT_EQ(llvm::toString(
                Models.add(C.Models[0].Yaml, C.Models[0].FileName)),
            "");
  EXPECT_NE(Models.function("app::free_now"), nullptr);
  EXPECT_EQ(Models.function("app::other"), nullptr);
}

TEST_F(ConfigTest, AnErrorInAnInlineModelNamesTheConfigurationsLine) {
  Config C = load("level: 1\n"
                  "models:\n"
                  "  - version: 1\n"
                  "    functions:\n"
                  "      - names: [\"app::free_now\"]\n"
                  "        effect: [release(0)]\n");
  ASSERT_EQ(C.Models.size(), 1u);
  ModelSet Models;
  EXPECT_EQ(llvm::toString(
                Models.add(C.Models[0].Yaml, C.Models[0].FileName)),
            Folder.path("c.yml") +
                ":6: unknown key 'effect'; did you mean 'effects'?");
}
