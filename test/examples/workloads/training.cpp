// SPDX-License-Identifier: Apache-2.0
// Training: the model, the optimizer and the data live outside; each batch has a scope, which ends with a number.
#include "flat_memory.h"

#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <cstdio>

int main() {
  torch::manual_seed(1);
  const int batch_size = 32;
  const auto features = torch::randn({640, 8});
  const auto labels = (features.sum(1) > 0).to(torch::kLong);

  torch::nn::Sequential model(torch::nn::Linear(8, 32), torch::nn::ReLU(), torch::nn::Linear(32, 2));
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-2));

  workload::FlatMemory memory;
  double epoch_loss = 0;
  for (int epoch = 0; epoch < 10; ++epoch) {
    epoch_loss = 0;
    for (int first = 0; first < features.size(0); first += batch_size) {
      epoch_loss += tensorscope::with_torch([&] {
        optimizer.zero_grad();
        const auto prediction = model->forward(features.narrow(0, first, batch_size));
        const auto loss = torch::nn::functional::cross_entropy(prediction, labels.narrow(0, first, batch_size));
        loss.backward();
        optimizer.step();
        return loss.item<double>();
      });
      memory.step_ended();
    }
    std::printf("epoch %d: loss %.3f\n", epoch, epoch_loss / 20);
  }
  return epoch_loss / 20 < 0.2 ? memory.exit_code() : 1;
}
