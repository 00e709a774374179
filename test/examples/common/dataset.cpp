// SPDX-License-Identifier: Apache-2.0
#include "dataset.h"

#include <cmath>
#include <random>

namespace example {

std::vector<Batch> make_spirals(int count, int size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> position(0.1f, 1.0f);
  std::normal_distribution<float> noise(0.0f, 0.02f);
  std::uniform_int_distribution<int64_t> arm(0, spiral_arms - 1);

  std::vector<Batch> batches;
  std::vector<float> points(2 * static_cast<size_t>(size));
  std::vector<int64_t> labels(static_cast<size_t>(size));
  for (int batch = 0; batch < count; ++batch) {
    for (size_t i = 0; i < labels.size(); ++i) {
      labels[i] = arm(random);
      const float radius = position(random);
      const float angle = 5.0f * radius + 2.0f * 3.14159265f * static_cast<float>(labels[i]) / spiral_arms;
      points[2 * i] = radius * std::cos(angle) + noise(random);
      points[2 * i + 1] = radius * std::sin(angle) + noise(random);
    }
    batches.push_back({torch::from_blob(points.data(), {size, 2}).clone(),
                       torch::from_blob(labels.data(), {size}, torch::kInt64).clone()});
  }
  return batches;
}

} // namespace example
