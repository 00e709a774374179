// SPDX-License-Identifier: Apache-2.0
// A release that only a model knows of.
#include <torch/torch.h>

namespace app {
void free_now(const torch::Tensor &);
}

int after_wrapper(torch::Tensor x) {
  app::free_now(x);
  return x.dim();
}
