// SPDX-License-Identifier: Apache-2.0
// The walk over the C library's heap: each block that is in use is found from any address in it, and nothing else is.
#include "report/heap_blocks.h"

#include <gtest/gtest.h>

#include <malloc.h>
#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

namespace {

using tensorscope::report::HeapBlocks;
using tensorscope::report::readable_mappings;
using State = HeapBlocks::State;

struct Free {
  void operator()(void* block) const { std::free(block); }
};
using Block = std::unique_ptr<void, Free>;

std::uintptr_t address(const Block& block) { return reinterpret_cast<std::uintptr_t>(block.get()); }

void expect_found(HeapBlocks& heap, const Block& block) {
  const std::uintptr_t begin = address(block);
  const std::uintptr_t size = malloc_usable_size(block.get());
  for (const std::uintptr_t inside : {begin, begin + size / 2, begin + size - 1}) {
    const auto found = heap.find(inside);
    ASSERT_EQ(found.state, State::used) << size << " bytes, at " << inside - begin;
    EXPECT_EQ(found.range.first, begin);
    EXPECT_LE(begin + size, found.range.second);
    EXPECT_LE(found.range.second - begin, size + 15);
  }
}

std::vector<Block> some_blocks(std::size_t count) {
  std::vector<Block> blocks;
  for (std::size_t i = 1; i <= count; ++i) {
    blocks.emplace_back(std::malloc(i % 777 + 1));
  }
  return blocks;
}

TEST(HeapBlocksTest, EachBlockOfTheMainHeapIsFound) {
  const auto blocks = some_blocks(5000);
  HeapBlocks heap(readable_mappings());
  ASSERT_TRUE(heap.known());
  for (const auto& block : blocks) {
    expect_found(heap, block);
  }
}

TEST(HeapBlocksTest, BlocksAreFoundInAnyOrder) {
  const auto blocks = some_blocks(1000);
  HeapBlocks heap(readable_mappings());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    expect_found(heap, blocks[i * 617 % blocks.size()]);
  }
}

TEST(HeapBlocksTest, BlocksOfAThreadsHeapAreFound) {
  std::vector<Block> blocks;
  std::thread([&] { blocks = some_blocks(200); }).join();
  HeapBlocks heap(readable_mappings());
  for (const auto& block : blocks) {
    expect_found(heap, block);
  }
}

TEST(HeapBlocksTest, ABlockWithAMappingOfItsOwnIsFound) {
  const Block large(std::malloc(3'000'000));
  const Block beside(std::malloc(2'000'000));
  HeapBlocks heap(readable_mappings());
  expect_found(heap, large);
  expect_found(heap, beside);
}

TEST(HeapBlocksTest, WhatWasGivenBackIsFree) {
  Block small(std::malloc(700)); // of a size that nothing else asks for
  Block larger(std::malloc(2000)); // too large for the thread's cache
  const Block behind(std::malloc(40));
  const std::uintptr_t freed_small = address(small);
  const std::uintptr_t freed_larger = address(larger);
  small.reset();
  larger.reset();
  const auto mappings = readable_mappings();
  HeapBlocks heap(mappings);
  EXPECT_EQ(heap.find(freed_larger).state, State::free);
  EXPECT_EQ(heap.find(freed_small).state, State::free);
  expect_found(heap, behind);
}

TEST(HeapBlocksTest, AWholeHeapIsVisitedBlockByBlock) {
  const auto blocks = some_blocks(3000);
  const Block freed_later(std::malloc(5000));
  HeapBlocks heap(readable_mappings());
  std::size_t found = 0;
  for (const auto& whole : heap.whole_heaps()) {
    std::uintptr_t last = 0;
    heap.visit(whole, [&](const HeapBlocks::Block& block) {
      EXPECT_LT(last, block.range.first);
      last = block.range.first;
      found += block.state == State::used && block.range.first == address(freed_later) ? 1 : 0;
    });
  }
  EXPECT_EQ(found, 1);
}

TEST(HeapBlocksTest, OtherMemoryIsNoHeap) {
  constexpr std::size_t kSize = 1 << 16;
  void* const mapped = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  static int variable = 0;
  int local = 0;
  HeapBlocks heap(readable_mappings());
  EXPECT_EQ(heap.find(reinterpret_cast<std::uintptr_t>(mapped) + 100).state, State::outside);
  EXPECT_EQ(heap.find(reinterpret_cast<std::uintptr_t>(&variable)).state, State::outside);
  EXPECT_EQ(heap.find(reinterpret_cast<std::uintptr_t>(&local)).state, State::outside);
  EXPECT_EQ(heap.find(0).state, State::outside);
  EXPECT_EQ(heap.find(~std::uintptr_t{0}).state, State::outside);
  ::munmap(mapped, kSize);
}

// A size word that a program wrote over leads nowhere: what follows is not known, and what comes before is.
TEST(HeapBlocksTest, AnOverwrittenHeapIsKnownUpToThere) {
  constexpr std::size_t kSize = 1 << 16;
  void* const mapped = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const words = static_cast<std::uintptr_t*>(mapped);
  words[1] = 64 | 1;
  words[9] = 64 | 1;
  words[17] = 12345;
  tensorscope::report::Mapping heap_mapping;
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped);
  heap_mapping.range = {begin, begin + kSize};
  heap_mapping.file = "[heap]";
  heap_mapping.writable = true;
  HeapBlocks heap({heap_mapping});
  EXPECT_EQ(heap.find(begin + 16).state, State::used);
  EXPECT_EQ(heap.find(begin + 17 * 8).state, State::outside);
  EXPECT_EQ(heap.find(begin + 5000).state, State::outside);
  ::munmap(mapped, kSize);
}

} // namespace
