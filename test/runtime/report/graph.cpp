// SPDX-License-Identifier: Apache-2.0
// Graphs that live on: losses returned from scopes and kept, and a global total that adds losses up.
#include <tensorscope/tensorscope.h>

#include <vector>

static std::vector<at::Tensor> losses;
static at::Tensor total = torch::zeros({});

int main() {
  torch::nn::Linear net(16, 4);
  for (int i = 0; i < 3; ++i) {
    losses.push_back(tensorscope::with_torch([&] {
      return net->forward(torch::randn({8, 16})).tanh().sum();
    }));
  }
  for (int i = 0; i < 2; ++i) {
    tensorscope::with_torch([&] {
      total += net->forward(torch::randn({5, 16})).exp().sum();
    });
  }
}

// 3 losses of 4 bytes; each graph keeps an input of 8 * 16 and a tanh of 8 * 4 floats.
// CHECK:      LEAK: 1932 bytes in 3 tensors returned from 3 runs of a scope and still held
// CHECK-NEXT: made by aten::sum Float [] on cpu in the scope at {{.*}}graph.cpp:[[#@LINE-13]]
// CHECK:      its backward() keeps 1920 bytes in 6 tensors:
// CHECK-NEXT: 1536 bytes in 3 tensors of aten::randn Float [8, 16] on cpu
// CHECK-NEXT: graph.cpp:[[#@LINE-15]]:
// CHECK:      384 bytes in 3 tensors of aten::tanh Float [8, 4] on cpu
// CHECK:      return loss.item() or loss.detach()

// CHECK:      LEAK: 800 bytes in 4 tensors kept for the backward() of a tensor that lives on
// CHECK-NEXT: made by aten::zeros Float [] on cpu
// CHECK-NEXT: graph.cpp:[[#@LINE-27]]:
// CHECK:      640 bytes in 2 tensors of aten::randn Float [5, 16] on cpu
// CHECK-NEXT: graph.cpp:[[#@LINE-18]]:
// CHECK:      160 bytes in 2 tensors of aten::exp Float [5, 4] on cpu
// CHECK:      add loss.item() or loss.detach() up
// CHECK:      SUMMARY: tensorscope: 2732 bytes leaked in 13 tensors;
