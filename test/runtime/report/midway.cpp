// SPDX-License-Identifier: Apache-2.0
// Asks for leaks while a function's variables hold the tensors: none of these is lost.
#include <tensorscope/tensorscope.h>

#include <iostream>

struct Fixture {
  at::Tensor weights = torch::ones({30, 7});
  at::Tensor bias = torch::zeros({7});
};

static double work() {
  const Fixture fixture;
  const auto local = torch::randn({5, 30});
  const auto result = tensorscope::with_torch([&] { return local.matmul(fixture.weights) + fixture.bias; });
  std::cerr << tensorscope::check_leaks().exit_report;
  return result.sum().item<double>() + local.sum().item<double>();
}

int main() { return work() == 0 ? 1 : 0; }
