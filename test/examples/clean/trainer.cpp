// SPDX-License-Identifier: Apache-2.0
// The clean twin: each step in a scope that gives back a number, the checkpoint retained.
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

torch::Tensor Trainer::training_loss(const Batch& batch) {
  optimizer_.zero_grad();
  auto loss = torch::nn::functional::cross_entropy(model_->forward(batch.features), batch.labels);
  loss.backward();
  optimizer_.step();
  return loss;
}

void Trainer::fit(const std::vector<Batch>& training, const std::vector<Batch>& validation) {
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    double total = 0;
    for (const Batch& batch : training) {
      total += tensorscope::with_torch([&] { return training_loss(batch).item<float>(); });
      watch_.sample(++step_);
    }
    const double accuracy = evaluate(validation);
    std::printf("epoch %2d   loss %.3f   accuracy %.3f\n", epoch, total / training.size(), accuracy);
    keep_if_best(accuracy);
    tell(training.front());
  }
}

void Trainer::tell(const Batch& batch) {
  torch::NoGradGuard no_grad;
  tensorscope::with_torch([&] {
    const auto logits = model_->forward(batch.features);
    telemetry().losses.push_back(torch::nn::functional::cross_entropy(logits, batch.labels).item<float>());
    telemetry().mistakes.push_back((logits.argmax(1) != batch.labels).sum().item<int64_t>());
  });
}

double Trainer::evaluate(const std::vector<Batch>& batches) {
  torch::NoGradGuard no_grad;
  model_->eval();
  int64_t right = 0, all = 0;
  for (const Batch& batch : batches) {
    tensorscope::Scope scope;
    const auto guess = model_->forward(batch.features).argmax(1);
    right += (guess == batch.labels).sum().item<int64_t>();
    all += batch.labels.size(0);
  }
  model_->train();
  return static_cast<double>(right) / static_cast<double>(all);
}

void Trainer::keep_if_best(double accuracy) {
  if (accuracy <= best_.accuracy) return;
  timed("checkpoint", [&] {
    std::vector<torch::Tensor> copies;
    for (const auto& parameter : model_->parameters()) copies.push_back(parameter.detach().clone());
    best_.weights = tensorscope::retain(copies);
    best_.accuracy = accuracy;
  });
}

void Trainer::restore_best() {
  torch::NoGradGuard no_grad;
  const auto parameters = model_->parameters();
  for (size_t i = 0; i < parameters.size(); ++i) parameters[i].copy_(best_.weights[i]);
}

} // namespace example
