// SPDX-License-Identifier: Apache-2.0
//
// The analysis neither crashes nor hangs on code that is being written: each
// file of lit-tests/checks, cut off at every tenth token and without every
// tenth token. The test takes a sample of these: TENSORSCOPE_VARIANTS says how
// many of each file, or `all`.
#include "BrokenCode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace tensorscope::test {
namespace {

size_t sampleSize() {
  constexpr size_t Usual = 4;
  const char *Wanted = std::getenv("TENSORSCOPE_VARIANTS");
  if (!Wanted)
    return Usual;
  size_t Count = SIZE_MAX;
  if (llvm::StringRef(Wanted) == "all")
    return Count;
  bool IsNumber = !llvm::StringRef(Wanted).getAsInteger(10, Count);
  EXPECT_TRUE(IsNumber) << "TENSORSCOPE_VARIANTS=" << Wanted;
  return Count;
}

const std::string Folder = std::string(TENSORSCOPE_LIT_TESTS) + "/checks";

std::vector<std::string> testFiles() {
  std::vector<std::string> Files;
  std::error_code Error;
  for (llvm::sys::fs::directory_iterator It(Folder, Error), End;
       It != End && !Error; It.increment(Error))
    if (llvm::sys::path::extension(It->path()) == ".cpp")
      Files.push_back(It->path());
  llvm::sort(Files);
  return Files;
}

/// As many as \p Count of them, evenly spread; another file takes others.
std::vector<Variant> sampleOf(std::vector<Variant> All, size_t Count,
                              size_t Offset) {
  if (All.size() <= Count || Count == 0)
    return All;
  std::vector<Variant> Sample;
  size_t Stride = All.size() / Count;
  for (size_t I = Offset % Stride; Sample.size() < Count; I += Stride)
    Sample.push_back(std::move(All[I]));
  return Sample;
}

TEST(Variants, AreTheTextCutOffAndWithoutOneToken) {
  auto Variants = variantsOf("f", "a b c d e f g h i j k");
  ASSERT_EQ(Variants.size(), 3u);
  EXPECT_EQ(Variants[0].Text, "a b c d e f g h i j k");
  EXPECT_EQ(Variants[1].Text, "a b c d e f g h i ");
  EXPECT_EQ(Variants[2].Text, "a b c d e f g h i  k");
}

TEST(BrokenCode, IsAnalyzedWithoutACrashOrAHang) {
  llvm::sys::PrintStackTraceOnErrorSignal("tensorscope-broken-code-test");
  const size_t Size = sampleSize();
  BrokenCodeRunner Runner(Folder);
  std::vector<std::string> Files = testFiles();
  ASSERT_GT(Files.size(), 30u);
  size_t Count = 0, Functions = 0, Skipped = 0;
  for (size_t I = 0; I < Files.size(); ++I) {
    auto Text = llvm::MemoryBuffer::getFile(Files[I]);
    ASSERT_TRUE(Text) << Files[I];
    std::vector<Variant> All = variantsOf(
        llvm::sys::path::filename(Files[I]).str(), (*Text)->getBuffer().str());
    for (const Variant &V : sampleOf(std::move(All), Size, I)) {
      AnalyzerStatistics Statistics = Runner.run(V);
      Functions += Statistics.FunctionsAnalyzed;
      Skipped += Statistics.FunctionsWithErrors;
      EXPECT_TRUE(Statistics.NotAnalyzed.empty())
          << V.Name << ": " << Statistics.NotAnalyzed.front();
      ++Count;
    }
  }
  // What breaks a function leaves the others to be analysed.
  EXPECT_GT(Functions, Count);
  EXPECT_GT(Skipped, 0u);
  EXPECT_LT(Runner.slowest(), 30) << Runner.slowestName();
  RecordProperty("variants", std::to_string(Count));
  printf("%zu variants of %zu files; the slowest took %.1f s: %s\n", Count,
         Files.size(), Runner.slowest(), Runner.slowestName().c_str());
}

} // namespace
} // namespace tensorscope::test
