// SPDX-License-Identifier: Apache-2.0
// What the trainer tells a dashboard, kept for as long as the program runs: numbers, no tensors.
#pragma once

#include <cstdint>
#include <vector>

namespace example {

struct Telemetry {
  std::vector<float> losses;     // one an epoch, on the first batch
  std::vector<int64_t> mistakes; // how many points the model puts on the wrong arm, one an epoch
};

inline Telemetry& telemetry() {
  static Telemetry all;
  return all;
}

} // namespace example
