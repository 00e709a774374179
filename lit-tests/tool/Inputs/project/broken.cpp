// SPDX-License-Identifier: Apache-2.0
// One function does not compile; the other is checked all the same.
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

int broken(torch::Tensor x) { return x.no_such_member; }

int whole(torch::Tensor x) {
  tensorscope::release(x);
  return x.dim();
}
