// SPDX-License-Identifier: Apache-2.0
//
// What is kept of compiled headers, and for how long. The compiler is a fake
// one: it writes what it is told to.
#include "tool/PrecompiledHeaders.h"
#include "TemporaryFolder.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/MemoryBuffer.h"
#include <unistd.h>

using namespace tensorscope;
namespace fs = llvm::sys::fs;

namespace {

class PrecompiledHeadersTest : public testing::Test {
protected:
  std::optional<std::string> make(llvm::StringRef Key, llvm::StringRef Text,
                                  bool Succeeds = true) {
    return Kept.make(
        Key, [&](const std::string &To,
                 const std::shared_ptr<clang::DependencyCollector> &Inputs) {
          std::error_code Error;
          llvm::raw_fd_ostream(To, Error) << Text;
          std::string Own = Kept.fileOf(Key, ".h");
          llvm::raw_fd_ostream(Own, Error) << "#include <torch.h>\n";
          Inputs->maybeAddDependency(Own, /*FromModule=*/false,
                                     /*IsSystem=*/false, /*IsModuleFile=*/false,
                                     /*IsMissing=*/false);
          Inputs->maybeAddDependency(Header, /*FromModule=*/false,
                                     /*IsSystem=*/true, /*IsModuleFile=*/false,
                                     /*IsMissing=*/false);
          return Succeeds && !Error;
        });
  }

  unsigned fileCount() {
    std::error_code Failure;
    unsigned Count = 0;
    for (fs::directory_iterator It(Folder.path("kept"), Failure), End;
         It != End && !Failure; It.increment(Failure))
      ++Count;
    return Count;
  }

  void useLast(const std::string &File, std::chrono::hours Ago) {
    int Opened = -1;
    ASSERT_FALSE(fs::openFileForWrite(File, Opened, fs::CD_OpenExisting,
                                      fs::OF_Append));
    fs::setLastAccessAndModificationTime(
        Opened, std::chrono::system_clock::now() - Ago);
    close(Opened);
  }

  TemporaryFolder Folder;
  std::string Header = Folder.write("torch.h", "int a;\n");
  PrecompiledHeaders Kept{
      llvm::StringRef(Folder.write("kept/note", "")).rsplit('/').first.str()};
};

} // namespace

TEST_F(PrecompiledHeadersTest, WhatWasMadeIsFound) {
  EXPECT_EQ(Kept.find("key"), std::nullopt);
  std::optional<std::string> Made = make("key", "compiled");
  ASSERT_TRUE(Made);
  EXPECT_EQ(Kept.find("key"), Made);
  EXPECT_EQ(Kept.find("key"), Made) << "that it was used changes it";
  EXPECT_EQ(Kept.find("other"), std::nullopt);
  EXPECT_EQ((*llvm::MemoryBuffer::getFile(*Made))->getBuffer(), "compiled");
}

TEST_F(PrecompiledHeadersTest, AHeaderThatChangedIsCompiledAgain) {
  ASSERT_TRUE(make("key", "compiled"));
  Folder.write("torch.h", "int a, b;\n");
  EXPECT_EQ(Kept.find("key"), std::nullopt);
  ASSERT_TRUE(make("key", "again"));
  EXPECT_TRUE(Kept.find("key"));
  fs::remove(Header);
  EXPECT_EQ(Kept.find("key"), std::nullopt);
}

TEST_F(PrecompiledHeadersTest, AFileThatWasCutIsNotUsed) {
  std::optional<std::string> Made = make("key", "compiled");
  ASSERT_TRUE(Made);
  ASSERT_EQ(truncate(Made->c_str(), 3), 0);
  EXPECT_EQ(Kept.find("key"), std::nullopt);
}

TEST_F(PrecompiledHeadersTest, WhatCannotBeCompiledLeavesNothingBehind) {
  EXPECT_EQ(make("key", "half", /*Succeeds=*/false), std::nullopt);
  EXPECT_EQ(fileCount(), 2u); // the note and the header's text
}

TEST_F(PrecompiledHeadersTest, WhatNobodyUsedForAMonthGoes) {
  std::optional<std::string> Old = make("old", "compiled");
  std::optional<std::string> Used = make("used", "compiled");
  ASSERT_TRUE(Old && Used);
  for (const std::string &File : {*Old, *Used})
    useLast(File, std::chrono::hours(24 * 31));
  EXPECT_TRUE(Kept.find("used")); // which notes that it was of use
  ASSERT_TRUE(make("new", "compiled"));
  EXPECT_TRUE(Kept.find("used"));
  EXPECT_FALSE(fs::exists(*Old));
}

TEST_F(PrecompiledHeadersTest, TheLongestUnusedOnesGoWhereThereAreMany) {
  std::optional<std::string> First = make("first", "compiled");
  std::optional<std::string> Large = make("large", "compiled");
  ASSERT_TRUE(First && Large);
  ASSERT_EQ(truncate(Large->c_str(), 3LL << 30), 0); // takes no room on disk
  useLast(*Large, std::chrono::hours(2));
  useLast(*First, std::chrono::hours(3));
  ASSERT_TRUE(make("new", "compiled"));
  EXPECT_FALSE(fs::exists(*First));
  EXPECT_FALSE(fs::exists(*Large));
  EXPECT_TRUE(Kept.find("new"));
}

TEST_F(PrecompiledHeadersTest, AKeyIsOfAllTextsAndTheirBounds) {
  auto Key = [](std::vector<std::string> Texts) {
    return PrecompiledHeaders::keyOf(Texts);
  };
  EXPECT_EQ(Key({"a", "b"}), Key({"a", "b"}));
  EXPECT_NE(Key({"a", "b"}), Key({"b", "a"}));
  EXPECT_NE(Key({"ab"}), Key({"a", "b"}));
}
