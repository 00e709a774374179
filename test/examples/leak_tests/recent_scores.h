// SPDX-License-Identifier: Apache-2.0
// What the example's tests look at: code that scores inputs, and a history that it may or may not keep.
#pragma once

#include <torch/torch.h>

#include <vector>

namespace example {

/// Scores inputs with a small network.
class Scorer {
 public:
  Scorer() : net_(torch::nn::Linear(8, 16), torch::nn::ReLU(), torch::nn::Linear(16, 1)) {}

  /// Keeps nothing; the first call fills a cache.
  double score(const torch::Tensor& input) {
    if (!scale_.defined()) {
      scale_ = torch::full({1}, 0.5);
    }
    const torch::NoGradGuard no_grad;
    return (net_->forward(input) * scale_).mean().item<double>();
  }

  /// Remembers each score as a tensor, with the graph that made it.
  void score_and_remember(const torch::Tensor& input) {
    history_.push_back(net_->forward(input).mean()); // the leak
  }

 private:
  torch::nn::Sequential net_;
  torch::Tensor scale_;
  std::vector<torch::Tensor> history_;
};

} // namespace example
