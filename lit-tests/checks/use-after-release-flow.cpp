// SPDX-License-Identifier: Apache-2.0
// Releases in callees, and on some of the paths through a function.
// RUN: %check_tidy %s tensorscope-use-after-release %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <optional>
#include <utility>
#include <vector>

torch::Tensor model(const torch::Tensor &x);
bool flip();

//===- Calls --------------------------------------------------------------===//

static void consume(torch::Tensor t) { tensorscope::release(t); }
static void consumeIndirectly(const torch::Tensor &t) { consume(t); }
static void consumeAll(const std::vector<torch::Tensor> &list) {
  for (const auto &t : list)
    tensorscope::release(t);
}
void throughACallee(const torch::Tensor &input) {
  auto x = input * 2;
  consume(x);
  (void)x.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void throughTwoCallees(const torch::Tensor &input) {
  auto x = input * 2;
  consumeIndirectly(x);
  (void)x.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// False negative: the loop of the callee may have run not once.
void throughALoopInACallee(std::vector<torch::Tensor> list) {
  consumeAll(list);
  (void)list[0].sum();
}
struct State {
  torch::Tensor hidden;
  void reset() { tensorscope::release(hidden); }
  void refill(const torch::Tensor &x) { hidden = x * 2; }
  torch::Tensor step(const torch::Tensor &x) { return hidden + x; }
};
void throughAMethod(const torch::Tensor &input) {
  State s{input * 3};
  s.reset();
  (void)s.hidden.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: use of 's.hidden' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void usedInAMethod(const torch::Tensor &input) {
  State s{input * 3};
  s.reset();
  (void)s.step(input);
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: use of 's.hidden' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void refilledInBetween(const torch::Tensor &input) {
  State s{input * 3};
  s.reset();
  s.refill(input);
  (void)s.step(input);
}
void throughALambda(const torch::Tensor &input) {
  auto x = input * 2;
  auto finish = [&] { tensorscope::release(x); };
  finish();
  (void)x.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void lambdaNotCalledYet(const torch::Tensor &input) {
  auto x = input * 2;
  auto finish = [&] { tensorscope::release(x); };
  (void)x.sum();
  finish();
}
// Sent where nothing is known of it, it may have been given a new tensor.
void refill(torch::Tensor &x);
void unknownCallee() {
  auto x = torch::ones({3});
  tensorscope::release(x);
  refill(x);
  (void)x.sum();
}

//===- Destructors --------------------------------------------------------===//

struct Releaser {
  explicit Releaser(torch::Tensor tensor) : tensor(std::move(tensor)) {}
  Releaser(Releaser &&) = default;
  ~Releaser() { tensorscope::release(tensor); }
  torch::Tensor tensor;
};
struct ReleasesOnDemand {
  torch::Tensor tensor;
  bool armed = false;
  ~ReleasesOnDemand() {
    if (armed)
      tensorscope::release(tensor);
  }
};
float afterTheDestructor() {
  auto x = torch::ones({3});
  {
    Releaser releaser(x);
    (void)x.sum();
  }
  return x.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
float whetherItReleasesIsUnknown() {
  auto x = torch::ones({3});
  { ReleasesOnDemand maybe{x}; }
  return x.sum().item<float>();
}
// Whoever it was moved to has the tensor.
float movedOnBefore(std::vector<Releaser> &kept) {
  auto x = torch::ones({3});
  {
    Releaser releaser(x);
    kept.push_back(std::move(releaser));
  }
  auto y = torch::ones({5});
  {
    Releaser first(y);
    static Releaser second(std::move(first));
  }
  return (x + y).sum().item<float>();
}
// What is returned by name is not destroyed where it is made.
struct Buffer {
  torch::Tensor tensor;
  ~Buffer() { tensorscope::release(tensor); }
};
float returnedByName() {
  auto make = [] {
    Buffer made{torch::ones({3})};
    (void)made.tensor.sum();
    return made;
  };
  auto buffer = make();
  return buffer.tensor.sum().item<float>();
}
float copiedOut() {
  auto make = [] {
    Buffer made{torch::ones({3})};
    return made.tensor;
  };
  auto x = make();
  return x.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// A handle that was moved from is empty: the destructor has nothing to release.
float movedHandle() {
  auto x = torch::ones({3});
  torch::Tensor y;
  {
    Releaser releaser(x);
    y = std::move(releaser.tensor);
  }
  return y.sum().item<float>();
}

//===- Changing places ----------------------------------------------------===//

float swapped() {
  auto a = torch::ones({3}), b = torch::ones({5});
  tensorscope::release(a);
  std::swap(a, b);
  const float sum = a.sum().item<float>();
  return sum + b.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: use of 'b' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
float exchanged(const torch::Tensor &x) {
  auto a = x * 2;
  auto old = std::exchange(a, x * 3);
  tensorscope::release(old);
  const float sum = a.sum().item<float>();
  return sum + old.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: use of 'old' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}

//===- Paths --------------------------------------------------------------===//

void onOnePath(bool done) {
  auto x = torch::ones({4});
  if (done)
    tensorscope::release(x);
  (void)x.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: use of 'x' after it was released on some path: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void inALoop(torch::Tensor x) {
  for (int i = 0; i < 3; ++i) {
    (void)x.sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: use of 'x' after it was released on some path: its memory is gone for every alias and view [tensorscope-use-after-release]
    tensorscope::release(x);
  }
}
// False negative: the way through an exception is not followed.
void inACatch(torch::Tensor x) {
  try {
    (void)model(x);
  } catch (const c10::Error &) {
    tensorscope::release(x);
  }
  (void)x.sum();
}
void otherBranch(bool done) {
  auto x = torch::ones({4});
  if (done) {
    tensorscope::release(x);
    return;
  }
  (void)x.sum();
}
void elseBranch(bool done) {
  auto x = torch::ones({4});
  if (done)
    tensorscope::release(x);
  else
    (void)x.sum();
}
void sameCondition(bool done) {
  auto x = torch::ones({4});
  if (done)
    tensorscope::release(x);
  if (!done)
    (void)x.sum();
}
// A branch that asks for something that was set with the release may know of it.
float askedByAnEnum(int mode) {
  enum class State { Fresh, Freed } state = State::Fresh;
  auto x = torch::ones({4});
  if (mode > 7) {
    tensorscope::release(x);
    state = State::Freed;
  }
  if (state == State::Freed)
    return 0;
  return x.sum().item<float>();
}
float askedByAnOptional(int mode) {
  std::optional<int> reason;
  auto x = torch::ones({4});
  if (mode > 7) {
    tensorscope::release(x);
    reason = mode;
  }
  return reason ? 0 : x.sum().item<float>();
}
struct Slot {
  int state = 0;
  float read(int mode) {
    auto x = torch::ones({4});
    if (mode > 7) {
      tensorscope::release(x);
      state = 3;
    }
    if (state == 3)
      return 0;
    return x.sum().item<float>();
  }
};
// One that asks what the release depended on knows, too, in whatever words.
float askedTheOtherWayRound(int mode) {
  auto x = torch::ones({4});
  if (mode <= 7)
    tensorscope::release(x);
  if (mode > 7)
    return x.sum().item<float>();
  return 0;
}
float askedForMore(int mode) {
  auto x = torch::ones({4});
  if (mode == 3)
    tensorscope::release(x);
  if (mode < 5)
    return 0;
  return x.sum().item<float>();
}
struct Failures {
  int count = 0;
  bool any() const { return count != 0; }
};
float askedOfAnObject(const Failures &failures) {
  auto x = torch::ones({4});
  if (failures.any())
    tensorscope::release(x);
  return failures.any() ? 0 : x.sum().item<float>();
}
float askedByASwitch(int mode) {
  enum class Way { Kept, Dropped } way = Way::Kept;
  auto x = torch::ones({4});
  if (mode > 7) {
    tensorscope::release(x);
    way = Way::Dropped;
  }
  switch (way) {
  case Way::Kept:
    return x.sum().item<float>();
  case Way::Dropped:
    return 0;
  }
}
float counted(int mode) {
  int dropped = 0;
  auto x = torch::ones({4});
  if (mode > 7) {
    tensorscope::release(x);
    ++dropped;
  }
  return dropped > 0 ? 0 : x.sum().item<float>();
}
float toldTheCaller(int mode, bool *dropped) {
  auto x = torch::ones({4});
  if (mode > 7) {
    tensorscope::release(x);
    *dropped = true;
  }
  return *dropped ? 0 : x.sum().item<float>();
}
float inTheLastIteration(int count) {
  float sum = 0;
  auto x = torch::ones({4});
  for (int i = 0; i < count; ++i) {
    sum += x.sum().item<float>();
    if (i == count - 1)
      tensorscope::release(x);
  }
  return sum;
}
float inAScopeOnTheOtherPath(int mode, const torch::Tensor &y) {
  torch::Tensor x = y;
  if (mode <= 7) {
    tensorscope::Scope scope;
    x = y * 3;
  }
  return mode > 7 ? x.sum().item<float>() : 0;
}
// A loop's own condition does not.
float releasedInEachIteration(int count) {
  float sum = 0;
  auto x = torch::ones({4});
  for (int i = 0; i < count; ++i) {
    sum += x.sum().item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: use of 'x' after it was released on some path: its memory is gone for every alias and view [tensorscope-use-after-release]
    tensorscope::release(x);
  }
  return sum;
}
// One that asks for something else does not.
float askedForSomethingElse(int mode, int verbosity) {
  auto x = torch::ones({4});
  int level = verbosity;
  if (mode > 7)
    tensorscope::release(x);
  if (level == 3)
    return 0;
  return x.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'x' after it was released on some path: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// Where each path releases it, no branch helps.
float releasedAnyway(int mode) {
  int state = 0;
  auto x = torch::ones({4});
  tensorscope::release(x);
  state = mode;
  if (state == 3)
    return 0;
  return x.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void throwsAfterwards(bool bad) {
  auto x = torch::ones({4});
  if (bad) {
    tensorscope::release(x);
    throw 13;
  }
  (void)x.sum();
}
void leavesTheLoop(torch::Tensor x) {
  for (int i = 0; i < 3; ++i) {
    (void)x.sum();
    if (flip()) {
      tensorscope::release(x);
      break;
    }
  }
}
void freshEachTime() {
  for (int i = 0; i < 3; ++i) {
    auto x = torch::ones({4}) * i;
    (void)x.sum();
    tensorscope::release(x);
  }
}
