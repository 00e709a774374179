// SPDX-License-Identifier: Apache-2.0
// What a loop makes in one iteration at most; scopes in a wrapper.
// RUN: %check_tidy %s tensorscope-unscoped-loop %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

void use(const torch::Tensor &x);
bool flip();

//===- The iteration that makes it is the last one ------------------------===//

void thenBreak(const torch::Tensor &x, int n) {
  for (int i = 0; i < n; ++i)
    if (flip()) {
      use(x * i);
      break;
    }
}
float thenReturn(const torch::Tensor &x, int n) {
  for (int i = 0; i < n; ++i)
    if (flip())
      return (x * i).sum().item<float>();
  return 0;
}
void thenThrow(const torch::Tensor &x, int n) {
  for (int i = 0; i < n; ++i)
    if (flip()) {
      use(x * i);
      throw std::runtime_error("bad");
    }
}
void thenTheNextOfAnOuterLoop(const torch::Tensor &x, int n) {
  for (int i = 0; i < n; ++i) {
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    for (int j = 0; j < n; ++j)
      if (flip()) {
        use(x * j);
        break;
      }
  }
}
void thenContinue(const torch::Tensor &x, int n) {
  for (int i = 0; i < n; ++i) {
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    if (flip()) {
      use(x * i);
      continue;
    }
  }
}

//===- Made when it is first asked for ------------------------------------===//

void madeOnce(const torch::Tensor &x, int n) {
  torch::Tensor mask;
  for (int i = 0; i < n; ++i) {
    if (!mask.defined())
      mask = (x * 2).abs();
    use(mask);
  }
}
void madeAnew(const torch::Tensor &x, int n) {
  torch::Tensor last;
  for (int i = 0; i < n; ++i) {
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    if (flip())
      last = x * i;
    use(last);
  }
}
void onceAndEachTime(const torch::Tensor &x, int n) {
  torch::Tensor mask;
  for (int i = 0; i < n; ++i) {
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    if (!mask.defined())
      mask = x * 2;
    use(x * mask);
  }
}

//===- A scope in a wrapper -----------------------------------------------===//

void inAnOptional(const torch::Tensor &x, int n) {
  for (int i = 0; i < n; ++i) {
    std::optional<tensorscope::Scope> scope;
    scope.emplace();
    use(x * i);
    scope.reset();
  }
}
void inAPointer(const torch::Tensor &x, int n) {
  for (int i = 0; i < n; ++i) {
    auto scope = std::make_unique<tensorscope::Scope>();
    use(x * i);
  }
}
