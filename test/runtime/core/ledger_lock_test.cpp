// SPDX-License-Identifier: Apache-2.0
// The lock of a thread's ledger, for readers who may be what others wait for.
#include "core/interned.h"
#include "core/ledger.h"

#include <gtest/gtest.h>

#include <thread>

namespace {

using namespace tensorscope::core;

constexpr std::int64_t kMillisecond = 1'000'000;

TEST(LedgerLockTest, AReaderInAHurryGivesUpOnALockThatIsHeld) {
  LedgerLock lock;
  lock.lock_as_owner();
  const auto begin = monotonic_now();
  std::thread([&] { EXPECT_FALSE(lock.try_lock_as_reader(begin + 20 * kMillisecond)); }).join();
  EXPECT_GE(monotonic_now() - begin, 20 * kMillisecond);
  lock.unlock_as_owner();
}

TEST(LedgerLockTest, AReaderInAHurryTakesALockThatIsFreeAlsoWhenItsTimeIsUp) {
  LedgerLock lock;
  EXPECT_TRUE(lock.try_lock_as_reader(0));
  std::thread([&] { EXPECT_FALSE(lock.try_lock_as_reader(0)); }).join();
  lock.unlock_as_reader();
  EXPECT_TRUE(lock.try_lock_as_reader(0));
  lock.unlock_as_reader();
}

struct Number {
  int value = 0;
  bool operator==(const Number&) const = default;
  std::size_t hash() const { return static_cast<std::size_t>(value); }
};

TEST(InternTableTest, IsFullWhenItTakesNoNewValues) {
  InternTable<Number> table(2);
  table.intern(Number{1});
  EXPECT_FALSE(table.full());
  table.intern(Number{2});
  EXPECT_TRUE(table.full());
  EXPECT_EQ(table.intern(Number{3}), nullptr);
  EXPECT_NE(table.intern(Number{1}), nullptr);
}

} // namespace
