// SPDX-License-Identifier: Apache-2.0
// Stores into what keeps its tensors itself: adopted objects and gradients.
// RUN: %check_tidy %s tensorscope-unretained-escape %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <thread>
#include <vector>

using tensorscope::with_torch;

struct Cache {
  std::vector<torch::Tensor> entries;
  torch::Tensor latest;
};

// An adopted object owns what comes to be reachable from it.
void adopted(const torch::Tensor &input) {
  Cache cache;
  const auto adoption = tensorscope::adopt(cache);
  with_torch([&] {
    cache.entries.push_back(input * 3);
    cache.latest = input.exp();
  });
}
// The same object without the adoption.
void notAdopted(const torch::Tensor &input) {
  Cache cache;
  with_torch([&] {
    cache.entries.push_back(input * 3);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: tensor made in this scope is stored in 'cache.entries[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    cache.latest = input.exp();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: tensor made in this scope is stored in 'cache.latest', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
// Another object than the adopted one.
void adoptedBeside(const torch::Tensor &input) {
  Cache cache, other;
  const auto adoption = tensorscope::adopt(cache);
  with_torch([&] {
    other.latest = input.exp();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: tensor made in this scope is stored in 'other.latest', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
// A gradient that is assigned belongs to its leaf.
void assignedGradient(const torch::Tensor &weight) {
  with_torch([&] { weight.mutable_grad() = torch::ones({7, 3}); });
}
// So does one that is replaced for each of several leaves.
void replacedGradients(const std::vector<torch::Tensor> &weights) {
  with_torch([&] {
    for (const auto &weight : weights)
      weight.mutable_grad() = weight.exp();
  });
}
// The handle to a tensor that became a gradient stays good.
float gradientsHandle(const torch::Tensor &weight) {
  torch::Tensor outer;
  with_torch([&] {
    auto gradient = torch::ones({7, 3});
    weight.mutable_grad() = gradient;
    outer = gradient;
  });
  return outer.sum().item<float>();
}
// A list of views of an older tensor is as old as that tensor.
float listOfViews(const torch::Tensor &older) {
  std::vector<torch::Tensor> views;
  with_torch([&] {
    views = {older.view({3, 4}), older[5]};
    for (auto &chunk : older.chunk(4))
      views.push_back(chunk);
  });
  float total = 0;
  for (const auto &view : views)
    total += view.sum().item<float>();
  return total;
}
// Another thread may retain what it can reach.
void retainedElsewhere(const torch::Tensor &input) {
  std::vector<torch::Tensor> shared;
  with_torch([&] {
    shared.push_back(input * 3);
    std::thread worker([&shared] { tensorscope::retain(shared); });
    worker.join();
  });
}
