// SPDX-License-Identifier: Apache-2.0
// What regions own, weakly, and how they nest.
#include "core/region_stack.h"

#include "ledger_model.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace {

using namespace tensorscope::core;
using tensorscope_test::Pool;
using tensorscope_test::Thing;
using tensorscope_test::things;

TEST(OwnedStoragesTest, TakesOutWhatItOwnsOnce) {
  Pool pool;
  OwnedStorages owned(things);
  Thing* const storage = pool.make();
  owned.add(pool.owned(storage));
  OwnedStorage entry{};
  EXPECT_TRUE(owned.take_out(storage, entry));
  EXPECT_EQ(entry.storage, storage);
  EXPECT_FALSE(owned.take_out(storage, entry));
  EXPECT_FALSE(owned.owns(storage));
  entry.drop(things);
  owned.clear();
  EXPECT_EQ(pool.weak_references(), 0);
}

TEST(OwnedStoragesTest, DropsTheDeadAsItGrows) {
  Pool pool;
  OwnedStorages owned(things);
  for (int i = 0; i < 100'000; ++i) {
    Thing* const storage = pool.make();
    owned.add(pool.owned(storage));
    storage->alive = i % 1000 == 0;
  }
  EXPECT_LT(owned.items().size(), 1000u);
  owned.clear();
  EXPECT_EQ(pool.weak_references(), 0);
}

TEST(OwnedStoragesTest, KeepsTheLivingAsItGrows) {
  Pool pool;
  OwnedStorages owned(things);
  std::vector<Thing*> living;
  for (int i = 0; i < 5000; ++i) {
    Thing* const storage = pool.make();
    owned.add(pool.owned(storage));
    if (i % 3 == 0) {
      living.push_back(storage);
    } else {
      storage->alive = false;
    }
  }
  for (Thing* const storage : living) {
    ASSERT_TRUE(owned.owns(storage));
  }
}

TEST(SeenObjectsTest, WhatIsRemovedIsForgottenAsOftenAsItWasMet) {
  Pool pool;
  SeenObjects seen(things);
  Thing* const one = pool.make();
  Thing* const other = pool.make();
  for (Thing* const thing : {one, other, one}) {
    ++thing->weak;
    seen.add({thing});
  }
  seen.remove(one);
  seen.remove(pool.make());
  ASSERT_EQ(seen.items().size(), 1u);
  EXPECT_EQ(seen.items().front().object, other);
  EXPECT_EQ(pool.weak_references(), 1);
}

// Any order of owning, dying, taking out and pruning agrees with a plain map; no weak reference is lost.
TEST(OwnedStoragesTest, AgreesWithAMapInAnyOrder) {
  std::mt19937 random(5);
  for (int round = 0; round < 30; ++round) {
    Pool pool;
    OwnedStorages owned(things);
    std::map<Thing*, bool> model;
    std::vector<Thing*> all;
    for (int step = 0; step < 2000; ++step) {
      const auto what = random() % 10;
      if (what < 6 || all.empty()) {
        Thing* const storage = all.emplace_back(pool.make());
        owned.add(pool.owned(storage));
        model[storage] = true;
        continue;
      }
      Thing* const storage = all[random() % all.size()];
      if (what < 8) {
        storage->alive = false;
        model.erase(storage);
      } else if (storage->alive) {
        OwnedStorage entry{};
        ASSERT_EQ(owned.take_out(storage, entry), model.erase(storage) == 1);
        if (entry.storage != nullptr) {
          entry.drop(things);
        }
      } else if (random() % 20 == 0) {
        owned.prune();
      }
    }
    for (const auto& [storage, owns] : model) {
      ASSERT_TRUE(owned.owns(storage));
    }
    owned.clear();
    ASSERT_EQ(pool.weak_references(), 0);
  }
}

TEST(SeenTensorsTest, FindsThoseOverAStorageInShortAndLongLists) {
  Pool pool;
  for (const int length : {10, 1000, 5000}) {
    SeenTensors seen(things);
    std::vector<Thing*> storages;
    std::map<void*, int> met;
    for (int i = 0; i < length; ++i) {
      storages.push_back(pool.make());
      for (int j = 0; j < 2; ++j) {
        Thing* const tensor = pool.make();
        ++tensor->weak;
        seen.add({tensor, storages.back()});
        met[tensor] = i;
      }
      if (i % 7 == 0) {
        int found = 0;
        seen.visit_over(storages[static_cast<std::size_t>(i) / 2], [&](void* tensor) { found += met[tensor] == i / 2; });
        ASSERT_EQ(found, 2) << i;
      }
    }
    seen.clear();
    seen.visit_over(storages[0], [](void*) { FAIL(); });
  }
  EXPECT_EQ(pool.weak_references(), 0);
}

/// Can't be copied any more when told so, as if memory were short.
struct FragileItem {
  Thing* thing;
  static inline bool broken = false;
  explicit FragileItem(Thing* made) : thing(made) {}
  FragileItem(const FragileItem& other) : thing(other.thing) { check(); }
  FragileItem(FragileItem&& other) noexcept : thing(other.thing) {}
  FragileItem& operator=(const FragileItem&) = default;
  static void check() {
    if (broken) {
      throw std::bad_alloc();
    }
  }
  bool dead(const Liveness& liveness) const { return !liveness.alive(thing); }
  void drop(const Liveness& liveness) { liveness.drop(thing); }
};

TEST(WeakListTest, AnItemThatFindsNoRoomIsGivenUp) {
  Pool pool;
  WeakList<FragileItem> list(things);
  Thing* const thing = pool.make();
  ++thing->weak;
  FragileItem::broken = true;
  EXPECT_THROW(list.add(FragileItem(thing)), std::bad_alloc);
  FragileItem::broken = false;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(pool.weak_references(), 0);
}

class RegionStackTest : public ::testing::Test {
 protected:
  Region& push(RegionKind kind = RegionKind::scope) {
    return push_region(thread, kind, std::source_location::current(), things);
  }
  void pop(Region& region) { recycle_region(thread, pop_region(thread, region)); }

  ThreadRecord thread;
};

TEST_F(RegionStackTest, InnermostIsTheLastOpened) {
  Region& outer = push();
  Region& inner = push();
  EXPECT_EQ(thread.innermost, &inner);
  EXPECT_EQ(inner.outer, &outer);
  pop(inner);
  EXPECT_EQ(thread.innermost, &outer);
  pop(outer);
  EXPECT_EQ(thread.innermost, nullptr);
}

TEST_F(RegionStackTest, DepthsAndBirthsOfTheCodeAroundAreSetAside) {
  int bytes = 0;
  thread.depths = {3, 1};
  thread.births.add(&bytes);
  Region& region = push();
  EXPECT_EQ(thread.depths.operators, 0u);
  EXPECT_EQ(thread.depths.library, 0u);
  EXPECT_TRUE(thread.births.empty());
  pop(region);
  EXPECT_EQ(thread.depths.operators, 3u);
  EXPECT_EQ(thread.depths.library, 1u);
  EXPECT_TRUE(thread.births.take(&bytes));
}

TEST_F(RegionStackTest, OuterTakenOffFirstLeavesItsDepthsToTheInner) {
  thread.depths = {2, 0};
  Region& outer = push();
  thread.depths = {7, 1};
  Region& inner = push();
  pop(outer);
  EXPECT_EQ(thread.innermost, &inner);
  pop(inner);
  EXPECT_EQ(thread.depths.operators, 2u);
  EXPECT_EQ(thread.innermost, nullptr);
}

TEST_F(RegionStackTest, AbandonedRegionsAreUnwoundFromTheInside) {
  Region& outer = push();
  Region& inner = push();
  outer.abandoned = outer.number;
  drop_abandoned(thread);
  EXPECT_EQ(thread.innermost, &inner);
  inner.abandoned = inner.number;
  drop_abandoned(thread);
  EXPECT_EQ(thread.innermost, nullptr);
}

TEST_F(RegionStackTest, ASessionIsNoScope) {
  Region& session = push(RegionKind::session);
  EXPECT_EQ(thread.session, &session);
  EXPECT_FALSE(inside_scope(thread));
  Region& scope = push();
  EXPECT_TRUE(inside_scope(thread));
  pop(scope);
  pop(session);
  EXPECT_EQ(thread.session, nullptr);
}

TEST_F(RegionStackTest, OwnerIsFoundInAnyOpenRegion) {
  Pool pool;
  Region& outer = push();
  Thing* const storage = pool.make();
  outer.owned.add(pool.owned(storage));
  Region& inner = push();
  EXPECT_EQ(owner_of(thread, storage), &outer);
  EXPECT_EQ(owner_of(thread, pool.make()), nullptr);
  pop(inner);
  pop(outer);
  EXPECT_EQ(pool.weak_references(), 0);
}

TEST_F(RegionStackTest, RegionNumbersAreNeverUsedTwice) {
  Region& first = push();
  const auto number = first.number;
  pop(first);
  Region& second = push();
  EXPECT_NE(second.number, number);
  pop(second);
}

} // namespace
