// SPDX-License-Identifier: Apache-2.0
// Data that the examples make themselves: points of three interleaved spiral arms, in batches.
#pragma once

#include <torch/torch.h>

#include <vector>

namespace example {

struct Batch {
  torch::Tensor features; // [batch, 2]
  torch::Tensor labels;   // [batch], 0 to classes - 1
};

inline constexpr int spiral_arms = 3;

/// `count` batches of `size` points each; the same seed gives the same points.
std::vector<Batch> make_spirals(int count, int size, uint64_t seed);

} // namespace example
