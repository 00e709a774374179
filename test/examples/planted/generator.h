// SPDX-License-Identifier: Apache-2.0
// A small language model over an alphabet of its own, and ways to sample from it. Planted mistakes are marked in generator.cpp.
#pragma once

#include <torch/torch.h>

#include <string>

namespace example {

class Generator {
 public:
  explicit Generator(int64_t width = 48);

  /// Appends `length` tokens to `tokens` ([1, n], at least one), one at a time.
  torch::Tensor generate(torch::Tensor tokens, int length);

  /// Draws single tokens after `tokens` until one has at least probability `floor`; gives how many draws that took.
  int draws_until_likely(const torch::Tensor& tokens, float floor);

  /// How sure the model is of the next token: its largest probability.
  float confidence(const torch::Tensor& tokens);

  /// The tokens as letters.
  static std::string text(const torch::Tensor& tokens);

  static constexpr int64_t alphabet = 26;

 private:
  torch::Tensor next_logits(const torch::Tensor& tokens);

  torch::nn::Embedding embedding_;
  torch::nn::Linear output_;
};

} // namespace example
