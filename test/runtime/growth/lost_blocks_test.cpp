// SPDX-License-Identifier: Apache-2.0
// What leads to an object over blocks of the heap.
#include "report/lost_blocks.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tensorscope::report {
namespace {

/// A block of the heap that leads to others.
struct Block {
  void* first = nullptr;
  void* second = nullptr;
  char more[112] = {};
};

Block* root = nullptr;

std::uintptr_t complement_of(const void* object) { return ~reinterpret_cast<std::uintptr_t>(object); }

/// `make` gives the complement of the object.
template <class Make>
Reach reach_after(Make make) {
  std::uintptr_t made = 0;
  make(made);
  return find_unreachable({made}, {}).front();
}

[[gnu::noinline]] void make_lost(std::uintptr_t& made) {
  auto* const object = new Block;
  auto* const holder = new Block;
  holder->first = object;
  asm volatile("" : : "r"(holder) : "memory"); // else the compiler leaves the holder out
  made = complement_of(object);
}

[[gnu::noinline]] void make_cycle(std::uintptr_t& made) {
  auto* const object = new Block;
  auto* const holder = new Block;
  holder->first = object;
  object->first = holder;
  made = complement_of(object);
}

[[gnu::noinline]] void make_reachable(std::uintptr_t& made) {
  auto* const object = new Block;
  auto* const holder = new Block;
  holder->second = object;
  root = new Block;
  root->first = &holder->more[40]; // into its middle
  made = complement_of(object);
}

TEST(LostBlocksTest, ABlockThatNothingLeadsToIsLost) { EXPECT_EQ(reach_after(make_lost), Reach::lost); }

TEST(LostBlocksTest, BlocksThatLeadToEachOtherAreACycle) { EXPECT_EQ(reach_after(make_cycle), Reach::cycle); }

TEST(LostBlocksTest, WhatAStaticLeadsToIsReachable) { EXPECT_EQ(reach_after(make_reachable), Reach::reachable); }

TEST(LostBlocksTest, WhatNothingHoldsIsLeftToTheOtherSearch) {
  EXPECT_EQ(reach_after([](std::uintptr_t& made) { made = complement_of(new Block); }), Reach::reachable);
}

TEST(LostBlocksTest, NothingAskedIsNothingFound) { EXPECT_TRUE(find_unreachable({}, {}).empty()); }

} // namespace
} // namespace tensorscope::report
