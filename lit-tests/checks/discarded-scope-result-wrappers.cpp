// SPDX-License-Identifier: Apache-2.0
// Results of wrappers around a scope, and lists that are filled and never read.
// RUN: %check_tidy %s tensorscope-discarded-scope-result %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

using tensorscope::with_torch;

torch::Tensor model(const torch::Tensor &x);
void consume(const std::vector<torch::Tensor> &list);

//===- Wrappers -----------------------------------------------------------===//

// A function that returns a scope's result: its caller threw it away.
static torch::Tensor scopedForward(const torch::Tensor &x) {
  return with_torch([&] { return torch::softmax(model(x), -1); });
}
void callsTheWrapper(const torch::Tensor &x) {
  scopedForward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}
float readsTheWrapper(const torch::Tensor &x) { return scopedForward(x).sum().item<float>(); }

// Through a variable of the wrapper.
static torch::Tensor scopedStep(const torch::Tensor &x) {
  auto result = with_torch([&] {
    auto y = model(x);
    return y / y.norm();
  });
  return result;
}
void callsTheStep(const torch::Tensor &x) {
  for (int i = 0; i < 1013; ++i)
    scopedStep(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody in each iteration; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// A wrapper of a wrapper.
static torch::Tensor twice(const torch::Tensor &x) { return scopedForward(x); }
void callsTwice(const torch::Tensor &x) {
  twice(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// A generic wrapper: what it returns is the body's.
template <class Body> auto timed(Body &&body) { return with_torch(std::forward<Body>(body)); }
void callsTimed(const torch::Tensor &x) {
  timed([&] { return x * 19; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  timed([&] { return x.sum().item<float>(); });
  auto y = timed([&] { return x * 23; });
  (void)y.sum().item<float>();
}

// A method of a class.
struct Server {
  torch::Tensor state;
  torch::Tensor step(const torch::Tensor &x) {
    return with_torch([&] { return model(x + state); });
  }
  void run(const torch::Tensor &x) {
    step(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
    state = step(x);
  }
};

// A local lambda around a scope.
void localWrapper(const torch::Tensor &x) {
  auto scaled = [&](double by) { return with_torch([&, by] { return x * by; }); };
  scaled(3);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  auto kept = scaled(5);
  (void)kept.sum().item<float>();
}

// A function with no scope of its own is not our business: its result dies at once.
static torch::Tensor plainForward(const torch::Tensor &x) { return model(x) * 3; }
void callsPlain(const torch::Tensor &x) { plainForward(x); }

//===- Lists that nobody reads --------------------------------------------===//

// Filled in a loop, never read.
void listNeverRead(const torch::Tensor &x) {
  std::vector<torch::Tensor> kept;
  for (int i = 0; i < 1000; ++i)
    kept.push_back(with_torch([&] { return x * i; }));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the result of this scope is put in 'kept', which is never read: its tensors are kept past the scope for nobody in each iteration; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// emplace_back, a deque, a list, a map: the same.
void otherInsertions(const torch::Tensor &x) {
  std::vector<torch::Tensor> emplaced;
  std::deque<torch::Tensor> front;
  std::map<int, torch::Tensor> byStep;
  for (int i = 0; i < 1000; ++i) {
    emplaced.emplace_back(with_torch([&] { return x * i; }));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the result of this scope is put in 'emplaced', which is never read: its tensors are kept past the scope for nobody in each iteration; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
    front.push_front(with_torch([&] { return x - i; }));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the result of this scope is put in 'front', which is never read: its tensors are kept past the scope for nobody in each iteration; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
    byStep.emplace(i, with_torch([&] { return x / i; }));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the result of this scope is put in 'byStep', which is never read: its tensors are kept past the scope for nobody in each iteration; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  }
}

// Structures with tensors in a list.
struct Step {
  torch::Tensor loss;
  int number = 0;
};
void listOfStructures(const torch::Tensor &x) {
  std::vector<Step> history;
  history.reserve(1000);
  for (int i = 0; i < 1000; ++i)
    history.push_back(with_torch([&] { return Step{x * i, i}; }));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the result of this scope is put in 'history', which is never read: its tensors are kept past the scope for nobody in each iteration; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// Any member call but the insertion reads the list.
double listRead(const torch::Tensor &x) {
  std::vector<torch::Tensor> kept;
  for (int i = 0; i < 31; ++i)
    kept.push_back(with_torch([&] { return x * i; }));
  return kept.back().sum().item<double>();
}
std::vector<torch::Tensor> listReturned(const torch::Tensor &x) {
  std::vector<torch::Tensor> kept;
  for (int i = 0; i < 31; ++i)
    kept.push_back(with_torch([&] { return x * i; }));
  return kept;
}
void listPassed(const torch::Tensor &x) {
  std::vector<torch::Tensor> kept;
  for (int i = 0; i < 31; ++i)
    kept.push_back(with_torch([&] { return x * i; }));
  consume(kept);
}
void listIterated(const torch::Tensor &x) {
  std::vector<torch::Tensor> kept;
  for (int i = 0; i < 31; ++i)
    kept.push_back(with_torch([&] { return x * i; }));
  for (auto &k : kept)
    (void)k.sum().item<float>();
}
void listStacked(const torch::Tensor &x) {
  std::vector<torch::Tensor> kept;
  for (int i = 0; i < 31; ++i)
    kept.push_back(with_torch([&] { return x * i; }));
  (void)torch::stack(kept).sum().item<float>();
}

// A list of another owner may be read by somebody else.
void listOfTheCaller(std::vector<torch::Tensor> &out, const torch::Tensor &x) {
  out.push_back(with_torch([&] { return x * 3; }));
}
struct Recorder {
  std::vector<torch::Tensor> history;
  void record(const torch::Tensor &x) {
    history.push_back(with_torch([&] { return x * 3; }));
  }
};

// A list that a lambda with a life of its own captured by reference may be read.
double listReadByALambda(const torch::Tensor &x) {
  std::vector<torch::Tensor> kept;
  auto total = [&kept] { return torch::stack(kept).sum().item<double>(); };
  for (int i = 0; i < 31; ++i)
    kept.push_back(with_torch([&] { return x * i; }));
  return total();
}
