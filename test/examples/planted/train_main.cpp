// SPDX-License-Identifier: Apache-2.0
// Trains to the end and shows how memory grows. With --restore it puts the best weights back, which the planted
// mistake in the checkpoint turns into an error at run time.
#include "trainer.h"

#include <cstdio>
#include <cstring>
#include <exception>

static int run(bool restore) {
  torch::manual_seed(7);
  torch::set_num_threads(1);
  const auto training = example::make_spirals(40, 64, 11);
  const auto validation = example::make_spirals(10, 64, 13);

  example::Trainer trainer(example::Classifier(96), {});
  trainer.fit(training, validation);
  trainer.memory().print_summary();
  std::printf("best accuracy %.3f\n", trainer.best_accuracy());
  if (restore) trainer.restore_best();
  return 0;
}

int main(int argc, char** argv) {
  const bool restore = argc > 1 && std::strcmp(argv[1], "--restore") == 0;
  try {
    return run(restore);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
