// SPDX-License-Identifier: Apache-2.0
// Which bytes count as born in the operator that runs.
#include "core/births.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace {

using tensorscope::core::Births;

const void* address(std::uintptr_t number) {
  return reinterpret_cast<const void*>(number * 64);
}

TEST(BirthsTest, AnAddressCountsOnce) {
  Births births;
  births.add(address(1));
  EXPECT_TRUE(births.take(address(1)));
  EXPECT_FALSE(births.take(address(1)));
  EXPECT_TRUE(births.empty());
}

TEST(BirthsTest, AnAddressThatWasNotAllocatedIsNoBirth) {
  Births births;
  births.add(address(1));
  EXPECT_FALSE(births.take(address(2)));
  EXPECT_FALSE(births.empty());
}

TEST(BirthsTest, ABirthDiesWithItsBytes) {
  Births births;
  births.add(address(7));
  births.forget(address(7));
  EXPECT_FALSE(births.take(address(7)));
}

TEST(BirthsTest, AnAddressUsedAgainIsAnotherBirth) {
  Births births;
  births.add(address(7));
  births.forget(address(7));
  births.add(address(7));
  EXPECT_TRUE(births.take(address(7)));
}

TEST(BirthsTest, TheNextOperatorStartsWithNone) {
  Births births;
  for (std::uintptr_t i = 1; i < 100; ++i) {
    births.add(address(i));
  }
  births.add_empty();
  births.clear();
  EXPECT_TRUE(births.empty());
  EXPECT_FALSE(births.take(address(3)));
  EXPECT_FALSE(births.take(address(77)));
  EXPECT_FALSE(births.take_empty());
}

TEST(BirthsTest, EmptyStoragesAreCounted) {
  Births births;
  births.add_empty();
  births.add_empty();
  EXPECT_TRUE(births.take_empty());
  EXPECT_TRUE(births.take_empty());
  EXPECT_FALSE(births.take_empty());
}

// Any order of allocating, freeing, taking and starting over agrees with a plain set.
TEST(BirthsTest, AgreesWithASetInAnyOrder) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    Births births;
    std::set<std::uintptr_t> model;
    for (int step = 0; step < 300; ++step) {
      const std::uintptr_t number = 1 + random() % 97;
      switch (random() % 8) {
        case 0:
        case 1:
        case 2:
        case 3:
          if (model.insert(number).second) {
            births.add(address(number));
          }
          break;
        case 4:
        case 5:
          births.forget(address(number));
          model.erase(number);
          break;
        case 6:
          ASSERT_EQ(births.take(address(number)), model.erase(number) == 1);
          break;
        default:
          if (random() % 40 == 0) {
            births.clear();
            model.clear();
          }
      }
      ASSERT_EQ(births.empty(), model.empty());
    }
    for (std::uintptr_t number = 1; number < 99; ++number) {
      ASSERT_EQ(births.take(address(number)), model.count(number) == 1);
    }
  }
}

TEST(BirthsTest, ManyBirthsInOneOperatorAreAllTaken) {
  Births births;
  constexpr std::uintptr_t kMany = 50'000;
  for (std::uintptr_t i = 1; i <= kMany; ++i) {
    births.add(address(i));
  }
  for (std::uintptr_t i = 1; i <= kMany; ++i) {
    ASSERT_TRUE(births.take(address(i)));
  }
  EXPECT_TRUE(births.empty());
}

TEST(BirthsTest, BytesThatTensorsWereSetToAreKnownUntilTheOperatorEnds) {
  Births births;
  births.add(address(1));
  births.note_rebound(address(1));
  EXPECT_TRUE(births.was_rebound(address(1)));
  EXPECT_FALSE(births.was_rebound(address(2)));
  EXPECT_TRUE(births.take(address(1))) << "born, whoever holds them";
  births.clear();
  EXPECT_FALSE(births.was_rebound(address(1)));
}

} // namespace
