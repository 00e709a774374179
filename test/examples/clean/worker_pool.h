// SPDX-License-Identifier: Apache-2.0
// Threads that score batches with one model. Scopes belong to a thread: each worker opens its own.
#pragma once

#include "../common/classifier.h"
#include "../common/dataset.h"

#include <torch/torch.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace example {

struct Job {
  int id = 0;
  Batch batch;
};

class WorkerPool {
 public:
  WorkerPool(Classifier model, int workers);
  ~WorkerPool();

  void submit(Job job);

  /// Waits until all jobs are done.
  void finish();

  /// The probabilities of one job, [batch, arms]; undefined for an unknown one.
  torch::Tensor result(int id);

  int64_t points_scored();

 private:
  void work();
  bool next(Job& job);
  void score(const Job& job);

  Classifier model_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::unordered_map<int, torch::Tensor> results_;
  int64_t points_ = 0;
  int busy_ = 0;
  bool closed_ = false;
};

} // namespace example
