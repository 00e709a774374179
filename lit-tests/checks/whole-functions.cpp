// SPDX-License-Identifier: Apache-2.0
// Functions as people write them, under all checks at once: what is right stays silent, what is wrong gets the one
// finding that names it.
// RUN: %check_tidy %s tensorscope-* %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace F = torch::nn::functional;
using tensorscope::with_torch;

struct Batch {
  torch::Tensor data, target;
};
using Loader = std::vector<Batch>;

struct Net : torch::nn::Module {
  torch::nn::Linear first{nullptr}, second{nullptr};
  Net() {
    first = register_module("first", torch::nn::Linear(13, 31));
    second = register_module("second", torch::nn::Linear(31, 7));
  }
  torch::Tensor forward(const torch::Tensor &x) { return second(torch::relu(first(x))); }
};
void log_value(const char *name, double value);

//===- Training -----------------------------------------------------------===//

// The canonical loop, with early stopping on a number.
void train(Net &net, const Loader &loader, int epochs) {
  torch::optim::Adam optimizer(net.parameters());
  double best = std::numeric_limits<double>::max();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    double total = 0;
    for (const auto &batch : loader) {
      total += with_torch([&] {
        optimizer.zero_grad();
        auto loss = F::cross_entropy(net.forward(batch.data), batch.target);
        loss.backward();
        torch::nn::utils::clip_grad_norm_(net.parameters(), 1.0);
        optimizer.step();
        return loss.item<double>();
      });
    }
    log_value("loss", total / loader.size());
    if (total > best)
      break;
    best = total;
  }
}

// Gradients accumulated over several batches.
void accumulate(Net &net, torch::optim::Optimizer &optimizer, const Loader &loader, size_t every) {
  size_t seen = 0;
  for (const auto &batch : loader) {
    tensorscope::Scope scope;
    auto loss = F::mse_loss(net.forward(batch.data), batch.target) / static_cast<double>(every);
    loss.backward();
    if (++seen % every == 0) {
      optimizer.step();
      optimizer.zero_grad();
    }
  }
}

// A closure that LBFGS calls several times.
void withClosure(Net &net, torch::optim::LBFGS &optimizer, const Batch &batch, int steps) {
  for (int step = 0; step < steps; ++step) {
    with_torch([&] {
      auto closure = [&] {
        optimizer.zero_grad();
        auto loss = F::mse_loss(net.forward(batch.data), batch.target);
        loss.backward();
        return loss;
      };
      return optimizer.step(closure).item<double>();
    });
  }
}

// Weights averaged in place over time.
void averageWeights(const std::vector<torch::Tensor> &average, Net &net) {
  torch::NoGradGuard no_grad;
  const auto parameters = net.parameters();
  for (size_t i = 0; i < parameters.size(); ++i)
    average[i].mul_(0.99).add_(parameters[i], 0.01);
}

// The best weights, copied outside of any scope.
std::vector<torch::Tensor> snapshot(const Net &net) {
  std::vector<torch::Tensor> copies;
  for (const auto &parameter : net.parameters())
    copies.push_back(parameter.detach().clone());
  return copies;
}

// The running loss is a tensor that is written in place; the scope owns what it adds.
double runningLoss(Net &net, const Loader &loader) {
  auto total = torch::zeros({1});
  for (const auto &batch : loader)
    with_torch([&] { total += F::mse_loss(net.forward(batch.data), batch.target).detach(); });
  return total.item<double>();
}

// A sum that is built anew in each scope is gone after it.
double lostSum(Net &net, const Loader &loader) {
  auto total = torch::zeros({1});
  for (const auto &batch : loader) {
    with_torch([&] {
      total = total + F::mse_loss(net.forward(batch.data), batch.target).detach();
      // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: tensor made in this scope is stored in 'total', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
      // CHECK-MESSAGES: :[[@LINE-2]]:21: warning: use of 'total' after its scope ended on some path: its memory is gone; return it from the scope or 'retain' it [tensorscope-use-after-release]
    });
  }
  return total.item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: use of 'total' after its scope ended on some path: its memory is gone; return it from the scope or 'retain' it [tensorscope-use-after-release]
}

// Retained, it lives; the one before it is dropped.
double keptSum(Net &net, const Loader &loader) {
  auto total = torch::zeros({1});
  for (const auto &batch : loader) {
    with_torch([&] {
      total = tensorscope::retain(total + F::mse_loss(net.forward(batch.data), batch.target).detach());
    });
  }
  return total.item<double>();
}

// Truncated backpropagation through time: the state is carried as a result.
void recurrent(Net &net, torch::optim::Optimizer &optimizer, const Loader &loader) {
  torch::Tensor state = torch::zeros({1, 13});
  for (const auto &batch : loader) {
    state = with_torch([&] {
      optimizer.zero_grad();
      auto next = net.forward(batch.data + state);
      F::mse_loss(next, batch.target).backward();
      optimizer.step();
      return next.detach();
    });
  }
  log_value("state", state.norm().item<double>());
}

//===- Evaluation ---------------------------------------------------------===//

double accuracy(Net &net, const Loader &loader) {
  torch::NoGradGuard no_grad;
  net.eval();
  int64_t right = 0, all = 0;
  for (const auto &batch : loader) {
    auto [r, n] = with_torch([&] {
      auto guess = net.forward(batch.data).argmax(1);
      return std::make_pair(guess.eq(batch.target).sum().item<int64_t>(), batch.target.size(0));
    });
    right += r;
    all += n;
  }
  return static_cast<double>(right) / static_cast<double>(all);
}

double accuracyWithNoScope(Net &net, const Loader &loader) {
  torch::NoGradGuard no_grad;
  int64_t right = 0;
  for (const auto &batch : loader) {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    auto guess = net.forward(batch.data).argmax(1);
    right += guess.eq(batch.target).sum().item<int64_t>();
  }
  return static_cast<double>(right);
}

// All predictions of a data set, one tensor at the end.
torch::Tensor predictAll(Net &net, const Loader &loader) {
  std::vector<torch::Tensor> parts;
  for (const auto &batch : loader)
    parts.push_back(with_torch([&] { return net.forward(batch.data).detach(); }));
  return torch::cat(parts);
}

// The same without a scope: a list is being built.
torch::Tensor predictAllPlainly(Net &net, const Loader &loader) {
  std::vector<torch::Tensor> parts;
  for (const auto &batch : loader)
    parts.push_back(net.forward(batch.data));
  return torch::cat(parts);
}

//===- Sampling -----------------------------------------------------------===//

// Beam search: the beams of the next step are a result.
std::vector<torch::Tensor> beamSearch(Net &net, const torch::Tensor &start, int length) {
  std::vector<torch::Tensor> beams{start};
  for (int i = 0; i < length; ++i) {
    beams = with_torch([&] {
      std::vector<torch::Tensor> next;
      for (const auto &beam : beams) {
        auto [values, indices] = net.forward(beam).topk(3);
        for (int64_t k = 0; k < 3; ++k)
          next.push_back(torch::cat({beam, indices.narrow(-1, k, 1)}, -1));
      }
      return next;
    });
  }
  return beams;
}

// Metropolis sampling: the state moves on some steps.
torch::Tensor metropolis(const std::function<torch::Tensor(const torch::Tensor &)> &energy, torch::Tensor state,
                         int steps) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform;
  for (int i = 0; i < steps; ++i) {
    state = with_torch([&] {
      auto proposal = state + torch::randn_like(state) * 0.1;
      const double change = (energy(state) - energy(proposal)).item<double>();
      return std::log(uniform(random)) < change ? proposal : state;
    });
  }
  return state;
}

// A replay buffer that is bounded: what goes in is retained, what goes out is released.
struct Replay {
  std::deque<Batch> items;
  size_t capacity = 1013;

  void add(const torch::Tensor &observation, const torch::Tensor &reward) {
    with_torch([&] {
      Batch kept{(observation - 3).div_(5), reward.clone()};
      tensorscope::retain(kept);
      items.push_back(kept);
    });
    if (items.size() > capacity) {
      tensorscope::release(items.front());
      items.pop_front();
    }
  }
  void addCarelessly(const torch::Tensor &observation, const torch::Tensor &reward) {
    with_torch([&] {
      Batch kept{(observation - 3).div_(5), reward.clone()};
      items.push_back(kept);
      // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: tensor made in this scope is stored in 'items[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    });
  }
};

//===- Caches and services ------------------------------------------------===//

class Cache {
public:
  torch::Tensor get(int key) {
    auto found = entries.find(key);
    if (found != entries.end())
      return found->second;
    auto made = with_torch([&] { return torch::randn({13, 7}) * key; });
    entries.emplace(key, made);
    return made;
  }
  void forget(int key) {
    auto found = entries.find(key);
    if (found == entries.end())
      return;
    tensorscope::release(found->second);
    entries.erase(found);
  }
  void clear() {
    for (auto &[key, entry] : entries)
      tensorscope::release(entry);
    entries.clear();
  }
  double forgetLoudly(int key) {
    auto entry = entries.at(key);
    entries.erase(key);
    tensorscope::release(entry);
    return entry.norm().item<double>();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: use of 'entry' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
  }

private:
  std::map<int, torch::Tensor> entries;
};

// Lazily made, once.
class Positions {
public:
  const torch::Tensor &get(int64_t length) {
    std::call_once(once, [&] { table = torch::arange(length); });
    return table;
  }
  torch::Tensor scoped(int64_t length) {
    if (!table.defined())
      table = with_torch([&] { return torch::arange(length).sin(); });
    return table;
  }

private:
  std::once_flag once;
  torch::Tensor table;
};

// A worker with a scope per job.
class Worker {
public:
  explicit Worker(std::shared_ptr<Net> net) : net(std::move(net)) {}
  void run() {
    torch::NoGradGuard no_grad;
    while (running) {
      std::optional<Batch> job = next();
      if (!job)
        continue;
      auto scores = with_torch([&] { return torch::softmax(net->forward(job->data), -1); });
      std::lock_guard<std::mutex> lock(mutex);
      results.push_back(std::move(scores));
      // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'results' grows each time 'run' runs, and nothing in this file takes a tensor out of it; limit its size, or empty it when its tensors have been used [tensorscope-unbounded-container]
    }
  }
  void runWithNoScope() {
    while (running) {
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
      std::optional<Batch> job = next();
      if (!job)
        continue;
      log_value("score", torch::softmax(net->forward(job->data), -1).max().item<double>());
    }
  }

private:
  std::optional<Batch> next() {
    std::lock_guard<std::mutex> lock(mutex);
    if (jobs.empty())
      return std::nullopt;
    Batch job = jobs.front();
    jobs.pop();
    return job;
  }
  std::shared_ptr<Net> net;
  std::atomic<bool> running{true};
  std::mutex mutex;
  std::queue<Batch> jobs;
  std::vector<torch::Tensor> results;
};

// An error in a step ends the scope; the loop goes on.
void retries(Net &net, const Loader &loader) {
  for (const auto &batch : loader) {
    try {
      with_torch([&] { return net.forward(batch.data).sum().item<double>(); });
    } catch (const c10::Error &error) {
      log_value(error.what(), 0);
    }
  }
}

// A buffer that is filled row by row in scopes.
torch::Tensor fillBuffer(Net &net, const Loader &loader) {
  auto buffer = torch::empty({static_cast<int64_t>(loader.size()), 7});
  int64_t row = 0;
  for (const auto &batch : loader) {
    tensorscope::Scope scope;
    buffer[row++] = net.forward(batch.data).mean(0);
  }
  return buffer;
}
