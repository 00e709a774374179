// SPDX-License-Identifier: Apache-2.0
// Memory read in blocks, without the parts that are skipped.
#include "report/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using tensorscope::report::AddressRange;
using tensorscope::report::MemoryReader;

constexpr std::size_t kWords = 200'003; // some blocks, and a rest

class MemoryReaderTest : public ::testing::Test {
 protected:
  MemoryReaderTest() {
    for (std::size_t i = 0; i < kWords; ++i) {
      words_[i] = i + 1;
    }
  }

  std::uintptr_t address(std::size_t word) const { return reinterpret_cast<std::uintptr_t>(words_.data() + word); }
  AddressRange words(std::size_t from, std::size_t to) const { return {address(from), address(to)}; }

  /// What a visitor sees of the words in `range`, zeros for what it doesn't.
  std::vector<std::uintptr_t> seen(AddressRange range, const std::vector<AddressRange>& skipped) {
    std::vector<std::uintptr_t> all(kWords, 0);
    read_ = MemoryReader().read(range, skipped, [&](std::uintptr_t at, const std::uintptr_t* found, std::size_t count) {
      const std::size_t first = (at - address(0)) / sizeof(std::uintptr_t);
      std::copy(found, found + count, all.begin() + static_cast<std::ptrdiff_t>(first));
    });
    return all;
  }

  std::vector<std::uintptr_t> words_ = std::vector<std::uintptr_t>(kWords);
  std::size_t read_ = 0;
};

TEST_F(MemoryReaderTest, EachWordIsSeen) {
  EXPECT_EQ(seen(words(0, kWords), {}), words_);
  EXPECT_EQ(read_, kWords * sizeof(std::uintptr_t));
}

TEST_F(MemoryReaderTest, WordsOfSmallPartsAreZeros) {
  const std::size_t block = std::size_t{1} << 15;
  const std::vector<AddressRange> skipped{
      words(0, 1), words(5, 9), words(9, 10), words(block - 3, block + 2), words(2 * block - 1, 2 * block), words(kWords - 7, kWords)};
  auto expected = words_;
  for (const AddressRange& part : skipped) {
    std::fill(expected.begin() + static_cast<std::ptrdiff_t>((part.first - address(0)) / 8),
              expected.begin() + static_cast<std::ptrdiff_t>((part.second - address(0)) / 8), 0);
  }
  EXPECT_EQ(seen(words(0, kWords), skipped), expected);
}

TEST_F(MemoryReaderTest, AWordThatIsSkippedInPartIsNotSeen) {
  auto expected = words_;
  expected[3] = expected[4] = 0;
  EXPECT_EQ(seen(words(0, kWords), {{address(3) + 5, address(4) + 3}}), expected);
}

TEST_F(MemoryReaderTest, PartsThatBeginBeforeAndEndBehindTheRange) {
  auto expected = words_;
  std::fill(expected.begin(), expected.begin() + 105, 0);
  std::fill(expected.begin() + 190, expected.end(), 0);
  EXPECT_EQ(seen(words(100, 200), {words(50, 105), words(190, 250)}), expected);
}

TEST_F(MemoryReaderTest, LargePartsAreNotRead) {
  const std::vector<AddressRange> skipped{words(10, 20), words(20'000, 150'000), words(150'100, 150'101)};
  auto expected = words_;
  std::fill(expected.begin() + 10, expected.begin() + 20, 0);
  std::fill(expected.begin() + 20'000, expected.begin() + 150'000, 0);
  expected[150'100] = 0;
  EXPECT_EQ(seen(words(0, kWords), skipped), expected);
  EXPECT_EQ(read_, (kWords - 130'000) * sizeof(std::uintptr_t));
}

} // namespace
