// SPDX-License-Identifier: Apache-2.0
// The search's test of itself: what it says of each outcome, and that words which a program left over do not fail it.
#include "report/planted.h"
#include "report/reach_search.h"
#include "unheld.h"

#include <gtest/gtest.h>

#include <malloc.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using tensorscope::report::Planted;
using tensorscope::report::Reach;
using tensorscope::report::ReachAnswer;
using tensorscope::report::ReachTrouble;
using tensorscope::report::search_reach;

constexpr std::size_t kOfKind = 2 * Planted::kPairs;

/// What a search finds of the lost, of those in cycles and of the held, where the first `count` of a kind are found otherwise.
std::array<Reach, Planted::kObjects> found_but(std::size_t kind, std::size_t count, Reach otherwise) {
  std::array<Reach, Planted::kObjects> found{};
  for (std::size_t i = 0; i < found.size(); ++i) {
    constexpr std::array kRight{Reach::lost, Reach::in_cycle, Reach::reached};
    found[i] = i / kOfKind == kind && i % kOfKind < count ? otherwise : kRight[i / kOfKind];
  }
  return found;
}

TEST(PlantedTest, SomeThatWordsLeadToAreNoReasonForDistrust) {
  EXPECT_EQ(Planted::judge(found_but(0, 0, Reach::reached)), Planted::Verdict::right);
  EXPECT_EQ(Planted::judge(found_but(0, Planted::kPairs - 1, Reach::reached)), Planted::Verdict::right);
  EXPECT_EQ(Planted::judge(found_but(1, Planted::kPairs - 1, Reach::reached)), Planted::Verdict::right);
}

TEST(PlantedTest, ManyThatWordsLeadToMayLieInABadPlace) {
  EXPECT_EQ(Planted::judge(found_but(0, kOfKind, Reach::reached)), Planted::Verdict::words_left);
  EXPECT_EQ(Planted::judge(found_but(1, Planted::kPairs, Reach::reached)), Planted::Verdict::words_left);
}

TEST(PlantedTest, OneThatIsHeldAndSeemsLostIsEnough) {
  EXPECT_EQ(Planted::judge(found_but(2, 1, Reach::lost)), Planted::Verdict::wrong);
  EXPECT_EQ(Planted::judge(found_but(2, 1, Reach::unknown)), Planted::Verdict::wrong);
}

TEST(PlantedTest, WhatIsTakenForAnotherKindIsWrongWhereverItLies) {
  EXPECT_EQ(Planted::judge(found_but(0, kOfKind, Reach::in_cycle)), Planted::Verdict::wrong);
  EXPECT_EQ(Planted::judge(found_but(1, kOfKind, Reach::lost)), Planted::Verdict::wrong);
}

struct Object {
  std::uintptr_t words[777] = {};
};

std::vector<void*> emptied; // its memory still has the words
Object* volatile held = nullptr;

/// Leaves words over that lead to everywhere in a large free part of the heap.
class LeftOver {
 public:
  LeftOver() {
    constexpr std::size_t kSize = 200;
    constexpr std::size_t kCount = 40'000;
    emptied.reserve(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      emptied.push_back(std::malloc(kSize));
    }
    end_ = std::malloc(kSize); // else what is free would be given back
    for (void* const one : emptied) {
      std::free(one);
    }
    emptied.clear();
  }
  ~LeftOver() {
    std::free(end_);
    std::vector<void*>().swap(emptied);
  }
  LeftOver(const LeftOver&) = delete;
  LeftOver& operator=(const LeftOver&) = delete;

 private:
  void* end_ = nullptr;
};

void expect_found() {
  const std::vector<Unheld<Object>> objects(2);
  held = objects[0].get();
  const LeftOver left_over;
  const ReachAnswer answer = search_reach({objects[0].complement(), objects[1].complement()}, {});
  held = nullptr;
  EXPECT_EQ(answer.trouble, ReachTrouble::none);
  EXPECT_EQ(answer.reach, (std::vector<Reach>{Reach::reached, Reach::lost}));
}

TEST(PlantedTest, WordsThatAreLeftOverInAnEmptiedListDoNotFailTheSearch) { expect_found(); }

TEST(PlantedTest, NorDoTheyInAForkedProcessWhoseHeapGrows) {
  EXPECT_EXIT(
      {
        expect_found();
        std::_Exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(PlantedTest, WhatWasTakenToGetNewMemoryIsGivenBack) {
  const LeftOver left_over;
  const std::size_t before = ::mallinfo2().uordblks;
  for (int i = 0; i < 10; ++i) {
    const Planted planted(Planted::Where::in_new_memory);
  }
  EXPECT_LT(::mallinfo2().uordblks, before + (std::size_t{1} << 16)); // the allocator keeps a few for the next who ask
}

void expect_new_memory() {
  const LeftOver left_over;
  const auto before = tensorscope::report::readable_mappings();
  const Planted planted(Planted::Where::in_new_memory);
  std::vector<std::uintptr_t> complements;
  planted.add_to(complements);
  ASSERT_EQ(complements.size(), Planted::kObjects);
  for (const std::uintptr_t complement : complements) {
    EXPECT_EQ(tensorscope::report::find_mapping(before, ~complement), nullptr);
  }
}

TEST(PlantedTest, NewMemoryIsWhatTheHeapDidNotHaveBefore) {
  expect_new_memory();
  std::thread(expect_new_memory).join(); // which has a heap of its own
}

} // namespace
