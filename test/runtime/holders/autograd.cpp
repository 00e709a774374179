// SPDX-License-Identifier: Apache-2.0
// Tensors held by LibTorch's own objects: a saved activation in the graph of a global loss, a gradient, a parameter, a
// buffer, an optimizer's state; and a graph that holds itself.
#include <tensorscope/tensorscope.h>

static at::Tensor loss;
static at::Tensor weights;
static std::shared_ptr<torch::nn::Module> net;

static at::Tensor kept(int size) {
  return tensorscope::with_torch([&] { return tensorscope::retain(torch::ones({size})); });
}

int main() {
  weights = torch::ones({1}, torch::requires_grad());
  {
    const auto input = kept(1001);
    loss = (weights * input).sum();
  }
  {
    auto other = torch::ones({902}, torch::requires_grad());
    other.mutable_grad() = kept(902);
    net = std::make_shared<torch::nn::Module>("net");
    net->register_parameter("other", other);
    net->register_parameter("scale", kept(803));
    net->register_buffer("mean", kept(704));
  }
}

// CHECK:      LEAK: 4004 bytes
// CHECK:      held by static 'loss' (autograd.cpp:[[#@LINE-25]]) -> Tensor -> grad_fn -> SumBackward0 -> MulBackward0 -> Tensor
// CHECK:      LEAK: 3608 bytes
// CHECK:      held by static 'net' (autograd.cpp:[[#@LINE-25]]) -> {{.*}}torch::nn::Module -> parameter 'other' -> Tensor -> grad -> Tensor
// CHECK:      LEAK: 3212 bytes
// CHECK:      held by static 'net' {{.*}} -> parameter 'scale' -> Tensor
// CHECK:      LEAK: 2816 bytes
// CHECK:      held by static 'net' {{.*}} -> buffer 'mean' -> Tensor
