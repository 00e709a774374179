// SPDX-License-Identifier: Apache-2.0
// Conditions that can't both hold: denials, integers against constants, cases.
// RUN: %check_tidy %s tensorscope-use-after-release %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <vector>

void use(const torch::Tensor &x);
[[noreturn]] void fail();
#define CHECK_THAT(condition)                                                  \
  if (__builtin_expect(static_cast<bool>(!(condition)), 0))                    \
  fail()

enum class Mode { Train, Test, Idle };

void deniedComparison(const torch::Tensor &x, int n) {
  auto y = x * 2;
  if (n > 3)
    tensorscope::release(y);
  use(x);
  if (n <= 3)
    use(y);
}
void constantOnTheLeft(const torch::Tensor &x, int n) {
  auto y = x * 2;
  if (n != 3)
    tensorscope::release(y);
  if (3 == n)
    use(y);
}
void otherEnumerator(const torch::Tensor &x, Mode mode) {
  auto y = x * 2;
  if (mode == Mode::Train)
    tensorscope::release(y);
  if (mode == Mode::Test)
    use(y);
}
void apartByTheirBounds(const torch::Tensor &x, int n) {
  auto y = x * 2;
  if (n >= 8)
    tensorscope::release(y);
  if (n < 5)
    use(y);
}
// False negative: both can hold, but who asks for what a release depended on is
// believed to know.
void boundsThatMeet(const torch::Tensor &x, int n) {
  auto y = x * 2;
  if (n >= 3)
    tensorscope::release(y);
  if (n < 5)
    use(y);
}
void checkedMacro(const torch::Tensor &x, bool done) {
  auto y = x * 2;
  if (done)
    tensorscope::release(y);
  CHECK_THAT(!done);
  use(y);
}
void checkedTheOtherWay(const torch::Tensor &x, bool done) {
  auto y = x * 2;
  if (done)
    tensorscope::release(y);
  CHECK_THAT(done);
  use(y);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'y' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
float sameSwitchTwice(const torch::Tensor &x, int mode) {
  auto y = x * 2;
  switch (mode) {
  case 0:
    tensorscope::release(y);
    break;
  default:
    break;
  }
  switch (mode) {
  case 0:
    return 0;
  default:
    return y.sum().item<float>();
  }
}
float switchThenIf(const torch::Tensor &x, Mode mode) {
  auto y = x * 2;
  switch (mode) {
  case Mode::Train:
  case Mode::Test:
    tensorscope::release(y);
    break;
  case Mode::Idle:
    break;
  }
  if (mode == Mode::Idle)
    return y.sum().item<float>();
  return 0;
}
float switchThenTheSame(const torch::Tensor &x, Mode mode) {
  auto y = x * 2;
  switch (mode) {
  case Mode::Train:
    tensorscope::release(y);
    break;
  default:
    break;
  }
  if (mode == Mode::Train)
    return y.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: use of 'y' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
  return 0;
}
void changedInBetween(const torch::Tensor &x, int n) {
  auto y = x * 2;
  if (n > 3)
    tensorscope::release(y);
  n = static_cast<int>(x.numel());
  if (n <= 3)
    use(x);
}
// A branch knows of a release by what was set with it, not by the name of a
// function that it calls.
struct Entries {
  std::vector<torch::Tensor> entries;
  std::vector<int> order;
  bool isEmpty() const { return order.empty(); }
  float asksAnother() {
    std::vector<torch::Tensor> held;
    for (const auto &entry : entries)
      held.push_back(entry);
    tensorscope::release(entries);
    order.clear();
    if (held.empty())
      return 0;
    return torch::stack(held).sum().item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'held' after it was released on some path: its memory is gone for every alias and view [tensorscope-use-after-release]
  }
  float asksItself() {
    std::vector<torch::Tensor> held;
    for (const auto &entry : entries)
      held.push_back(entry);
    tensorscope::release(entries);
    order.clear();
    if (isEmpty())
      return 0;
    return torch::stack(held).sum().item<float>();
  }
};

//===- A variable that stands for a condition -----------------------------===//

void standsForAComparison(const torch::Tensor &x, int n) {
  auto y = x * 2;
  const bool big = n > 3;
  if (big)
    tensorscope::release(y);
  if (n > 3)
    return;
  use(y);
}
void askedInWordsFirst(const torch::Tensor &x, int n) {
  auto y = x * 2;
  const bool big = n > 3;
  if (n > 3)
    tensorscope::release(y);
  if (!big)
    use(y);
}
void standsForADenial(const torch::Tensor &x, int n) {
  auto y = x * 2;
  const bool small = !(n > 3);
  if (!small)
    tensorscope::release(y);
  if (n >= 4)
    return;
  use(y);
}
void standsForBoth(const torch::Tensor &x, int n, bool k) {
  auto y = x * 2;
  const bool both = n > 3 && k;
  if (both)
    tensorscope::release(y);
  if (n > 3 && k)
    return;
  use(y);
}
void askedOneByOne(const torch::Tensor &x, int n, bool k) {
  auto y = x * 2;
  const bool both = n > 3 && k;
  if (both)
    tensorscope::release(y);
  if (!k)
    use(y);
}
void standsForEither(const torch::Tensor &x, int n, bool k) {
  auto y = x * 2;
  bool either;
  either = n > 3 || k;
  if (either)
    tensorscope::release(y);
  if (n > 3 || k)
    return;
  use(y);
}
void standsForAnother(const torch::Tensor &x, int n) {
  auto y = x * 2;
  const bool big = n > 3;
  const bool small = !big;
  if (big)
    tensorscope::release(y);
  if (small)
    use(y);
}
void standsThoughTheNumberChanges(const torch::Tensor &x, int n) {
  auto y = x * 2;
  const bool big = n > 3;
  if (n > 3)
    tensorscope::release(y);
  n = 0;
  if (big)
    return;
  use(y);
}
void turnedRound(const torch::Tensor &x, bool done) {
  auto y = x * 2;
  if (done)
    tensorscope::release(y);
  done = !done;
  if (done)
    use(y);
}
void turnedRoundTwice(const torch::Tensor &x, bool done) {
  auto y = x * 2;
  if (done)
    tensorscope::release(y);
  done = !done;
  done = !done;
  if (done)
    use(y);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: use of 'y' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void standsForAlive(const torch::Tensor &x, bool k) {
  auto y = x * 2;
  if (k)
    tensorscope::release(y);
  const bool isThere = tensorscope::alive(y);
  if (isThere)
    use(y);
}
// What the function says can't be known, but it was asked about the same.
bool isBig(int n);
void standsForACall(const torch::Tensor &x, int n) {
  auto y = x * 2;
  const bool big = isBig(n);
  if (big)
    tensorscope::release(y);
  if (isBig(n))
    return;
  use(y);
}
void theOtherWay(const torch::Tensor &x, int n) {
  auto y = x * 2;
  const bool big = n > 3;
  if (big)
    tensorscope::release(y);
  if (n <= 3)
    return;
  use(y);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'y' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// The number that is asked about is not the one that the variable stands for.
void changedInBetween(const torch::Tensor &x, int n, int m) {
  auto y = x * 2;
  const bool big = n > 3;
  n = m;
  if (big)
    tensorscope::release(y);
  if (big)
    use(y);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: use of 'y' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
