// SPDX-License-Identifier: Apache-2.0
// Who holds an object, in words: found in variables of all kinds, through containers and objects on the heap. The objects
// here stand for tensors, whose classes LibTorch has.
#include "report/holders.h"
#include "unheld.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <any>
#include <atomic>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

using tensorscope::report::find_holders;
using tensorscope::report::HeldTensor;
using tensorscope::report::Holder;
using tensorscope::report::HolderKind;
using tensorscope::report::LeakHolders;
using tensorscope::report::Symbolizer;
using tensorscope::report::TorchClasses;

struct Counted {
  virtual ~Counted() = default;
};
/// Fills its block, where words of an earlier one would look like handles; of a size that little else has, so that no old
/// address is one of these.
struct Object : Counted {
  std::uintptr_t padding[500] = {};
};
static_assert(sizeof(Object) % 16 == 8);

/// An object that is asked about.
class Asked : public Unheld<Object> {
 public:
  HeldTensor question(std::uint64_t handles = 1) const { return {complement(), handles}; }
};

TorchClasses classes() {
  TorchClasses all;
  all.counted = typeid(Counted).name();
  for (std::string* const other : {&all.tensor, &all.autograd_meta, &all.node, &all.module, &all.optimizer_state}) {
    *other = "none";
  }
  return all;
}

LeakHolders holders_of(const HeldTensor& asked, bool stack_is_gone = true) {
  Symbolizer symbolizer;
  return find_holders({{asked}}, {{}, stack_is_gone}, classes(), symbolizer).front();
}

/// The only holder's words.
std::string text_of(const HeldTensor& asked) {
  const auto found = holders_of(asked);
  std::string all;
  for (const Holder& holder : found.holders) {
    all += (all.empty() ? "" : "; ") + holder.text;
  }
  return all;
}

struct Box {
  int rank = 0;
  Object* content = nullptr;
};
struct Layer {
  virtual ~Layer() = default;
  Object* cached = nullptr;
};
struct Dense : Layer {};

Object* volatile plain = nullptr;
std::unordered_map<std::string, std::vector<Object*>> cache;
std::unique_ptr<Box> box;
std::shared_ptr<Layer> layer;
std::list<Object*> in_list;
std::map<int, Object*> by_number;
std::any anything;
std::deque<std::function<void()>> tasks;
thread_local std::vector<Object*> of_thread;
volatile std::uintptr_t sink = 0;

void use(const void* pointer) { sink = ~reinterpret_cast<std::uintptr_t>(pointer); }

TEST(HoldersTest, NobodyHoldsWhatIsNowhere) {
  const Asked object;
  const auto found = holders_of(object.question());
  EXPECT_TRUE(found.holders.empty()) << found.holders[0].text;
  EXPECT_EQ(found.looked_at, 1);
  EXPECT_FALSE(found.stopped_early);
}

TEST(HoldersTest, AStaticIsNamedWithItsDeclaration) {
  const Asked object;
  plain = object.get();
  const auto found = holders_of(object.question());
  plain = nullptr;
  ASSERT_EQ(found.holders.size(), 1);
  EXPECT_EQ(found.holders[0].kind, HolderKind::static_variable);
  EXPECT_EQ(found.holders[0].count, 1);
  EXPECT_TRUE(found.holders[0].text.starts_with("static '(anonymous namespace)::plain' (holders_test.cpp:")) << found.holders[0].text;
  EXPECT_TRUE(found.holders[0].text.ends_with(") -> Tensor")) << found.holders[0].text;
}

TEST(HoldersTest, AMapOfVectors) {
  const Asked object;
  cache["one"].push_back(object.get());
  const std::string text = text_of(object.question());
  cache.clear();
  EXPECT_TRUE(text.starts_with("static '(anonymous namespace)::cache' (holders_test.cpp:")) << text;
  EXPECT_TRUE(text.ends_with(") -> std::unordered_map -> std::vector -> Tensor")) << text;
}

TEST(HoldersTest, AMemberOfAnObjectOnTheHeap) {
  const Asked object;
  box = std::make_unique<Box>(Box{3, object.get()});
  const std::string text = text_of(object.question());
  box.reset();
  EXPECT_TRUE(text.ends_with(" -> std::unique_ptr -> Box::content -> Tensor") ||
              text.ends_with(" -> std::unique_ptr -> (anonymous namespace)::Box::content -> Tensor"))
      << text;
}

TEST(HoldersTest, AnObjectOfADerivedClass) {
  const Asked object;
  layer = std::make_shared<Dense>();
  layer->cached = object.get();
  const std::string text = text_of(object.question());
  layer.reset();
  EXPECT_NE(text.find("::layer'"), std::string::npos) << text;
  EXPECT_NE(text.find("Layer::cached -> Tensor"), std::string::npos) << text;
}

TEST(HoldersTest, ElementsOfAListAreFoundInTheMiddle) {
  std::vector<Asked> objects(300);
  std::vector<HeldTensor> asked;
  for (const Asked& object : objects) {
    in_list.push_back(object.get());
    asked.push_back(object.question());
  }
  Symbolizer symbolizer;
  const auto found = find_holders({asked}, {}, classes(), symbolizer).front();
  in_list.clear();
  ASSERT_EQ(found.holders.size(), 1) << found.holders[0].text << " and " << found.holders[1].text;
  EXPECT_EQ(found.holders[0].count, 300);
  EXPECT_TRUE(found.holders[0].text.ends_with(" -> std::list -> Tensor")) << found.holders[0].text;
}

TEST(HoldersTest, AMapsNodes) {
  const Asked object;
  for (int i = 0; i < 50; ++i) {
    by_number[i] = i == 31 ? object.get() : nullptr;
  }
  const std::string text = text_of(object.question());
  by_number.clear();
  EXPECT_TRUE(text.ends_with(" -> std::map -> Tensor")) << text;
}

TEST(HoldersTest, AnyIsNamed) {
  const Asked object;
  anything = std::vector<Object*>{object.get()};
  const std::string text = text_of(object.question());
  anything = 0; // reset() would leave the address
  EXPECT_NE(text.find("::anything' (holders_test.cpp:"), std::string::npos) << text;
  EXPECT_NE(text.find("-> std::any -> "), std::string::npos) << text;
}

__attribute__((noinline)) void submit(Object* object) {
  // Too large for std::function itself.
  tasks.emplace_back([object, a = std::string("a"), b = 1] { use(object + b + a.size()); });
}

TEST(HoldersTest, ALambdaInAQueueIsNamedByItsFunction) {
  const Asked object;
  submit(object.get());
  const std::string text = text_of(object.question());
  tasks.clear();
  EXPECT_NE(text.find("-> std::deque -> std::function -> lambda in (anonymous namespace)::submit (holders_test.cpp:"),
            std::string::npos)
      << text;
}

std::vector<Object*>& history() {
  static std::vector<Object*> all;
  return all;
}

TEST(HoldersTest, AFunctionsStaticIsNamedByItsFunction) {
  const Asked object;
  history().push_back(object.get());
  const std::string text = text_of(object.question());
  history().clear();
  history().shrink_to_fit();
  EXPECT_TRUE(text.starts_with("static 'all' of (anonymous namespace)::history() (holders_test.cpp:")) << text;
}

TEST(HoldersTest, AThreadLocalVariable) {
  const Asked object;
  of_thread.push_back(object.get());
  const auto found = holders_of(object.question());
  of_thread.clear();
  of_thread.shrink_to_fit();
  ASSERT_EQ(found.holders.size(), 1);
  EXPECT_EQ(found.holders[0].kind, HolderKind::thread_local_variable);
  EXPECT_TRUE(found.holders[0].text.starts_with("thread_local '(anonymous namespace)::of_thread' (holders_test.cpp:"))
      << found.holders[0].text;
}

__attribute__((noinline)) LeakHolders ask_with_variable(const Asked& object) {
  Object* volatile local = object.get();
  auto found = holders_of(object.question(16), false);
  local = local == nullptr ? local : nullptr;
  return found;
}

TEST(HoldersTest, AVariableOfAFunctionThatRuns) {
  const Asked object;
  const auto found = ask_with_variable(object);
  ASSERT_GE(found.holders.size(), 1);
  // Here the search's own functions are the program's, too.
  EXPECT_TRUE(std::any_of(found.holders.begin(), found.holders.end(), [](const Holder& holder) {
    return holder.kind == HolderKind::stack &&
        holder.text.find("of (anonymous namespace)::ask_with_variable()") != std::string::npos;
  })) << found.holders[0].text;
}

TEST(HoldersTest, TheCallersStackIsNotAskedWhenItIsGone) {
  const Asked object;
  Object* volatile local = object.get();
  const auto found = holders_of(object.question());
  local = local == nullptr ? local : nullptr;
  EXPECT_TRUE(found.holders.empty()) << found.holders[0].text;
}

TEST(HoldersTest, AnotherThreadsStack) {
  const Asked object;
  std::atomic<bool> ready{false};
  std::atomic<bool> done{false};
  std::thread other([&] {
    Object* volatile local = object.get();
    ready = true;
    ready.notify_all();
    done.wait(false);
    local = local == nullptr ? local : nullptr;
  });
  ready.wait(false);
  std::this_thread::sleep_for(std::chrono::milliseconds(50)); // until it waits
  const auto found = holders_of(object.question());
  done = true;
  done.notify_all();
  other.join();
  ASSERT_GE(found.holders.size(), 1);
  EXPECT_EQ(found.holders[0].kind, HolderKind::stack);
  EXPECT_TRUE(found.holders[0].text.starts_with("the stack of thread ")) << found.holders[0].text;
}

TEST(HoldersTest, TheStackOfARunningThreadMayHoldWhatIsLeftOver) {
  const Asked object;
  std::atomic<bool> ready{false};
  std::atomic<bool> done{false};
  std::thread other([&] {
    Object* volatile local = object.get();
    ready = true;
    while (!done) {
    }
    local = local == nullptr ? local : nullptr;
  });
  while (!ready) {
  }
  const auto found = holders_of(object.question());
  done = true;
  other.join();
  ASSERT_GE(found.holders.size(), 1);
  EXPECT_EQ(found.holders[0].kind, HolderKind::stack);
  EXPECT_TRUE(found.holders[0].text.ends_with(" -> Tensor")) << found.holders[0].text;
}

struct Cyclic : Counted {
  Counted* next = nullptr;
};

TEST(HoldersTest, ACycleIsToldAsOne) {
  auto* one = new Cyclic;
  auto* other = new Cyclic;
  one->next = other;
  other->next = one;
  const std::uintptr_t hidden = ~reinterpret_cast<std::uintptr_t>(one);
  const std::uintptr_t hidden_other = ~reinterpret_cast<std::uintptr_t>(other);
  one = other = nullptr;
  const auto found = holders_of({hidden, 1});
  delete reinterpret_cast<Cyclic*>(~hidden);
  delete reinterpret_cast<Cyclic*>(~hidden_other);
  ASSERT_EQ(found.holders.size(), 1);
  EXPECT_TRUE(found.holders[0].text.starts_with("a cycle -> ")) << found.holders[0].text;
}

TEST(HoldersTest, WhatOnlyALostBlockHolds) {
  const Asked object;
  auto* lost = new std::vector<std::uintptr_t>(12);
  (*lost)[5] = reinterpret_cast<std::uintptr_t>(object.get());
  use(lost);
  const std::uintptr_t hidden = ~reinterpret_cast<std::uintptr_t>(lost);
  lost = nullptr;
  const auto found = holders_of(object.question());
  delete reinterpret_cast<std::vector<std::uintptr_t>*>(~hidden);
  ASSERT_EQ(found.holders.size(), 1);
  EXPECT_EQ(found.holders[0].kind, HolderKind::heap);
  EXPECT_TRUE(found.holders[0].text.starts_with("a heap block of ")) << found.holders[0].text;
  EXPECT_NE(found.holders[0].text.find("that nothing leads to"), std::string::npos) << found.holders[0].text;
}

TEST(HoldersTest, WhatWasGivenBackHoldsNothing) {
  const Asked object;
  auto block = std::make_unique<std::vector<Object*>>(100, object.get());
  block.reset();
  const auto found = holders_of(object.question());
  EXPECT_TRUE(found.holders.empty()) << found.holders[0].text;
}

TEST(HoldersTest, SkippedBytesHoldNothing) {
  const Asked object;
  std::vector<std::uintptr_t> bytes(100, reinterpret_cast<std::uintptr_t>(object.get()));
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  Symbolizer symbolizer;
  const auto found =
      find_holders({{object.question()}}, {{{begin, begin + bytes.size() * sizeof(bytes[0])}}, true}, classes(), symbolizer).front();
  EXPECT_TRUE(found.holders.empty()) << found.holders[0].text;
}

} // namespace
