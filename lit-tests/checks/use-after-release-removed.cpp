// SPDX-License-Identifier: Apache-2.0
// What is released and then taken out of its container; virtual functions that a
// derived class may override.
// RUN: %check_tidy %s tensorscope-use-after-release %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <deque>
#include <vector>

void use(const torch::Tensor &x);

void oldestLeavesTheWindow(const torch::Tensor &x, int n) {
  std::deque<torch::Tensor> window;
  for (int i = 0; i < n; ++i) {
    window.push_back(tensorscope::with_torch([&] { return x * i; }));
    if (window.size() > 4) {
      tensorscope::release(window.front());
      window.pop_front();
    }
    use(window.back());
  }
  for (auto &t : window)
    use(t);
}
void stillInTheList(const torch::Tensor &x) {
  std::vector<torch::Tensor> list;
  list.push_back(x * 2);
  tensorscope::release(list.back());
  use(list[0]);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'list[...]' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void releasedAfterARemoval(const torch::Tensor &x) {
  std::vector<torch::Tensor> list;
  auto y = x * 2;
  list.push_back(y);
  list.pop_back();
  tensorscope::release(y);
  use(y);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'y' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}

struct Stage {
  virtual ~Stage() = default;
  virtual void finish(torch::Tensor &t) { tensorscope::release(t); }
};
struct Keeping : Stage {
  void finish(torch::Tensor &t) override { t = t.clone(); }
};
void perhapsOfADerivedClass(Stage *stage, const torch::Tensor &x) {
  auto y = x * 2;
  stage->finish(y);
  use(y);
}
void ofThisVeryClass(const torch::Tensor &x) {
  Stage stage;
  auto y = x * 2;
  stage.finish(y);
  use(y);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'y' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}

//===- Elements that are taken out ----------------------------------------===//

// What is taken out of a list after its release is not what is left in it.
void drained(const torch::Tensor &x, int count) {
  std::vector<torch::Tensor> list;
  for (int i = 0; i < count; ++i)
    list.push_back(x * i);
  while (!list.empty()) {
    (void)list.back().sum();
    tensorscope::release(list.back());
    list.pop_back();
  }
}
void oldestDropped(const torch::Tensor &x, int count) {
  std::vector<torch::Tensor> latest;
  for (int i = 0; i < count; ++i) {
    latest.push_back(x * i);
    if (latest.size() > 3) {
      tensorscope::release(latest.front());
      latest.erase(latest.begin());
    }
    (void)latest.back().sum();
  }
}
// Growing takes nothing out, and neither does sorting.
void releasedAndGrown(const torch::Tensor &x) {
  std::vector<torch::Tensor> list{x * 3};
  tensorscope::release(list);
  list.reserve(17);
  (void)list.back().sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: use of 'list[...]' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}

//===- Overrides ----------------------------------------------------------===//

// Which function runs is known where the class of the object is.
struct Policy {
  virtual ~Policy() = default;
  virtual void finish(const torch::Tensor &t) { tensorscope::release(t); }
  void run(const torch::Tensor &input) {
    auto x = input * 2;
    finish(x);
    (void)x.sum();
  }
};
struct LastPolicy final : Policy {
  void finish(const torch::Tensor &t) override { tensorscope::release(t); }
  void runLast(const torch::Tensor &input) {
    auto x = input * 2;
    finish(x);
    (void)x.sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
  }
};
void byReference(Policy &policy, const torch::Tensor &input) {
  auto x = input * 2;
  policy.finish(x);
  (void)x.sum();
}
void byPointer(Policy *policy, const torch::Tensor &input) {
  auto x = input * 2;
  policy->finish(x);
  (void)x.sum();
}
void byValue(const torch::Tensor &input) {
  Policy policy;
  auto x = input * 2;
  policy.finish(x);
  (void)x.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void byName(Policy &policy, const torch::Tensor &input) {
  auto x = input * 2;
  policy.Policy::finish(x);
  (void)x.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
