// SPDX-License-Identifier: Apache-2.0
// The pool as first written: a warm-up that keeps what it made, workers without a scope, and a view that outlives one.
#include "worker_pool.h"

#include <tensorscope/tensorscope.h>

#include <utility>

namespace example {

/// A scoped forward pass; its result is the caller's.
static torch::Tensor scores(Classifier& model, const torch::Tensor& features) {
  return tensorscope::with_torch([&] { return torch::softmax(model->forward(features), -1); });
}

WorkerPool::WorkerPool(Classifier model, int workers) : model_(std::move(model)) {
  model_->eval();
  scores(model_, torch::zeros({1, 2})); // PLANTED discarded-scope-result
  for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void WorkerPool::submit(Job job) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(std::move(job));
  }
  changed_.notify_all();
}

void WorkerPool::finish() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && busy_ == 0; });
}

bool WorkerPool::next(Job& job) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
  if (waiting_.empty()) return false;
  job = std::move(waiting_.front());
  waiting_.pop_front();
  ++busy_;
  return true;
}

void WorkerPool::work() {
  torch::NoGradGuard no_grad;
  Job job;
  while (next(job)) { // PLANTED unscoped-loop
    const auto probabilities = torch::softmax(model_->forward(job.batch.features), -1);
    const auto sure = (std::get<0>(probabilities.max(1)) > 0.9).sum().item<int64_t>();
    score(job);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      points_ += job.batch.labels.size(0);
      sure_ += sure;
      --busy_;
    }
    changed_.notify_all();
  }
}

void WorkerPool::score(const Job& job) {
  tensorscope::with_torch([&] {
    const auto probabilities = torch::softmax(model_->forward(job.batch.features), -1);
    std::lock_guard<std::mutex> lock(mutex_);
    results_[job.id] = probabilities.narrow(1, 0, 1); // PLANTED unretained-escape
  });
}

torch::Tensor WorkerPool::result(int id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = results_.find(id);
  return found == results_.end() ? torch::Tensor() : found->second;
}

int64_t WorkerPool::points_scored() {
  std::lock_guard<std::mutex> lock(mutex_);
  return points_;
}

} // namespace example
