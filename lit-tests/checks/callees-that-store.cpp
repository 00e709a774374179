// SPDX-License-Identifier: Apache-2.0
// What a function of the same file stores, keeps or refers to, seen from its callers.
// RUN: %check_tidy %s tensorscope-* %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <utility>
#include <vector>

using tensorscope::with_torch;

class Trace {
public:
  void add(const torch::Tensor &x) { entries.push_back(x.clone()); }
  void addRetained(const torch::Tensor &x) { entries.push_back(tensorscope::retain(x.clone())); }
  void addScoped(const torch::Tensor &x) {
    latest = with_torch([&] { return x * 2; });
  }
  Trace &set(torch::Tensor x) {
    latest = std::move(x);
    return *this;
  }
  torch::Tensor &last() { return latest; }
  const torch::Tensor &last() const { return latest; }

  std::vector<torch::Tensor> entries;
  torch::Tensor latest;
};

//===- Stores -------------------------------------------------------------===//

void storedByTheCallee(Trace &trace, const torch::Tensor &x) {
  with_torch([&] { trace.add(x * 3); });
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: tensor made in this scope is stored in 'trace.entries[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
}
// What the callee retained, or got out of a scope of its own, belongs to no scope.
void retainedByTheCallee(Trace &trace, const torch::Tensor &x) {
  with_torch([&] {
    trace.addRetained(x * 3);
    trace.addScoped(x * 5);
  });
}

//===- References ---------------------------------------------------------===//

void writtenThroughAReference(Trace &trace, const torch::Tensor &x) {
  with_torch([&] { trace.last() = x * 3; });
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: tensor made in this scope is stored in 'trace.latest', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
}
void chained(Trace &trace, const torch::Tensor &x) {
  with_torch([&] { trace.set(x * 3).set(tensorscope::retain(x * 5)); });
}
float releasedThroughAReference(Trace &trace) {
  tensorscope::release(trace.last());
  return trace.latest.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: use of 'trace.latest' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// A reference is no result that somebody throws away, and what is assigned to one is taken.
static torch::Tensor &either(bool first, torch::Tensor &a, torch::Tensor &b) { return first ? a : b; }
float resultsThroughReferences(const torch::Tensor &x, bool first) {
  Trace trace;
  trace.set(with_torch([&] { return x * 3; })).set(with_torch([&] { return x * 5; }));
  const float sum = trace.last().sum().item<float>();
  trace.last() = with_torch([&] { return x * 7; });
  torch::Tensor a, b;
  either(first, a, b) = with_torch([&] { return x * 9; });
  return sum + trace.last().sum().item<float>() + a.sum().item<float>();
}

// What a callee swaps is swapped, not doubled.
void swapsThem(torch::Tensor &a, torch::Tensor &b) { std::swap(a, b); }
void usesTheOtherAfterASwap(torch::Tensor a, torch::Tensor b) {
  swapsThem(a, b);
  tensorscope::release(a);
  (void)b.sum();
}
