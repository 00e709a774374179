// SPDX-License-Identifier: Apache-2.0
// A clean program that knows nothing of the library: two optimizers, a scripted function, and a table for the whole run.
#include <torch/script.h>
#include <torch/torch.h>

#include <iostream>

static at::Tensor table;

int main() {
  namespace nn = torch::nn;
  torch::manual_seed(1);
  table = torch::arange(100);
  nn::Sequential net(nn::Linear(16, 32), nn::BatchNorm1d(32), nn::ReLU(), nn::Linear(32, 4));
  torch::optim::Adam adam(net->parameters(), 0.01);
  torch::optim::SGD sgd(net->parameters(), 0.01);
  double last = 0;
  for (int step = 0; step < 40; ++step) {
    net->zero_grad();
    auto loss = net->forward(torch::randn({8, 16})).pow(2).mean();
    loss.backward();
    adam.step();
    sgd.step([&] { return loss; });
    last = loss.item<double>();
  }
  torch::jit::Module module("module");
  module.define("def forward(self, x):\n  return x * 2 + 1\n");
  const auto result = module.forward({torch::ones({3})}).toTensor();
  std::string word;
  std::cin >> word;
  std::cout << word << " " << (last < 1) << " " << result.sum().item<float>() << "\n";
}
