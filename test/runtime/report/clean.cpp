// SPDX-License-Identifier: Apache-2.0
// The canonical loop, tables made in scopes and kept by statics, and an older tensor held to the end.
#include <tensorscope/tensorscope.h>

#include <cstdlib>
#include <stdexcept>
#include <string_view>

static at::Tensor table;
static at::Tensor retained_table;

int main(int argc, char** argv) {
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
  if (argc > 1 && std::string_view(argv[1]) == "throw") {
    throw std::runtime_error("of the program");
  }
  if (argc > 1) {
    tensorscope::with_torch([&] {
      best = tensorscope::retain(best + 1);
      std::exit(0);
    });
  }
}

// EXIT:      tensorscope: main() had not returned: what its variables hold was not looked at; {{[0-9]+}} tensors with {{[0-9]+}} bytes are alive
// EXIT-NOT:  {{.}}

// THROW:      tensorscope: main() had not returned: what its variables hold was not looked at; {{[0-9]+}} tensors with
// THROW:      terminate called after throwing an instance of 'std::runtime_error'
// THROW-NOT:  LEAK
