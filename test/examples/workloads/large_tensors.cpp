// SPDX-License-Identifier: Apache-2.0
// Large temporary tensors: a scope around each part that makes them, so that the next part has their memory. With
// --unscoped the same work without scopes: the temporaries of all parts are there at once.
#include "flat_memory.h"

#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace {

struct Summary {
  double loudest, spread, sharpest;
};

Summary summarize(const torch::Tensor& signal) {
  Summary summary{};
  summary.loudest = tensorscope::with_torch([&] {
    const auto spectrum = torch::fft_rfft(signal);
    const auto power = spectrum.abs().square();
    return power.mean(0).max().item<double>();
  });
  summary.spread = tensorscope::with_torch([&] {
    const auto centred = signal - signal.mean(1, true);
    const auto squares = centred.square();
    return squares.mean().sqrt().item<double>();
  });
  summary.sharpest = tensorscope::with_torch([&] {
    const auto slopes = signal.diff();
    const auto steepness = slopes.abs();
    return steepness.max().item<double>();
  });
  return summary;
}

Summary summarize_unscoped(const torch::Tensor& signal) {
  Summary summary{};
  const auto spectrum = torch::fft_rfft(signal);
  const auto power = spectrum.abs().square();
  summary.loudest = power.mean(0).max().item<double>();
  const auto centred = signal - signal.mean(1, true);
  const auto squares = centred.square();
  summary.spread = squares.mean().sqrt().item<double>();
  const auto slopes = signal.diff();
  const auto steepness = slopes.abs();
  summary.sharpest = steepness.max().item<double>();
  return summary;
}

} // namespace

int main(int argc, char** argv) {
  torch::manual_seed(1);
  const bool unscoped = argc > 1 && std::strcmp(argv[1], "--unscoped") == 0;
  const auto signal = torch::randn({256, 8192});
  const auto before = workload::live_bytes();
  const Summary summary = unscoped ? summarize_unscoped(signal) : summarize(signal);

  const double ratio = static_cast<double>(workload::peak_bytes()) / static_cast<double>(before);
  std::printf("loudest %.0f, spread %.3f, sharpest %.2f\n", summary.loudest, summary.spread, summary.sharpest);
  std::printf("memory: at most %.1f times that of the signal\n", ratio);
  const bool right = std::abs(summary.spread - 1) < 0.01 && workload::live_bytes() == before;
  return right && (unscoped ? ratio > 5 : ratio < 4.5) ? 0 : 1;
}
