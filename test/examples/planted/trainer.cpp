// SPDX-License-Identifier: Apache-2.0
// The trainer as it grew: results that nobody reads, a checkpoint that its scope takes away.
#include "trainer.h"

#include "../common/timed.h"
#include "telemetry.h"

#include <tensorscope/tensorscope.h>

namespace example {

Trainer::Trainer(Classifier model, const TrainerOptions& options)
    : model_(model),
      options_(options),
      optimizer_(model->parameters(), torch::optim::AdamOptions(options.learning_rate)),
      watch_(options.report_every, options.report_every) {}

StepResult Trainer::training_step(const Batch& batch) {
  optimizer_.zero_grad();
  auto logits = model_->forward(batch.features); // LEAKS growth
  auto loss = torch::nn::functional::cross_entropy(logits, batch.labels);
  loss.backward();
  optimizer_.step();
  return {loss, logits};
}

torch::Tensor Trainer::confusion(const std::vector<Batch>& batches) {
  auto counts = torch::zeros({spiral_arms, spiral_arms});
  for (const Batch& batch : batches) {
    tensorscope::Scope scope;
    const auto cell = batch.labels * spiral_arms + model_->forward(batch.features).argmax(1);
    counts.view({-1}).scatter_add_(0, cell, torch::ones({cell.size(0)}));
  }
  return counts;
}

void Trainer::fit(const std::vector<Batch>& training, const std::vector<Batch>& validation) {
  for (const Batch& batch : training)
    tensorscope::with_torch([&] { return model_->forward(batch.features); }); // PLANTED discarded-scope-result

  float largest_loss = 0;
  std::vector<StepResult> history;
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    for (const Batch& batch : training) {
      const auto step = [&] { return training_step(batch); };
      history.push_back(tensorscope::with_torch(step)); // PLANTED discarded-scope-result
      watch_.sample(++step_);
    }
    for (const Batch& batch : validation) {
      tensorscope::with_torch([&] {
        const auto logits = model_->forward(batch.features); // PLANTED missing-no-grad
        const float loss = torch::nn::functional::cross_entropy(logits, batch.labels).item<float>();
        if (loss > largest_loss) {
          largest_loss = loss;
          hardest_logits_ = logits.detach(); // PLANTED unretained-escape
        }
      });
    }
    timed("confusion", [&] { return confusion(validation); }); // PLANTED discarded-scope-result

    const double accuracy = evaluate(validation);
    std::printf("epoch %2d   accuracy %.3f\n", epoch, accuracy);
    keep_if_best(accuracy);
    tell(training.front());
  }
}

void Trainer::tell(const Batch& batch) {
  telemetry().losses.push_back(tensorscope::with_torch([&] {
    const auto logits = model_->forward(batch.features);
    return torch::nn::functional::cross_entropy(logits, batch.labels); // LEAKS result
  }));
  tensorscope::with_torch([&] {
    torch::NoGradGuard no_grad;
    const auto wrong = model_->forward(batch.features).argmax(1) != batch.labels;
    telemetry().mistakes.push_back(tensorscope::retain(batch.features * wrong.unsqueeze(1))); // LEAKS retained
  });
}

double Trainer::evaluate(const std::vector<Batch>& batches) {
  torch::NoGradGuard no_grad;
  model_->eval();
  int64_t right = 0, all = 0;
  for (const Batch& batch : batches) { // PLANTED unscoped-loop
    const auto guess = model_->forward(batch.features).argmax(1);
    right += (guess == batch.labels).sum().item<int64_t>();
    all += batch.labels.size(0);
  }
  model_->train();
  return static_cast<double>(right) / static_cast<double>(all);
}

void Trainer::keep_if_best(double accuracy) {
  if (accuracy <= best_.accuracy) return;
  tensorscope::with_torch([&] {
    best_.weights.clear();
    for (const auto& parameter : model_->parameters())
      best_.weights.push_back(parameter.detach().clone()); // PLANTED unretained-escape
    best_.accuracy = accuracy;
  });
}

void Trainer::restore_best() {
  torch::NoGradGuard no_grad;
  const auto parameters = model_->parameters();
  for (size_t i = 0; i < parameters.size(); ++i) parameters[i].copy_(best_.weights[i]);
}

} // namespace example
