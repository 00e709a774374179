// SPDX-License-Identifier: Apache-2.0
// Two sources include it; its finding is one finding.
#pragma once
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

inline int used_in_header(torch::Tensor in_header) {
  tensorscope::release(in_header);
  return in_header.dim();
}
