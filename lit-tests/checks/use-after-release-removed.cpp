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
