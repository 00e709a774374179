// SPDX-License-Identifier: Apache-2.0
// A lost loss is one leak with its graph, not one for each activation; what the program still holds is none of it.
#include <tensorscope/tensorscope.h>

static at::Tensor shown;

__attribute__((noinline)) static void train(torch::nn::Linear& net) {
  auto x = torch::ones({8, 16});
  for (int i = 0; i < 8; ++i) {
    x = net->forward(x).tanh();
    if (i == 4) {
      shown = x;
    }
  }
  auto loss = x.sum();
  const void* const handle = loss.unsafeReleaseTensorImpl();
  asm volatile("" : : "r"(handle));
}

int main() {
  torch::nn::Linear net(16, 16);
  train(net);
}

// CHECK:     LEAK: {{[0-9]+}} bytes in 1 tensor that no handle leads to any more
// CHECK:     made by aten::sum
// CHECK-NOT: held by
// CHECK:     its backward() keeps
// CHECK:     3584 bytes in 7 tensors of aten::tanh Float [8, 16] on cpu
// CHECK-NOT: LEAK:
