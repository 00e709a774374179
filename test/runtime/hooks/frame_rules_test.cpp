// SPDX-License-Identifier: Apache-2.0
// Real stacks, walked by rules that are read from the libraries, against the C library's own unwinder.
#include "core/stack_walker.h"
#include "hooks/frame_rules.h"
#include "platform/loaded_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <execinfo.h>

namespace {

using namespace tensorscope;

constexpr int kDeepest = 200;

core::StackWalker& walker() {
  static thread_local core::StackWalker own(&hooks::read_frame_rule);
  return own;
}

std::vector<void*> own_walk() {
  core::FrameState here;
  __asm__ volatile("movq %%rbp, %2\n\tmovq %%rsp, %1\n\tleaq 0(%%rip), %0" : "=r"(here.pc), "=r"(here.sp), "=&r"(here.fp));
  const auto walked = walker().walk(here, kDeepest, platform::unloads());
  return {walked.frames.begin(), walked.frames.end()};
}

/// Both must agree from the caller's caller outwards; below it they return to other places of one function.
__attribute__((noinline)) void compare() {
  auto mine = own_walk();
  void* theirs[kDeepest];
  const int depth = ::backtrace(theirs, kDeepest);
  const void* const caller = __builtin_return_address(0);
  const auto from_caller = [&](auto begin, auto end) { return std::vector<void*>(std::find(begin, end, caller), end); };
  ASSERT_EQ(from_caller(mine.begin(), mine.end()), from_caller(theirs, theirs + depth));
  ASSERT_GE(from_caller(mine.begin(), mine.end()).size(), 3u);
}

using Steps = std::vector<int>;
void go_on(const Steps& steps, std::size_t at);

template <std::size_t bytes>
__attribute__((noinline)) void with_frame(const Steps& steps, std::size_t at) {
  volatile char block[bytes];
  block[0] = 1;
  block[bytes - 1] = 1;
  go_on(steps, at + 1);
  block[1] = block[0];
}

__attribute__((noinline)) void with_variable_frame(const Steps& steps, std::size_t at) {
  auto* const block = static_cast<volatile char*>(__builtin_alloca(64 + 16 * at));
  block[0] = 1;
  go_on(steps, at + 1);
  block[1] = block[0];
}

__attribute__((noinline)) void with_aligned_frame(const Steps& steps, std::size_t at) {
  alignas(128) volatile char block[256];
  block[0] = 1;
  go_on(steps, at + 1);
  block[1] = block[0];
}

__attribute__((noinline)) void through_the_c_library(const Steps& steps, std::size_t at) {
  static thread_local const Steps* all;
  static thread_local std::size_t next;
  all = &steps;
  next = at + 1;
  int two[] = {2, 1};
  ::qsort(two, 2, sizeof(int), [](const void*, const void*) {
    go_on(*all, next);
    return 0;
  });
}

__attribute__((noinline)) void through_a_handler(const Steps& steps, std::size_t at) {
  try {
    throw std::runtime_error("on purpose");
  } catch (const std::runtime_error&) {
    go_on(steps, at + 1);
  }
}

void go_on(const Steps& steps, std::size_t at) {
  if (at == steps.size()) {
    compare();
    return;
  }
  switch (steps[at]) {
    case 0: with_frame<24>(steps, at); break;
    case 1: with_frame<4000>(steps, at); break;
    case 2: with_variable_frame(steps, at); break;
    case 3: with_aligned_frame(steps, at); break;
    case 4: through_the_c_library(steps, at); break;
    case 5: through_a_handler(steps, at); break;
    default: std::for_each(steps.begin() + at, steps.begin() + at + 1, [&](int) { go_on(steps, at + 1); }); break;
  }
}

/// Random ways down, each sharing its beginning with the one before.
void walk_randomly(unsigned seed, int walks) {
  std::mt19937 random(seed);
  Steps steps;
  for (int i = 0; i < walks && !testing::Test::HasFatalFailure(); ++i) {
    steps.resize(random() % (steps.size() + 1));
    while (steps.size() < 12 && random() % 4 != 0)
      steps.push_back(static_cast<int>(random() % 7));
    go_on(steps, 0);
  }
}

TEST(FrameRulesTest, WalksAgreeWithTheCLibrary) {
  walk_randomly(1, 3000);
}

TEST(FrameRulesTest, WalksOnThreadsAgreeWithTheCLibrary) {
  std::vector<std::thread> threads;
  for (unsigned seed = 2; seed < 6; ++seed)
    threads.emplace_back([seed] { walk_randomly(seed, 500); });
  for (auto& thread : threads)
    thread.join();
}

TEST(FrameRulesTest, CodeThatNobodyLoadedHasNoLastingRule) {
  static char data[16];
  EXPECT_FALSE(hooks::read_frame_rule(8, true).lasting);
  EXPECT_EQ(hooks::read_frame_rule(reinterpret_cast<std::uintptr_t>(std::malloc(16)), true).kind, core::FrameRule::Kind::unknown);
  EXPECT_EQ(hooks::read_frame_rule(reinterpret_cast<std::uintptr_t>(data), true).kind, core::FrameRule::Kind::unknown);
}

// Two libraries that differ in the size of one frame take the same addresses, one after the other.
TEST(FrameRulesTest, ALibraryInThePlaceOfAnotherIsWalkedByItsOwnRules) {
  using CallBack = void (*)(void (*)());
  void* first_place = nullptr;
  int in_the_same_place = 0;
  for (int round = 0; round < 6; ++round) {
    void* const library = ::dlopen(round % 2 == 0 ? FIRST_PLUGIN : SECOND_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    const auto call_back = reinterpret_cast<CallBack>(::dlsym(library, "tensorscope_call_back"));
    ASSERT_NE(call_back, nullptr);
    in_the_same_place += reinterpret_cast<void*>(call_back) == first_place;
    first_place = reinterpret_cast<void*>(call_back);
    call_back(&compare);
    ::dlclose(library);
  }
  EXPECT_GT(in_the_same_place, 0) << "the loader put no library where the other had been: nothing was tested";
}

} // namespace
