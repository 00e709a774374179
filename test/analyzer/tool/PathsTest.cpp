// SPDX-License-Identifier: Apache-2.0
#include "tool/Paths.h"
#include "TemporaryFolder.h"

using namespace tensorscope;

TEST(PathsTest, AbsolutePathsHaveNoDots) {
  EXPECT_EQ(absolutePath("a/../b/./c.cpp", "/top"), "/top/b/c.cpp");
  EXPECT_EQ(absolutePath("/x/./y", "/top"), "/x/y");
}

TEST(PathsTest, AFolderIsNotAPrefixOfItsNamesake) {
  EXPECT_TRUE(liesUnder("/a/lib/x.cpp", "/a/lib"));
  EXPECT_TRUE(liesUnder("/a/lib", "/a/lib"));
  EXPECT_TRUE(liesUnder("/a", "/"));
  EXPECT_FALSE(liesUnder("/a/library/x.cpp", "/a/lib"));
}

TEST(PathsTest, RelativeOnlyInsideTheFolder) {
  EXPECT_EQ(relativeTo("/a/b/c.cpp", "/a"), "b/c.cpp");
  EXPECT_EQ(relativeTo("/c.cpp", "/"), "c.cpp");
  EXPECT_EQ(relativeTo("/other/c.cpp", "/a"), "/other/c.cpp");
}

TEST(PathsTest, TheNearestFileUpwardIsFound) {
  TemporaryFolder Folder;
  std::string Far = Folder.write("mark", "");
  std::string Near = Folder.write("x/mark", "");
  Folder.write("x/y/z.cpp", "");
  EXPECT_EQ(findUpward(Folder.path("x/y/z.cpp"), {"mark"}), Near);
  EXPECT_EQ(findUpward(Folder.path(), {"mark"}), Far);
  EXPECT_EQ(findUpward(Folder.path(), {"tensorscope-no-such-mark"}),
            std::nullopt);
}
