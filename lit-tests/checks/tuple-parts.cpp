// SPDX-License-Identifier: Apache-2.0
// The parts of tuples and pairs are told apart, however they are filled and taken.
// RUN: %check_tidy %s tensorscope-* %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <tuple>
#include <utility>
#include <vector>

using tensorscope::with_torch;

void log_tensor(const torch::Tensor &x);

//===- std::tie -----------------------------------------------------------===//

// Both are read.
float tied(const torch::Tensor &x) {
  torch::Tensor a, b;
  std::tie(a, b) = with_torch([&] { return std::make_tuple(x * 2, x * 3); });
  return (a + b).sum().item<float>();
}
// As with structured bindings, one that is read is enough.
float oneOfTwoRead(const torch::Tensor &x) {
  torch::Tensor a, b;
  std::tie(a, b) = with_torch([&] { return std::make_pair(x * 2, x * 3); });
  return b.sum().item<float>();
}
float storedFirst(const torch::Tensor &x) {
  torch::Tensor a, b;
  auto both = with_torch([&] { return std::make_tuple(x * 2, x * 3); });
  std::tie(a, b) = both;
  return (a + b).sum().item<float>();
}
struct Moments {
  torch::Tensor mean, deviation;
  void update(const torch::Tensor &x, Moments &other) {
    std::tie(this->mean, other.deviation) = with_torch([&] { return std::make_tuple(x.mean(), x.exp()); });
  }
  void updateMean(const torch::Tensor &x) {
    std::tie(mean, std::ignore) = with_torch([&] { return std::make_tuple(x.mean(), x.exp()); });
  }
};
void noneRead(const torch::Tensor &x) {
  torch::Tensor a, b;
  std::tie(a, b) = with_torch([&] { return std::make_tuple(x * 2, x * 3); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope is put in 'a, b', which is never read: its tensors are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}
void restIgnored(const torch::Tensor &x) {
  torch::Tensor a;
  std::tie(a, std::ignore) = with_torch([&] { return std::make_tuple(x * 2, x * 3); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope is put in 'a', which is never read: its tensors are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}
// A tie stores what it is given where its names are.
void tiedOut(torch::Tensor &values, const torch::Tensor &x) {
  with_torch([&] {
    torch::Tensor indices;
    std::tie(values, indices) = x.topk(3);
    // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: tensor made in this scope is stored in 'values', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    log_tensor(indices);
  });
}
void tiedOutRetained(torch::Tensor &values, const torch::Tensor &x) {
  with_torch([&] { std::tie(values, std::ignore) = tensorscope::retain(x.topk(3)); });
}

//===- One part released --------------------------------------------------===//

float ofAnOperatorsResult(const torch::Tensor &x) {
  auto [values, indices] = x.topk(3);
  tensorscope::release(values);
  const float kept = indices.sum().item<float>();
  return kept + values.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: use of 'values' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
float ofAPair(const torch::Tensor &x) {
  auto both = std::make_pair(x * 2, x * 3);
  tensorscope::release(both.first);
  const float kept = both.second.sum().item<float>();
  return kept + both.first.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: use of 'both.first' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
float ofATuple(const torch::Tensor &x) {
  std::tuple<torch::Tensor, int, torch::Tensor> three(x * 2, 7, x * 3);
  tensorscope::release(std::get<0>(three));
  const float kept = std::get<2>(three).sum().item<float>();
  return kept + std::get<0>(three).sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: use of 'std::get<0>(three)' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
static std::pair<torch::Tensor, torch::Tensor> both(const torch::Tensor &x) { return {x * 2, x * 3}; }
static void releaseFirst(const std::pair<torch::Tensor, torch::Tensor> &p) { tensorscope::release(p.first); }
float throughCallees(const torch::Tensor &x) {
  auto p = both(x);
  releaseFirst(p);
  auto [a, b] = p;
  const float kept = b.sum().item<float>();
  return kept + a.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: use of 'a' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
