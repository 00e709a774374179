// SPDX-License-Identifier: Apache-2.0
// What the trainer tells a dashboard, kept for as long as the program runs.
#pragma once

#include <torch/torch.h>

#include <vector>

namespace example {

struct Telemetry {
  std::vector<torch::Tensor> losses;   // one an epoch, on the first batch
  std::vector<torch::Tensor> mistakes; // points that the model puts on the wrong arm, one set an epoch
};

inline Telemetry& telemetry() {
  static Telemetry all;
  return all;
}

} // namespace example
