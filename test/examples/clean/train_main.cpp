// SPDX-License-Identifier: Apache-2.0
// Trains to the end, restores the best weights, and fails if memory was not flat.
#include "trainer.h"

#include <cmath>
#include <cstdio>

int main() {
  torch::manual_seed(7);
  torch::set_num_threads(1);
  const auto training = example::make_spirals(40, 64, 11);
  const auto validation = example::make_spirals(10, 64, 13);

  example::Trainer trainer(example::Classifier(96), {});
  trainer.fit(training, validation);
  trainer.restore_best();
  const double restored = trainer.evaluate(validation);
  std::printf("best accuracy %.3f, restored %.3f\n", trainer.best_accuracy(), restored);
  trainer.memory().print_summary();
  const bool right_weights = std::abs(restored - trainer.best_accuracy()) < 1e-9;
  return trainer.memory().is_flat() && right_weights ? 0 : 1;
}
