// SPDX-License-Identifier: Apache-2.0
// Batch inference: the model lives outside; each batch has a scope, which ends with plain numbers.
#include "flat_memory.h"

#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

torch::Tensor next_batch(int number) { return torch::full({16, 3, 32, 32}, 0.01 * number) + torch::rand({16, 3, 32, 32}); }

} // namespace

int main() {
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  torch::nn::Sequential model(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3).stride(2)), torch::nn::ReLU(),
                              torch::nn::AdaptiveAvgPool2d(1), torch::nn::Flatten(), torch::nn::Linear(8, 10));
  model->eval();

  workload::FlatMemory memory;
  std::vector<std::int64_t> classes;
  for (int number = 0; number < 50; ++number) {
    const auto found = tensorscope::with_torch([&] {
      const auto best = model->forward(next_batch(number)).argmax(1);
      return std::vector<std::int64_t>(best.data_ptr<std::int64_t>(), best.data_ptr<std::int64_t>() + best.numel());
    });
    classes.insert(classes.end(), found.begin(), found.end());
    memory.step_ended();
  }
  std::printf("%zu images classified\n", classes.size());
  return classes.size() == 800 ? memory.exit_code() : 1;
}
