// SPDX-License-Identifier: Apache-2.0
// Losses escape with their graphs: they alone are named, whether they are released or left alive.
#include <tensorscope/tensorscope.h>

#include <vector>

static std::vector<at::Tensor> losses;

int main() {
  namespace nn = torch::nn;
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 2, 3).bias(false)), nn::ReLU(), nn::MaxPool2d(2));
  for (int i = 0; i < 3; ++i) {
    tensorscope::with_torch([&] {
      losses.push_back(net->forward(torch::randn({1, 1, 10, 10})).exp().sum());
    });
  }
}

// CHECK:      ESCAPE: 3 tensors with 12 bytes released at the end of a scope and still held
// CHECK-NEXT: made by aten::sum Float [] on cpu in the scope at {{.*}}escaped_graph.cpp:[[#@LINE-7]]
// CHECK:      SUMMARY: tensorscope: 0 bytes leaked in 0 tensors; 3 escaped tensors still held;

// Each graph keeps the input, what ReLU and exp gave, 400, 512 and 128 bytes, and 256 of indices that the pooling made.
// REPORT:      tensorscope: 1 tensor(s) escaped the scope opened at {{.*}}escaped_graph.cpp:[[#@LINE-11]], the first made by aten::sum (Float [] on cpu), with 3 more that backward() needs: return
// REPORT-NOT:  tensor(s) escaped
// REPORT:      LEAK: 3900 bytes in 3 tensors that escaped a scope and were left alive (on_escape=report)
// REPORT-NEXT: made by aten::sum Float [] on cpu in the scope at
// REPORT:      its backward() keeps 3888 bytes in 12 tensors:
// REPORT-DAG:  1536 bytes in 3 tensors of aten::relu Float [1, 2, 8, 8] on cpu
// REPORT-DAG:  768 bytes in 3 tensors of MaxPool2DWithIndicesBackward0 Long [1, 2, 4, 4] on cpu
// REPORT-NOT:  LEAK:
// REPORT:      SUMMARY: tensorscope: 3900 bytes leaked in 15 tensors; 100.0 %
