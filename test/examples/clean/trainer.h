// SPDX-License-Identifier: Apache-2.0
// Trains the classifier, keeps the best weights, evaluates.
#pragma once

#include "../common/classifier.h"
#include "../common/dataset.h"
#include "../common/memory_watch.h"

#include <torch/torch.h>

#include <vector>

namespace example {

struct TrainerOptions {
  int epochs = 20;
  double learning_rate = 3e-3;
  long report_every = 100;
};

/// The best weights so far, as copies of their own.
struct Checkpoint {
  double accuracy = 0;
  std::vector<torch::Tensor> weights;
};

class Trainer {
 public:
  Trainer(Classifier model, const TrainerOptions& options);

  void fit(const std::vector<Batch>& training, const std::vector<Batch>& validation);

  /// Share of points that the model puts on the right arm.
  double evaluate(const std::vector<Batch>& batches);

  /// Puts the best weights back into the model.
  void restore_best();

  double best_accuracy() const { return best_.accuracy; }
  const MemoryWatch& memory() const { return watch_; }

 private:
  torch::Tensor training_loss(const Batch& batch);
  void keep_if_best(double accuracy);
  void tell(const Batch& batch);

  Classifier model_;
  TrainerOptions options_;
  torch::optim::Adam optimizer_;
  Checkpoint best_;
  MemoryWatch watch_;
  long step_ = 0;
};

} // namespace example
