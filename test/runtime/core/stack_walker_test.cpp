// SPDX-License-Identifier: Apache-2.0
// The walker on stacks that are made up: what it remembers of one walk must never show in another.
#include "core/stack_walker.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <vector>

namespace {

using namespace tensorscope::core;

std::map<std::uintptr_t, FrameRule> code; ///< what read_rule finds
std::size_t times_read = 0;

FrameRule read_rule(std::uintptr_t pc, bool) noexcept {
  ++times_read;
  const auto found = code.find(pc);
  return found != code.end() ? found->second : FrameRule{};
}

/// A function whose frame has so many words besides its return address.
FrameRule frame_of(std::int32_t words) {
  FrameRule rule;
  rule.kind = FrameRule::Kind::caller;
  rule.offset = (words + 1) * 8;
  rule.return_offset = -8;
  return rule;
}

FrameRule outermost() {
  FrameRule rule;
  rule.kind = FrameRule::Kind::outermost;
  return rule;
}

class StackWalkerTest : public testing::Test {
 protected:
  void SetUp() override {
    code = {{1, outermost()}};
    for (std::uintptr_t pc = 10; pc < 60; ++pc) {
      code[pc] = frame_of(static_cast<std::int32_t>(pc % 4));
    }
    times_read = 0;
  }

  /// Lays frames of these functions on the stack, the innermost first; each ends at the same place in every stack.
  FrameState lay(const std::vector<std::uintptr_t>& pcs) {
    std::size_t top = memory_.size();
    for (std::size_t i = pcs.size() - 1; i > 0; --i) {
      memory_[--top] = pcs[i]; // where the frame inside it returns to
      top -= pcs[i - 1] % 4;
    }
    return {pcs.front(), address_of(top), 0};
  }

  std::uintptr_t address_of(std::size_t word) { return reinterpret_cast<std::uintptr_t>(memory_.data() + word); }

  std::vector<std::uintptr_t> walk(const FrameState& here, std::size_t most = 100, std::uint64_t unloads = 0) {
    const auto walked = walker_.walk(here, most, unloads);
    EXPECT_EQ(walked.hash, hash_of_frames(walked.frames));
    std::vector<std::uintptr_t> found;
    for (void* const frame : walked.frames) {
      found.push_back(reinterpret_cast<std::uintptr_t>(frame));
    }
    return found;
  }

  std::array<std::uintptr_t, 4096> memory_{};
  StackWalker walker_{&read_rule};
};

using Frames = std::vector<std::uintptr_t>;

TEST_F(StackWalkerTest, FindsEachFrameUpToTheOutermost) {
  EXPECT_EQ(walk(lay({11, 22, 33, 1})), (Frames{11, 22, 33, 1}));
}

TEST_F(StackWalkerTest, AnotherCallerInTheSamePlaceIsSeen) {
  EXPECT_EQ(walk(lay({11, 22, 33, 44, 1})), (Frames{11, 22, 33, 44, 1}));
  EXPECT_EQ(walk(lay({11, 22, 33, 48, 1})), (Frames{11, 22, 33, 48, 1}));
  EXPECT_EQ(walk(lay({11, 22, 37, 48, 1})), (Frames{11, 22, 37, 48, 1}));
  EXPECT_EQ(walk(lay({22, 37, 48, 1})), (Frames{22, 37, 48, 1}));
}

TEST_F(StackWalkerTest, RandomStacksAreFoundAsTheyAre) {
  std::mt19937 random(7);
  Frames pcs{1};
  for (int i = 0; i < 20'000; ++i) {
    // Some of the inner frames return, others are called: the outer ones stay.
    pcs.erase(pcs.begin(), pcs.begin() + random() % pcs.size());
    while (pcs.size() < 2 || random() % 3 != 0) {
      pcs.insert(pcs.begin(), 10 + random() % 50);
    }
    ASSERT_EQ(walk(lay(pcs)), pcs) << "in round " << i;
  }
}

TEST_F(StackWalkerTest, KnownPlacesAreNotReadAgain) {
  walk(lay({11, 22, 33, 1}));
  const auto read = times_read;
  walk(lay({33, 22, 11, 1}));
  EXPECT_EQ(times_read, read);
}

TEST_F(StackWalkerTest, AfterAnUnloadingOtherCodeMayBeThere) {
  walk(lay({11, 22, 33, 1}));
  code[22] = frame_of(5);
  memory_.fill(0);
  memory_[100] = 33; // the return address of the frame at 22, further away than before
  memory_[101] = 1;
  memory_[102] = 1;
  memory_[94] = 22;
  const FrameState here{12, address_of(94), 0};
  code[33] = frame_of(0);
  EXPECT_EQ(walk(here, 100, 1), (Frames{12, 22, 33, 1}));
}

TEST_F(StackWalkerTest, StopsWhereNothingIsKnown) {
  EXPECT_EQ(walk(lay({11, 22, 99, 33, 1})), (Frames{11, 22, 99, 0}));
}

TEST_F(StackWalkerTest, CodeThatComesAndGoesIsAskedForEachTime) {
  FrameRule passing;
  passing.lasting = false;
  code[99] = passing;
  EXPECT_EQ(walk(lay({11, 99, 1})), (Frames{11, 99, 0}));
  code[99] = frame_of(3);
  EXPECT_EQ(walk(lay({12, 11, 99, 1})), (Frames{12, 11, 99, 1}));
}

TEST_F(StackWalkerTest, TakesNoMoreThanAskedFor) {
  EXPECT_EQ(walk(lay({11, 22, 33, 44, 1}), 2), (Frames{11, 22}));
  EXPECT_EQ(walk(lay({11, 99, 1}), 2), (Frames{11, 99}));
  EXPECT_EQ(walk(lay({11, 22, 33, 44, 1}), 5), (Frames{11, 22, 33, 44, 1}));
  EXPECT_EQ(walk(lay({11, 22, 33, 44, 1}), 3), (Frames{11, 22, 33}));
}

TEST_F(StackWalkerTest, ARuleThatGoesInCirclesEndsTheWalk) {
  FrameRule circle = frame_of(0);
  circle.offset = 0;
  circle.return_offset = 0;
  code[50] = circle;
  memory_[7] = 50;
  EXPECT_EQ(walk({50, address_of(7), 0}), (Frames{50}));
}

TEST_F(StackWalkerTest, FramesFoundByTheFramePointerAndRealignedOnesAreFollowed) {
  FrameRule by_pointer = frame_of(1); // push fp; mov fp, sp
  by_pointer.from_fp = true;
  by_pointer.offset = 16;
  by_pointer.fp_offset = -16;
  FrameRule realigned = by_pointer; // its end is stored below where the pointer points
  realigned.stored = true;
  realigned.offset = -8;
  realigned.fp_offset = 8;
  code[70] = by_pointer;
  code[71] = realigned;
  memory_[10] = address_of(20);  // the outer frame's pointer, saved by the inner function
  memory_[11] = 71;
  memory_[20] = 0;               // its caller's pointer
  memory_[19] = address_of(31);  // its end
  memory_[30] = 1;
  EXPECT_EQ(walk({70, address_of(5), address_of(10)}), (Frames{70, 71, 1}));
}

TEST_F(StackWalkerTest, AnotherFramePointerInTheSamePlaceIsSeen) {
  FrameRule by_pointer = frame_of(1);
  by_pointer.from_fp = true;
  by_pointer.offset = 16;
  by_pointer.fp_offset = -16;
  code[70] = code[72] = by_pointer;
  code[74] = outermost();
  memory_[10] = address_of(20);
  memory_[11] = 72;
  memory_[21] = 1;
  memory_[31] = 74;
  const FrameState here{70, address_of(5), address_of(10)};
  EXPECT_EQ(walk(here), (Frames{70, 72, 1}));
  memory_[10] = address_of(30);
  EXPECT_EQ(walk(here), (Frames{70, 72, 74}));
  memory_[10] = address_of(20);
  EXPECT_EQ(walk(here), (Frames{70, 72, 1}));
}

TEST_F(StackWalkerTest, ManyPlacesAreForgottenBeforeTheyFillTheMemory) {
  for (std::uintptr_t pc = 1000; pc < 101'000; ++pc) {
    code[pc] = outermost();
    EXPECT_EQ(walk({pc, address_of(7), 0}), Frames{pc});
  }
  EXPECT_LE(walker_.rules_known(), 32'769u);
  EXPECT_EQ(walk(lay({11, 22, 33, 1})), (Frames{11, 22, 33, 1}));
}

} // namespace
