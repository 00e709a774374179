// SPDX-License-Identifier: Apache-2.0
// Stacks, shapes and paths are kept once each; the ledger's lock keeps readers out while its owner works.
#include "core/ledger.h"
#include "core/sites.h"
#include "core/thread_record.h"
#include "core/uses.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace tensorscope::core;

Stack stack_of(std::vector<std::uintptr_t> addresses) {
  Stack stack;
  for (const auto address : addresses) {
    stack.frames.push_back(reinterpret_cast<void*>(address));
  }
  return stack;
}

TensorShape shape_of(std::initializer_list<std::int64_t> sizes) {
  TensorShape shape;
  shape.sizes.assign(sizes.begin(), sizes.end());
  return shape;
}

TEST(InternTest, EqualValuesAreOneAndOthersAreNot) {
  InternTable<Stack> table;
  InternCache<Stack> cache;
  const auto* const first = cache.intern(table, stack_of({1, 2, 3}));
  EXPECT_EQ(cache.intern(table, stack_of({1, 2, 3})), first);
  EXPECT_NE(cache.intern(table, stack_of({1, 2})), first);
  EXPECT_NE(cache.intern(table, stack_of({3, 2, 1})), first);
  EXPECT_NE(cache.intern(table, stack_of({})), first);
  EXPECT_EQ(table.size(), 4u);
}

TEST(InternTest, AnotherThreadsCacheFindsTheSameValue) {
  InternTable<Stack> table;
  InternCache<Stack> one;
  InternCache<Stack> other;
  EXPECT_EQ(one.intern(table, stack_of({7})), other.intern(table, stack_of({7})));
}

TEST(InternTest, ValuesThatShareAPlaceInTheCacheAreToldApart) {
  InternTable<Stack> table;
  InternCache<Stack> cache;
  for (int round = 0; round < 2; ++round) {
    for (std::uintptr_t address = 1; address <= 5000; ++address) {
      EXPECT_EQ(cache.intern(table, stack_of({address}))->frames.front(), reinterpret_cast<void*>(address));
    }
  }
  EXPECT_EQ(table.size(), 5000u);
}

TEST(InternTest, AFullTableKnowsWhatItHasAndTakesNothingNew) {
  InternTable<Stack> table(2);
  InternCache<Stack> cache;
  const auto* const first = table.intern(stack_of({1}));
  const auto* const second = cache.intern(table, stack_of({2}));
  for (std::uintptr_t address = 3; address < 100; ++address) {
    EXPECT_EQ(cache.intern(table, stack_of({address})), nullptr);
  }
  EXPECT_EQ(table.intern(stack_of({1})), first);
  EXPECT_EQ(cache.intern(table, stack_of({2})), second);
  EXPECT_EQ(table.size(), 2u);
}

TEST(ShapeTest, TypeDeviceAndSizesTellShapesApart) {
  InternTable<TensorShape> table;
  const auto* const plain = table.intern(shape_of({2, 3}));
  EXPECT_EQ(table.intern(shape_of({2, 3})), plain);
  EXPECT_NE(table.intern(shape_of({3, 2})), plain);
  EXPECT_NE(table.intern(shape_of({2, 3, 1})), plain);
  auto wide = shape_of({2, 3});
  wide.dtype = 7;
  EXPECT_NE(table.intern(wide), plain);
  auto elsewhere = shape_of({2, 3});
  elsewhere.device_index = 1;
  EXPECT_NE(table.intern(elsewhere), plain);
}

TEST(PathTest, KindAndPlaceTellPathsApart) {
  const auto here = std::source_location::current();
  const auto there = std::source_location::current();
  const auto path = [](RegionKind kind, const std::source_location& where) { return ScopePath{{{kind, where}}}; };
  EXPECT_EQ(path(RegionKind::scope, here), path(RegionKind::scope, here));
  EXPECT_FALSE(path(RegionKind::scope, here) == path(RegionKind::scope, there));
  EXPECT_FALSE(path(RegionKind::scope, here) == path(RegionKind::session, here));
}

TEST(LedgerLockTest, ItsOwnerMayTakeItAgain) {
  LedgerLock lock;
  lock.lock_as_owner();
  lock.lock_as_owner();
  lock.unlock_as_owner();
  std::atomic<bool> read{false};
  std::thread reader([&] {
    lock.lock_as_reader();
    read = true;
    lock.unlock_as_reader();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(read); // the owner still holds it once
  lock.unlock_as_owner();
  reader.join();
  EXPECT_TRUE(read);
}

TEST(LedgerLockTest, AReaderSeesNoHalfDoneChange) {
  LedgerLock lock;
  std::vector<int> list;
  std::atomic<bool> done{false};
  std::thread owner([&] {
    for (int i = 0; i < 20000; ++i) {
      lock.lock_as_owner();
      list.push_back(i);
      list.push_back(i);
      if (list.size() > 100) {
        list.clear();
      }
      lock.unlock_as_owner();
    }
    done = true;
  });
  while (!done) {
    lock.lock_as_reader();
    EXPECT_EQ(list.size() % 2, 0u);
    lock.unlock_as_reader();
  }
  owner.join();
}

TEST(UsesTest, TheSamePlacesAreCountedTogether) {
  static const auto one = stack_of({1});
  static const auto two = stack_of({2});
  const auto before = uses_after_release().size();
  UseAfterReleaseNote use;
  use.made_by = &unknown_operator();
  use.used = &one;
  note_use_after_release(use);
  note_use_after_release(use);
  use.used = &two;
  note_use_after_release(use);
  const auto uses = uses_after_release();
  ASSERT_EQ(uses.size(), before + 2);
  EXPECT_EQ(uses[before].times, 2u);
  EXPECT_EQ(uses[before + 1].times, 1u);
}

} // namespace
