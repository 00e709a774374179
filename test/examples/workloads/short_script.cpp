// SPDX-License-Identifier: Apache-2.0
// A short script: no scope. What it makes is gone when its variables are, and the program ends soon.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>

int main() {
  torch::manual_seed(1);
  const auto x = torch::linspace(0, 1, 50);
  const auto y = 3 * x + 1 + 0.01 * torch::randn(50);
  const auto design = torch::stack({x, torch::ones_like(x)}, 1);
  const auto line = std::get<0>(torch::linalg_lstsq(design, y.unsqueeze(1)));

  const double slope = line[0].item<double>();
  const double intercept = line[1].item<double>();
  std::printf("y = %.2f x + %.2f\n", slope, intercept);
  return std::abs(slope - 3) < 0.05 && std::abs(intercept - 1) < 0.05 ? 0 : 1;
}
