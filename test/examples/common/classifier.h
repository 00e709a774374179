// SPDX-License-Identifier: Apache-2.0
// The network that the examples train and serve.
#pragma once

#include "dataset.h"

#include <torch/torch.h>

namespace example {

struct ClassifierImpl : torch::nn::Module {
  explicit ClassifierImpl(int64_t width = 96)
      : input(register_module("input", torch::nn::Linear(2, width))),
        hidden(register_module("hidden", torch::nn::Linear(width, width))),
        output(register_module("output", torch::nn::Linear(width, spiral_arms))) {}

  torch::Tensor forward(const torch::Tensor& features) {
    return output(torch::relu(hidden(torch::relu(input(features)))));
  }

  torch::nn::Linear input, hidden, output;
};
TORCH_MODULE(Classifier);

} // namespace example
