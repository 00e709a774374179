// SPDX-License-Identifier: Apache-2.0
// What nothing leads to any more is told from what is held in any way that a program has. The objects here stand for
// storages; the test itself knows them by complements of their addresses only.
#include "report/reach_search.h"
#include "stopping.h"
#include "unheld.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using tensorscope::report::Reach;
using tensorscope::report::ReachAnswer;
using tensorscope::report::ReachQuestion;
using tensorscope::report::ReachTrouble;
using tensorscope::report::search_reach;

/// Of a size that little else has, so that no word is left over that leads to one of these by chance.
struct Object {
  std::uintptr_t words[777] = {};
};

using Asked = Unheld<Object>;

ReachAnswer answer_of(const std::vector<std::uintptr_t>& objects, const ReachQuestion& question = {}) {
  return search_reach(objects, question);
}

Reach reach_of(const Asked& object, const ReachQuestion& question = {}) {
  const ReachAnswer answer = answer_of({object.complement()}, question);
  EXPECT_EQ(answer.trouble, ReachTrouble::none);
  return answer.reach.front();
}

Object* volatile plain = nullptr;
volatile std::uintptr_t tagged = 0;

TEST(ReachSearchTest, WhatNothingLeadsToIsLost) {
  const Asked object;
  EXPECT_EQ(reach_of(object), Reach::lost);
}

TEST(ReachSearchTest, EachOfSeveralIsLost) {
  const std::vector<Asked> objects(50);
  std::vector<std::uintptr_t> asked;
  for (const Asked& object : objects) {
    asked.push_back(object.complement());
  }
  const ReachAnswer answer = answer_of(asked);
  EXPECT_EQ(answer.trouble, ReachTrouble::none);
  EXPECT_EQ(answer.reach, std::vector<Reach>(50, Reach::lost));
}

TEST(ReachSearchTest, NothingAskedIsNothingFound) { EXPECT_TRUE(answer_of({}).reach.empty()); }

TEST(ReachSearchTest, AStaticHolds) {
  const Asked object;
  plain = object.get();
  const Reach held = reach_of(object);
  plain = nullptr;
  EXPECT_EQ(held, Reach::reached);
  EXPECT_EQ(reach_of(object), Reach::lost);
}

TEST(ReachSearchTest, AnAddressInsideHolds) {
  const Asked object;
  plain = reinterpret_cast<Object*>(&object.get()->words[500]); // an element of a vector, another base
  const Reach in_the_middle = reach_of(object);
  plain = reinterpret_cast<Object*>(&object.get()->words[777]);
  const Reach behind_the_end = reach_of(object);
  plain = nullptr;
  EXPECT_EQ(in_the_middle, Reach::reached);
  EXPECT_EQ(behind_the_end, Reach::reached);
}

TEST(ReachSearchTest, AnAddressWithATagHolds) {
  const Asked object;
  for (const std::uintptr_t tag : {std::uintptr_t{1}, std::uintptr_t{7}, std::uintptr_t{0xabcd} << 48, std::uintptr_t{1} << 63}) {
    tagged = reinterpret_cast<std::uintptr_t>(object.get()) | tag;
    const Reach reach = reach_of(object);
    tagged = 0;
    EXPECT_EQ(reach, Reach::reached) << std::hex << tag;
  }
}

/// What may hold an object, through blocks of the heap.
struct Node {
  virtual ~Node() = default;
  Object* content = nullptr;
  std::shared_ptr<Node> next;
};
struct Other {
  virtual ~Other() = default;
  int rank = 1;
};
struct Both : Other, Node {};

std::deque<Object*> in_deque;
std::unordered_map<std::string, std::vector<Object*>> in_map;
std::map<int, Object*> in_tree;
std::function<std::size_t()> in_function;
std::shared_ptr<Node> in_nodes;
Node* volatile in_base = nullptr;
thread_local std::vector<Object*> of_thread;

TEST(ReachSearchTest, ContainersHold) {
  const std::vector<Asked> objects(4);
  for (int i = 0; i < 1000; ++i) {
    in_deque.push_back(i == 700 ? objects[0].get() : nullptr);
    in_map[std::to_string(i)].push_back(i == 300 ? objects[1].get() : nullptr);
    in_tree[i] = i == 500 ? objects[2].get() : nullptr;
  }
  in_function = [object = objects[3].get(), a = std::string("a"), b = 2] { return object->words[0] + a.size() + b; };
  const ReachAnswer answer =
      answer_of({objects[0].complement(), objects[1].complement(), objects[2].complement(), objects[3].complement()});
  in_deque.clear();
  in_map.clear();
  in_tree.clear();
  in_function = nullptr;
  EXPECT_EQ(answer.reach, std::vector<Reach>(4, Reach::reached));
}

TEST(ReachSearchTest, ALongChainHolds) {
  const Asked object;
  for (int i = 0; i < 5000; ++i) {
    auto node = std::make_shared<Node>();
    node->next = std::move(in_nodes);
    node->content = i == 0 ? object.get() : nullptr;
    in_nodes = std::move(node);
  }
  const Reach reach = reach_of(object);
  while (in_nodes) {
    in_nodes = std::move(std::shared_ptr<Node>(in_nodes)->next);
  }
  EXPECT_EQ(reach, Reach::reached);
}

TEST(ReachSearchTest, AnotherBaseHolds) {
  const Asked object;
  auto* const both = new Both;
  both->content = object.get();
  in_base = both;
  const Reach reach = reach_of(object);
  delete both;
  in_base = nullptr;
  EXPECT_EQ(reach, Reach::reached);
}

TEST(ReachSearchTest, AThreadLocalVariableHolds) {
  const Asked object;
  of_thread.push_back(object.get());
  const Reach reach = reach_of(object);
  of_thread.clear();
  of_thread.shrink_to_fit(); // else the address is left over
  EXPECT_EQ(reach, Reach::reached);
}

/// Calls `ask` while another thread runs `work`, which says that it is ready and stays until it is told to end.
template <class Work, class Ask>
void beside(Work work, Ask ask) {
  std::atomic<bool> ready{false};
  std::atomic<bool> end{false};
  std::thread other([&] { work(ready, end); });
  ready.wait(false);
  ::usleep(20'000); // until it waits
  ask();
  end = true;
  end.notify_all();
  other.join();
}

void say(std::atomic<bool>& ready) {
  ready = true;
  ready.notify_all();
}

TEST(ReachSearchTest, AnotherThreadsVariableHolds) {
  SKIP_IF_THREADS_CANNOT_BE_STOPPED();
  const std::vector<Asked> objects(3);
  beside(
      [&](std::atomic<bool>& ready, std::atomic<bool>& end) {
        Object* volatile local = objects[0].get();
        of_thread.assign(3, objects[1].get());
        auto on_heap = std::make_unique<std::vector<Object*>>(3, objects[2].get());
        say(ready);
        end.wait(false);
        local = local == nullptr ? local : nullptr;
      },
      [&] {
        const ReachAnswer answer = answer_of({objects[0].complement(), objects[1].complement(), objects[2].complement()});
        EXPECT_EQ(answer.trouble, ReachTrouble::none);
        EXPECT_EQ(answer.reach, std::vector<Reach>(3, Reach::reached));
      });
}

#if defined(__x86_64__)
TEST(ReachSearchTest, AnotherThreadsRegisterHolds) {
  SKIP_IF_THREADS_CANNOT_BE_STOPPED();
  const Asked object;
  const std::uintptr_t complement = object.complement();
  for (const bool waits : {false, true}) {
    beside(
        [&](std::atomic<bool>& ready, std::atomic<bool>& end) {
          say(ready);
          while (!end) {
            // In the register alone, for as long as the loop runs or the kernel sleeps.
            ::timespec sleep{0, 200'000'000};
            std::uintptr_t rounds = 100'000'000;
            std::uintptr_t register_of_loop = ~complement;
            if (waits) {
              long number = 35; // nanosleep
              __asm__ volatile("syscall" : "+a"(number), "+b"(register_of_loop) : "D"(&sleep), "S"(0L) : "rcx", "r11", "memory");
            } else {
              __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds), "+b"(register_of_loop));
            }
            __asm__ volatile("xor %0, %0" : "+b"(register_of_loop));
          }
        },
        [&] { EXPECT_EQ(reach_of(object), Reach::reached) << waits; });
  }
}
#endif

TEST(ReachSearchTest, WhatThreadsDoNotHoldIsLostAllTheSame) {
  SKIP_IF_THREADS_CANNOT_BE_STOPPED();
  const Asked object;
  for (const bool waits : {false, true}) {
    beside(
        [&](std::atomic<bool>& ready, std::atomic<bool>& end) {
          say(ready);
          while (!end) {
            if (waits) {
              end.wait(false);
            }
          }
        },
        [&] { EXPECT_EQ(reach_of(object), Reach::lost) << waits; });
  }
}

TEST(ReachSearchTest, WhatAThreadLostBeforeItEndedIsLost) {
  std::unique_ptr<Asked> object;
  std::thread([&] {
    object = std::make_unique<Asked>();
    Object* volatile local = object->get();
    (void)local;
  }).join();
  EXPECT_EQ(reach_of(*object), Reach::lost);
}

TEST(ReachSearchTest, ThreadsThatWaitNoticeNothing) {
  SKIP_IF_THREADS_CANNOT_BE_STOPPED();
  const Asked object;
  int seconds_left = -1;
  std::thread sleeper([&] {
    ::timespec left{0, 0};
    const ::timespec all{0, 300'000'000};
    seconds_left = ::nanosleep(&all, &left);
  });
  ::usleep(20'000);
  EXPECT_EQ(reach_of(object), Reach::lost);
  sleeper.join();
  EXPECT_EQ(seconds_left, 0);
}

__attribute__((noinline)) ReachAnswer ask_with_variable(const Asked& object) {
  Object* volatile local = object.get();
  auto found = answer_of({object.complement()}, {{}, {reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - 256, {}}, {}});
  local = local == nullptr ? local : nullptr;
  return found;
}

TEST(ReachSearchTest, TheCallersVariablesHoldWhileTheyAreThere) {
  const Asked object;
  EXPECT_EQ(ask_with_variable(object).reach.front(), Reach::reached);
}

TEST(ReachSearchTest, WhatOnlyALostBlockHoldsIsLost) {
  const Asked object;
  auto* lost = new std::vector<Object*>(12, object.get());
  const std::uintptr_t hidden = ~reinterpret_cast<std::uintptr_t>(lost);
  lost = nullptr;
  const Reach reach = reach_of(object);
  delete reinterpret_cast<std::vector<Object*>*>(~hidden);
  EXPECT_EQ(reach, Reach::lost);
}

TEST(ReachSearchTest, WhatWasGivenBackHoldsNothing) {
  const Asked object;
  static std::vector<Object*>* dangling = nullptr;
  dangling = new std::vector<Object*>(1000, object.get());
  delete dangling;
  const Reach reach = reach_of(object);
  dangling = nullptr;
  EXPECT_EQ(reach, Reach::lost);
}

/// Leads to another object, or to itself.
void lead(const Asked& from, const Asked& to) { from.get()->words[3] = reinterpret_cast<std::uintptr_t>(to.get()); }

TEST(ReachSearchTest, ACycleIsToldAsOneAndSoIsWhatHangsOnIt) {
  const std::vector<Asked> objects(5);
  lead(objects[0], objects[1]);
  lead(objects[1], objects[2]);
  lead(objects[2], objects[0]);
  objects[2].get()->words[9] = reinterpret_cast<std::uintptr_t>(objects[3].get());
  lead(objects[4], objects[4]); // no other block: lost
  std::vector<std::uintptr_t> asked;
  for (const Asked& object : objects) {
    asked.push_back(object.complement());
  }
  constexpr Reach cycle = Reach::in_cycle;
  EXPECT_EQ(answer_of(asked).reach, (std::vector<Reach>{cycle, cycle, cycle, cycle, Reach::lost}));
  plain = objects[1].get();
  const ReachAnswer held = answer_of(asked);
  plain = nullptr;
  constexpr Reach reached = Reach::reached;
  EXPECT_EQ(held.reach, (std::vector<Reach>{reached, reached, reached, reached, Reach::lost}));
}

TEST(ReachSearchTest, AWeakReferenceClosesNoCycle) {
  const std::vector<Asked> objects(2);
  lead(objects[0], objects[1]);
  lead(objects[1], objects[0]);
  const std::uintptr_t weak = ~reinterpret_cast<std::uintptr_t>(&objects[1].get()->words[3]);
  const ReachAnswer answer = answer_of({objects[0].complement(), objects[1].complement()},
                                       {{}, {}, [&](const auto&, std::uintptr_t place, const auto&) { return place == ~weak; }});
  EXPECT_EQ(answer.reach, std::vector<Reach>(2, Reach::lost));
}

TEST(ReachSearchTest, SkippedBytesHoldNothing) {
  const Asked object;
  static std::vector<std::uintptr_t> small(100);
  static std::vector<std::uintptr_t> large(50'000);
  std::vector<tensorscope::report::AddressRange> skipped;
  for (auto* const bytes : {&small, &large}) {
    bytes->assign(bytes->size(), reinterpret_cast<std::uintptr_t>(object.get()));
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes->data());
    skipped.emplace_back(begin, begin + bytes->size() * sizeof(begin));
  }
  EXPECT_EQ(reach_of(object, {skipped, {}, {}}), Reach::lost);
  EXPECT_EQ(reach_of(object), Reach::reached);
  small.assign(small.size(), 0);
  large.assign(large.size(), 0);
}

TEST(ReachSearchTest, MemoryThatIsNoHeapHolds) {
  const Asked object;
  constexpr std::size_t kSize = 1 << 16;
  void* const mapped = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  static_cast<Object* volatile*>(mapped)[1000] = object.get();
  const Reach reach = reach_of(object);
  ::munmap(mapped, kSize);
  EXPECT_EQ(reach, Reach::reached);
}

TEST(ReachSearchTest, NothingIsConcludedOfWhatLiesInNoHeap) {
  static Object variable;
  const ReachAnswer answer = answer_of({~reinterpret_cast<std::uintptr_t>(&variable)});
  EXPECT_EQ(answer.reach.front(), Reach::unknown);
}

} // namespace
