// SPDX-License-Identifier: Apache-2.0
// The canonical loop, tables made in scopes and kept by statics, and an older tensor held to the end.
#include <tensorscope/tensorscope.h>

#include <cstdlib>

static at::Tensor table;
static at::Tensor retained_table;

int main(int argc, char**) {
  namespace nn = torch::nn;
  nn::Sequential net(nn::Linear(16, 32), nn::BatchNorm1d(32), nn::ReLU(), nn::Linear(32, 4));
  torch::optim::Adam optimizer(net->parameters(), 0.01);
  table = tensorscope::with_torch([] { return torch::arange(100); });
  tensorscope::with_torch([] { retained_table = tensorscope::retain(torch::arange(100)); });
  at::Tensor best = tensorscope::retain(torch::zeros({4}));
  for (int step = 0; step < 50; ++step) {
    tensorscope::with_torch([&] {
      optimizer.zero_grad();
      auto loss = net->forward(torch::randn({8, 16})).pow(2).mean();
      loss.backward();
      optimizer.step();
      best = tensorscope::retain(loss.detach());
      return loss.item<double>();
    });
  }
  if (argc > 1) {
    tensorscope::with_torch([&] {
      best = tensorscope::retain(best + 1);
      std::exit(0);
    });
  }
}
