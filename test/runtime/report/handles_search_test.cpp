// SPDX-License-Identifier: Apache-2.0
// The search of the memory for handles: found in globals, on the heap and in other threads' memory, not in what is skipped.
#include "report/handles_search.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <vector>

namespace {

using tensorscope::report::AddressRange;
using tensorscope::report::find_handles;
using tensorscope::report::HandlePlace;

constexpr auto nowhere = HandlePlace::nowhere;
constexpr auto elsewhere = HandlePlace::elsewhere;
constexpr auto in_static = HandlePlace::in_static;

using Places = std::vector<HandlePlace>;

/// An address that no object has, and that is nowhere in memory until it is put there.
std::uintptr_t made_up(std::uintptr_t number) {
  return (std::uintptr_t{0x5eed} << 44) + (number << 4);
}

volatile std::uintptr_t in_global = 0; // without initial value in the file; nobody reads it, and it must be written all the same

TEST(HandlesSearchTest, WhatIsNowhereIsNotFound) {
  const auto found = find_handles({~made_up(1), ~made_up(2)}, {});
  EXPECT_EQ(found, (Places{nowhere, nowhere}));
}

TEST(HandlesSearchTest, NothingAskedIsNothingFound) {
  EXPECT_TRUE(find_handles({}, {}).empty());
}

TEST(HandlesSearchTest, AGlobalAndAHeapBlockHoldHandles) {
  in_global = made_up(3);
  const auto on_heap = std::make_unique<std::uintptr_t>(made_up(4));
  const auto found = find_handles({~made_up(4), ~made_up(5), ~made_up(3)}, {});
  in_global = 0;
  EXPECT_EQ(found, (Places{elsewhere, nowhere, in_static}));
}

TEST(HandlesSearchTest, AStaticCountsBeforeTheHeap) {
  in_global = made_up(11);
  const auto on_heap = std::make_unique<std::uintptr_t>(made_up(11));
  const auto found = find_handles({~made_up(11)}, {});
  in_global = 0;
  EXPECT_EQ(found, Places{in_static});
}

// As where libdw has mapped a program's debug information, and a thread's heap came to lie behind it.
TEST(HandlesSearchTest, AHeapBehindAMappedFileIsNoStatic) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  char* const place = static_cast<char*>(::mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(place, MAP_FAILED);
  const int file = ::open("/proc/self/exe", O_RDONLY);
  ASSERT_NE(::mmap(place, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0), MAP_FAILED);
  ASSERT_NE(::mmap(place + page, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), MAP_FAILED);
  ::close(file);
  const std::uintptr_t word = made_up(12);
  __builtin_memcpy(place + page, &word, sizeof word);
  EXPECT_EQ(find_handles({~made_up(12)}, {}), Places{elsewhere});
  ::munmap(place, 3 * page);
}

TEST(HandlesSearchTest, TheSameAddressAskedTwiceIsFoundTwice) {
  in_global = made_up(6);
  const auto found = find_handles({~made_up(6), ~made_up(6)}, {});
  in_global = 0;
  EXPECT_EQ(found, (Places{in_static, in_static}));
}

TEST(HandlesSearchTest, SkippedRangesHoldNone) {
  std::vector<std::uintptr_t> block(100000, 0);
  block[0] = made_up(7);
  block[50000] = made_up(8);
  block.back() = made_up(9);
  const auto begin = reinterpret_cast<std::uintptr_t>(block.data());
  const std::vector<AddressRange> all{{begin, begin + block.size() * sizeof(block[0])}};
  EXPECT_EQ(find_handles({~made_up(7), ~made_up(8), ~made_up(9)}, all), (Places{nowhere, nowhere, nowhere}));
  const std::vector<AddressRange> middle{{begin + 8 * 40000, begin + 8 * 60000}, {begin + 8 * 45000, begin + 8 * 55000}};
  EXPECT_EQ(find_handles({~made_up(7), ~made_up(8), ~made_up(9)}, middle), (Places{elsewhere, nowhere, elsewhere}));
  block.assign(block.size(), 0);
}

TEST(HandlesSearchTest, AWordThatIsNotAlignedIsNoHandle) {
  std::vector<char> bytes(64, 0);
  const std::uintptr_t word = made_up(10);
  __builtin_memcpy(bytes.data() + 3, &word, sizeof word);
  EXPECT_EQ(find_handles({~made_up(10)}, {}), Places{nowhere});
}

} // namespace
