// SPDX-License-Identifier: Apache-2.0
//
// Whether a macro's name is anywhere in headers.
#include "tool/HeaderWords.h"
#include "TemporaryFolder.h"

using namespace tensorscope;

TEST(HeaderWordsTest, TheWordsOfAllFilesAreFoundUnderConditionsToo) {
  TemporaryFolder Folder;
  std::string Written = Folder.path("words");
  ASSERT_TRUE(writeWords(
      {Folder.write("a.h", "#ifdef USE_CUDA\nint x;\n#endif\n"),
       Folder.write("b.h", "#define MAX(a) (a) // LIMIT\n\"TEXT\" z")},
      Written));
  HeaderWords Words = HeaderWords::read(Written);
  for (const char *Word : {"USE_CUDA", "x", "int", "MAX", "a", "z", "ifdef"})
    EXPECT_TRUE(Words.hasAny({"NONE", Word})) << Word;
  EXPECT_FALSE(Words.hasAny({"LIMIT", "TEXT", "MA", "USE", ""}));
  EXPECT_FALSE(Words.hasAny({}));
}

TEST(HeaderWordsTest, WhatCannotBeReadMayHaveAnyWord) {
  TemporaryFolder Folder;
  EXPECT_TRUE(HeaderWords::read(Folder.path("absent")).hasAny({"A"}));
  EXPECT_FALSE(writeWords({Folder.path("absent.h")}, Folder.path("words")));
  EXPECT_FALSE(writeWords({}, Folder.path("absent/words")));
}
