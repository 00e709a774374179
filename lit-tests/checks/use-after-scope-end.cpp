// SPDX-License-Identifier: Apache-2.0
// Uses of a tensor after the scope or the session that owned it ended.
// RUN: %check_tidy %s tensorscope-use-after-release %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <utility>
#include <vector>

torch::Tensor model(const torch::Tensor &x);
void log_tensor(const torch::Tensor &x);

//===- Scope objects ------------------------------------------------------===//

float afterTheBlock() {
  torch::Tensor x;
  {
    tensorscope::Scope scope;
    x = torch::ones({3});
  }
  return x.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'x' after its scope ended: its memory is gone; return it from the scope or 'retain' it [tensorscope-use-after-release]
}
float viewAfterTheBlock() {
  torch::Tensor row;
  {
    tensorscope::Scope scope;
    auto x = torch::ones({3, 5});
    row = x[1];
  }
  return row.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: use of 'row' after its scope ended: its memory is gone; return it from the scope or 'retain' it [tensorscope-use-after-release]
}
float elementAfterTheBlock() {
  std::vector<torch::Tensor> parts;
  {
    tensorscope::Scope scope;
    for (int i = 0; i < 3; ++i)
      parts.push_back(torch::ones({3}) * i);
  }
  return parts[1].sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: use of 'parts[...]' after its scope ended on some path: its memory is gone; return it from the scope or 'retain' it [tensorscope-use-after-release]
}
float retainedByTheScope() {
  torch::Tensor x;
  {
    tensorscope::Scope scope;
    x = scope.retain(torch::ones({3}));
  }
  return x.sum().item<float>();
}
float retainedByTheFunction() {
  torch::Tensor x;
  {
    tensorscope::Scope scope;
    x = torch::ones({3});
    tensorscope::retain(x);
  }
  return x.sum().item<float>();
}
float madeOutside(const torch::Tensor &input) {
  torch::Tensor x;
  {
    tensorscope::Scope scope;
    x = input;
  }
  return x.sum().item<float>();
}
float usedInside() {
  tensorscope::Scope scope;
  auto x = torch::ones({3});
  return x.sum().item<float>();
}
float assignedAgain() {
  torch::Tensor x;
  {
    tensorscope::Scope scope;
    x = torch::ones({3});
  }
  x = torch::zeros({3});
  return x.sum().item<float>();
}
float onlyTheHandleCopied(const torch::Tensor &input) {
  auto x = torch::zeros({3});
  {
    tensorscope::Scope scope;
    x.copy_(input * 3);
    x += input.exp();
    x[1] = input[0] * 2;
  }
  return x.sum().item<float>();
}

//===- Blocks -------------------------------------------------------------===//

float capturedByReference(const torch::Tensor &input) {
  torch::Tensor x;
  tensorscope::with_torch([&] { x = input * 3; });
  return x.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'x' after its scope ended: its memory is gone; return it from the scope or 'retain' it [tensorscope-use-after-release]
}
float resultOfTheBlock(const torch::Tensor &input) {
  auto x = tensorscope::with_torch([&] { return input * 3; });
  return x.sum().item<float>();
}
float resultIsAlsoCaptured(const torch::Tensor &input) {
  torch::Tensor x;
  auto y = tensorscope::with_torch([&] {
    x = input * 3;
    return x;
  });
  return x.sum().item<float>() + y.max().item<float>();
}
// The inner scope ends first: what it made is gone before the outer one ends.
float innerScope(const torch::Tensor &input) {
  return tensorscope::with_torch([&] {
    torch::Tensor x;
    tensorscope::with_torch([&] { x = input * 3; });
    return x.sum().item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: use of 'x' after its scope ended: its memory is gone; return it from the scope or 'retain' it [tensorscope-use-after-release]
  });
}
// A result of the inner scope is the outer scope's to use.
float innerResult(const torch::Tensor &input) {
  return tensorscope::with_torch([&] {
    auto x = tensorscope::with_torch([&] { return input * 3; });
    return x.sum().item<float>();
  });
}
// promote() hands a tensor to the enclosing scope.
float promoted(const torch::Tensor &input) {
  return tensorscope::with_torch([&] {
    torch::Tensor x;
    tensorscope::with_torch([&] {
      x = input * 3;
      tensorscope::promote(x);
    });
    return x.sum().item<float>();
  });
}

//===- Sessions -----------------------------------------------------------===//

float afterStop() {
  tensorscope::start_session();
  auto x = torch::ones({4});
  tensorscope::stop_session();
  return x.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'x' after its session ended: its memory is gone; 'retain' it first [tensorscope-use-after-release]
}
float beforeStop() {
  tensorscope::start_session();
  auto x = torch::ones({4});
  float sum = x.sum().item<float>();
  tensorscope::stop_session();
  return sum;
}
float retainedInTheSession() {
  tensorscope::start_session();
  auto x = tensorscope::retain(torch::ones({4}));
  tensorscope::stop_session();
  return x.sum().item<float>();
}
float olderThanTheSession() {
  auto x = torch::ones({4});
  tensorscope::start_session();
  auto y = x * 2;
  tensorscope::stop_session();
  return x.sum().item<float>();
}
float sessionObject() {
  torch::Tensor x;
  {
    tensorscope::Session session;
    x = torch::ones({4});
  }
  return x.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'x' after its session ended: its memory is gone; 'retain' it first [tensorscope-use-after-release]
}
float stoppedOnOnePath(bool stop) {
  tensorscope::start_session();
  auto x = torch::ones({4});
  if (stop)
    tensorscope::stop_session();
  return x.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'x' after its session ended on some path: its memory is gone; 'retain' it first [tensorscope-use-after-release]
}
