// SPDX-License-Identifier: Apache-2.0
// What only looks like growth: each of these programs prints nothing. The first argument says which.
#include <tensorscope/tensorscope.h>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace nn = torch::nn;

static std::deque<at::Tensor> ring;
static std::map<int, at::Tensor> cache;
static std::deque<at::Tensor> results_of_scopes;

static at::Tensor forward(nn::Linear& net) { return net->forward(torch::rand({8, 16})).tanh(); }

static void train(int steps, const std::function<void(nn::Linear&, int)>& each) {
  nn::Linear net(16, 4);
  torch::optim::Adam optimizer(net->parameters(), 0.01);
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    forward(net).pow(2).mean().backward();
    optimizer.step();
    each(net, step);
  }
}

static void collect_results() {
  const torch::NoGradGuard guard;
  nn::Linear net(16, 4);
  std::vector<at::Tensor> answers;
  for (int i = 0; i < 60; ++i) {
    answers.push_back(forward(net));
  }
}

/// Full after a thousand.
static void fill_a_buffer() {
  std::deque<at::Tensor> replay;
  for (int i = 0; i < 3000; ++i) {
    replay.push_back(torch::rand({64, 64}) * 2);
    if (replay.size() > 1000) {
      replay.pop_front();
    }
  }
}

/// The list of an epoch, with the graphs.
static void clear_each_epoch() {
  std::vector<at::Tensor> losses;
  train(200, [&](nn::Linear& net, int step) {
    losses.push_back(forward(net).sum());
    if (step % 40 == 39) {
      losses.clear();
    }
  });
}

/// Kept to the end of the epoch, looked at, and dropped.
static void evaluate() {
  for (int epoch = 0; epoch < 4; ++epoch) {
    train(20, [](nn::Linear&, int) {});
    const torch::NoGradGuard guard;
    nn::Linear net(16, 4);
    std::vector<at::Tensor> outputs;
    for (int i = 0; i < 50; ++i) {
      outputs.push_back(forward(net));
    }
    (void)torch::cat(outputs).mean().item<float>();
  }
}

/// What the latest scopes retained, and what they returned.
static void keep_a_ring() {
  nn::Linear net(16, 4);
  for (int i = 0; i < 200; ++i) {
    tensorscope::with_torch([&] { ring.push_back(tensorscope::retain(forward(net).detach() * 2)); });
    results_of_scopes.push_back(tensorscope::with_torch([&] { return forward(net).detach() + 1; }));
    if (ring.size() > 12) {
      ring.pop_front();
      results_of_scopes.pop_front();
    }
  }
}

/// One for each key, and there are twenty keys.
static void fill_a_cache() {
  for (int i = 0; i < 400; ++i) {
    tensorscope::with_torch([&] {
      const int key = i % 20;
      if (cache.count(key) == 0) {
        cache[key] = tensorscope::retain(torch::rand({key + 1, 16}) * 2);
      }
      (void)cache[key].sum().item<float>();
    });
  }
}

/// A single long episode whose log probabilities one backward pass needs.
static void run_an_episode() {
  nn::Linear net(16, 4);
  std::vector<at::Tensor> log_probabilities;
  for (int i = 0; i < 120; ++i) {
    log_probabilities.push_back(torch::log_softmax(forward(net), 1).select(1, 0).sum());
  }
  torch::stack(log_probabilities).sum().backward();
}

/// The sum over a batch, made one by one, of which one backward pass is taken.
static void sum_over_a_batch() {
  train(5, [](nn::Linear& net, int) {
    auto total = torch::zeros({});
    for (int i = 0; i < 64; ++i) {
      total = total + forward(net).sum();
    }
    total.backward();
  });
}

/// A sequence, step by step; the state begins anew with the next.
static void unroll() {
  nn::Linear cell(16, 16);
  for (int sequence = 0; sequence < 6; ++sequence) {
    auto state = torch::zeros({2, 16});
    for (int i = 0; i < 50; ++i) {
      state = torch::tanh(cell->forward(torch::rand({2, 16})) + state);
    }
    state.sum().backward();
    cell->zero_grad();
  }
}

/// Steps of an inner optimization that the outer one looks through.
static void learn_to_learn() {
  const auto rate = torch::tensor(0.1, torch::requires_grad());
  auto weights = torch::rand({4, 4}, torch::requires_grad());
  for (int inner = 0; inner < 20; ++inner) {
    const auto loss = (weights * weights).sum();
    weights = weights - rate * torch::autograd::grad({loss}, {weights}, {}, true, true)[0];
  }
  weights.sum().backward();
}

/// Rows of a table that is there anyway.
static void keep_rows() {
  const auto table = torch::rand({500, 64});
  std::vector<at::Tensor> rows;
  for (int i = 0; i < 200; ++i) {
    rows.push_back(table[i]);
  }
  (void)torch::stack(rows).sum().item<float>();
}

/// Copies for workers, which then work.
static void copy_for_workers() {
  const auto weights = torch::rand({32, 32});
  std::vector<at::Tensor> copies;
  for (int i = 0; i < 32; ++i) {
    copies.push_back(weights.clone());
  }
  for (int step = 0; step < 20; ++step) {
    for (auto& copy : copies) {
      copy.mul_(0.9).add_(torch::rand({32, 32}));
    }
  }
}

/// A data set that is read and then learned from.
static void read_data() {
  std::vector<at::Tensor> data;
  for (int i = 0; i < 300; ++i) {
    data.push_back((torch::rand({128, 128}) * 2 - 1).contiguous());
  }
  nn::Linear net(128, 1);
  for (int epoch = 0; epoch < 8; ++epoch) {
    for (const auto& batch : data) {
      (void)net->forward(batch).mean().item<float>();
    }
  }
}

/// The last output lives until the next takes its place.
static void keep_the_last() {
  at::Tensor last;
  train(60, [&](nn::Linear& net, int) { last = forward(net); });
}

int main(int, char** argv) {
  const std::map<std::string, std::function<void()>> ways{
      {"results", collect_results}, {"buffer", fill_a_buffer},     {"epochs", clear_each_epoch}, {"evaluation", evaluate},
      {"ring", keep_a_ring},        {"cache", fill_a_cache},       {"episode", run_an_episode},  {"batch", sum_over_a_batch},
      {"sequences", unroll},        {"inner_steps", learn_to_learn}, {"rows", keep_rows},        {"copies", copy_for_workers},
      {"data", read_data},          {"last", keep_the_last}};
  ways.at(argv[1])();
}
