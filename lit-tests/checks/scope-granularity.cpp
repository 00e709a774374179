// SPDX-License-Identifier: Apache-2.0
// Scopes around single operators, and scopes around whole loops.
// RUN: %check_tidy %s tensorscope-scope-granularity %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <vector>

using torch::Tensor;
void use(float value);

//===- One scope around a whole loop ----------------------------------------===//

void aroundALoop(const std::vector<Tensor> &xs) {
  tensorscope::with_torch([&] {
    for (const auto &x : xs)
      // CHECK-NOTES: :[[@LINE-1]]:5: warning: one scope is open around this whole loop: what its iterations make is freed only when all of them are over; open one scope for each iteration [tensorscope-scope-granularity]
      // CHECK-NOTES: :[[@LINE-3]]:3: note: scope begins here
      // CHECK-NOTES: :[[@LINE+1]]:14: note: created here
      use((x * 2).item<float>());
  });
}
void byAGuard(const Tensor &x, int n) {
  tensorscope::Scope scope;
  for (int i = 0; i < n; ++i) {
    // CHECK-NOTES: :[[@LINE-1]]:3: warning: one scope is open around this whole loop: {{.*}} [tensorscope-scope-granularity]
    // CHECK-NOTES: :[[@LINE-3]]:3: note: scope begins here
    // CHECK-NOTES: :[[@LINE+1]]:16: note: created here
    auto y = x * x;
    use(y.sum().item<float>());
  }
}

// A scope for each iteration, also in a scope around the loop.
void eachIteration(const std::vector<Tensor> &xs) {
  tensorscope::Scope all;
  for (const auto &x : xs)
    use(tensorscope::with_torch([&] { return (x * 2).sum().item<float>(); }));
}
// A step of a loop outside, with a loop in it.
void stepWithALoop(const std::vector<Tensor> &xs, int epochs) {
  for (int epoch = 0; epoch < epochs; ++epoch)
    tensorscope::with_torch([&] {
      for (const auto &x : xs)
        use((x * 2).item<float>());
      return 0;
    });
}
// What an iteration makes is needed by the next one, or afterwards.
void carried(const std::vector<Tensor> &xs, Tensor state) {
  tensorscope::with_torch([&] {
    Tensor h = state * 1;
    for (const auto &x : xs)
      h = (h + x).tanh();
    use(h.sum().item<float>());
    std::vector<Tensor> all;
    for (const auto &x : xs)
      all.push_back(x * 2);
    use(torch::stack(all).sum().item<float>());
    Tensor total = torch::zeros({1});
    for (const auto &x : xs)
      total = total + x * 2;
    use(total.item<float>());
    return 0;
  });
}
void aFewTimes(const Tensor &x) {
  tensorscope::with_torch([&] {
    for (int i = 0; i < 3; ++i)
      use((x * i).item<float>());
    return 0;
  });
}
void makesNothing(std::vector<Tensor> &xs) {
  tensorscope::with_torch([&] {
    for (auto &x : xs)
      x.mul_(2);
    return 0;
  });
}

//===- Scopes around single operators ---------------------------------------===//

void oneOperatorEach(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    // CHECK-NOTES: :[[@LINE+2]]:9: warning: 3 scopes in one iteration are each around one operator: opening a scope costs more than it frees; open one scope for the iteration [tensorscope-scope-granularity]
    // CHECK-NOTES: :[[@LINE-2]]:3: note: the loop begins here
    use(tensorscope::with_torch([&] { return (x * 2).item<float>(); }));
    use(tensorscope::with_torch([&] { return (x + 2).item<float>(); }));
    use(tensorscope::with_torch([&] { return (x - 2).item<float>(); }));
  }
}
void oneForTheStep(const std::vector<Tensor> &xs) {
  for (const auto &x : xs)
    tensorscope::with_torch([&] {
      use((x * 2).item<float>());
      use((x + 2).item<float>());
      use((x - 2).item<float>());
      return 0;
    });
}
void twoPhases(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    use(tensorscope::with_torch([&] { return (x * 2).item<float>(); }));
    use(tensorscope::with_torch([&] { return (x + 2).item<float>(); }));
  }
}
