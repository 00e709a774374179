// SPDX-License-Identifier: Apache-2.0
// Tensors that nothing leads to any more, in a program without scopes: in objects that were dropped, and in cycles.
#include <tensorscope/tensorscope.h>

#include <ATen/DLConvertor.h>

#include <functional>
#include <memory>

static void* make_row(int size) { return new at::Tensor(torch::ones({size})); }

__attribute__((noinline)) static double sum_of_row(int size) {
  return static_cast<at::Tensor*>(make_row(size))->sum().item<double>();
}

__attribute__((noinline)) static float first_of_export(int size) {
  const DLManagedTensor* const exported = at::toDLPack(torch::full({size}, 2.0));
  return static_cast<float*>(exported->dl_tensor.data)[0];
}

struct Holder {
  int rank = 0;
  std::vector<at::Tensor> all;
};

__attribute__((noinline)) static int drop_a_holder() {
  auto* const holder = new Holder;
  holder->all.push_back(torch::zeros({61}));
  holder->all.push_back(torch::zeros({62}));
  return holder->rank;
}

struct Squash : torch::autograd::Function<Squash> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x) {
    at::Tensor y = torch::tanh(x);
    context->saved_data["y"] = y;
    return y;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const at::Tensor y = context->saved_data["y"].toTensor();
    return {gradients[0] * (1 - y * y)};
  }
};

__attribute__((noinline)) static void keep_output() {
  const at::Tensor x = torch::rand({71}, torch::requires_grad());
  Squash::apply(x).sum().backward();
}

__attribute__((noinline)) static void capture_itself() {
  const at::Tensor x = torch::rand({81}, torch::requires_grad());
  const at::Tensor y = torch::exp(x);
  y.register_hook([y](const at::Tensor& gradient) { return gradient * y.sign(); });
  y.sum().backward();
}

struct Net : torch::nn::Module {
  at::Tensor weight = register_parameter("weight", torch::rand({91}));
  std::function<at::Tensor(at::Tensor)> head;
};

__attribute__((noinline)) static void own_itself() {
  const auto net = std::make_shared<Net>();
  net->head = [net](const at::Tensor& x) { return x * net->weight; };
}

int main() {
  double sum = sum_of_row(31);
  for (int i = 0; i < 3; ++i) {
    sum += first_of_export(41);
  }
  sum += drop_a_holder();
  keep_output();
  capture_itself();
  own_itself();
  return sum > 0 ? 0 : 1;
}

// CHECK-DAG: LEAK: 124 bytes in 1 tensor that no handle leads to any more{{[[:space:]]+}}made by aten::ones Float [31] on cpu{{[[:space:]]+}}#0 make_row{{.*}}unreachable.cpp:[[#@LINE-70]]:
// CHECK-DAG: LEAK: 492 bytes in 3 tensors that no handle leads to any more{{[[:space:]]+}}made by aten::full Float [41] on cpu{{[[:space:]]+}}#0 first_of_export{{.*}}unreachable.cpp:[[#@LINE-64]]:
// CHECK-DAG: LEAK: 244 bytes in 1 tensor that no handle leads to any more{{[[:space:]]+}}made by aten::zeros Float [61] on cpu{{[[:space:]]+}}#0 drop_a_holder{{.*}}unreachable.cpp:[[#@LINE-54]]:
// CHECK-DAG: LEAK: 248 bytes in 1 tensor that no handle leads to any more{{[[:space:]]+}}made by aten::zeros Float [62] on cpu
// CHECK-DAG: LEAK: {{.*}} that nothing but a cycle leads to{{[[:space:]]+}}made by aten::tanh Float [71] on cpu{{[[:space:]]+}}#0 Squash::forward{{.*}}unreachable.cpp:[[#@LINE-49]]:
// CHECK-DAG: LEAK: {{.*}} that nothing but a cycle leads to{{[[:space:]]+}}made by aten::exp Float [81] on cpu{{[[:space:]]+}}#0 capture_itself{{.*}}unreachable.cpp:[[#@LINE-32]]:
// CHECK-DAG: LEAK: 364 bytes in 1 tensor that nothing but a cycle leads to{{[[:space:]]+}}made by aten::rand Float [91] on cpu
// CHECK-DAG: each exported for DLPack here; was the capsule's deleter called?{{[[:space:]]+}}#0 first_of_export{{.*}}unreachable.cpp:[[#@LINE-70]]:
