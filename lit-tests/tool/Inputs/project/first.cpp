// SPDX-License-Identifier: Apache-2.0
#include "shared.h"

int used(torch::Tensor x) {
  tensorscope::release(x);
  return x.dim();
}

int silenced(torch::Tensor y) {
  tensorscope::release(y);
  return y.dim(); // NOLINT(tensorscope-use-after-release): wanted here
}

int nothing_to_silence(torch::Tensor z) {
  return z.dim(); // NOLINT(tensorscope-use-after-release)
}
