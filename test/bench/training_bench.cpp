// SPDX-License-Identifier: Apache-2.0
// The workloads whose costs compare.py compares: training steps, a small operator, an empty scope.
// Built with and without the library; see CMakeLists.txt.
#include "resnet.h"

#include <tensorscope/tensorscope.h>

#include <torch/torch.h>

#include <benchmark/benchmark.h>

namespace {

namespace nn = torch::nn;

/// 128-256-256-10 on batches of 64, trained by Adam.
struct Training {
  nn::Sequential net{nn::Linear(128, 256), nn::ReLU(), nn::Linear(256, 256), nn::ReLU(), nn::Linear(256, 10)};
  torch::optim::Adam optimizer{net->parameters(), torch::optim::AdamOptions(1e-3)};
  torch::Tensor data = torch::randn({64, 128});
  torch::Tensor target = torch::randint(0, 10, {64});

  float step() {
    optimizer.zero_grad();
    auto loss = nn::functional::cross_entropy(net->forward(data), target);
    loss.backward();
    optimizer.step();
    return loss.item<float>();
  }
};

void training_step(benchmark::State& state) {
  torch::manual_seed(1);
  Training training;
  for (int i = 0; i < 20; ++i)
    training.step();
  for (auto _ : state)
    benchmark::DoNotOptimize(training.step());
}
BENCHMARK(training_step)->Unit(benchmark::kMicrosecond);

void training_step_in_scopes(benchmark::State& state) {
  torch::manual_seed(1);
  Training training;
  for (int i = 0; i < 20; ++i)
    tensorscope::with_torch([&] { return training.step(); });
  for (auto _ : state)
    benchmark::DoNotOptimize(tensorscope::with_torch([&] { return training.step(); }));
}
BENCHMARK(training_step_in_scopes)->Unit(benchmark::kMicrosecond);

/// Forward and backward of eight pictures.
struct Pictures {
  bench::ResNet18 net;
  torch::Tensor data = torch::randn({8, 3, 64, 64});
  torch::Tensor target = torch::randint(0, 1000, {8});

  float step() {
    net->zero_grad();
    auto loss = nn::functional::cross_entropy(net->forward(data), target);
    loss.backward();
    return loss.item<float>();
  }
};

void resnet_in_scopes(benchmark::State& state) {
  torch::manual_seed(1);
  Pictures pictures;
  tensorscope::with_torch([&] { return pictures.step(); });
  for (auto _ : state)
    benchmark::DoNotOptimize(tensorscope::with_torch([&] { return pictures.step(); }));
}
BENCHMARK(resnet_in_scopes)->Unit(benchmark::kMillisecond);

constexpr int additions = 1000;

void small_addition(benchmark::State& state) {
  auto a = torch::ones({8}), b = torch::ones({8});
  for (auto _ : state)
    for (int i = 0; i < additions; ++i)
      benchmark::DoNotOptimize(a + b);
  state.SetItemsProcessed(state.iterations() * additions);
}
BENCHMARK(small_addition)->Unit(benchmark::kMicrosecond);

void small_addition_in_scopes(benchmark::State& state) {
  auto a = torch::ones({8}), b = torch::ones({8});
  for (auto _ : state)
    tensorscope::with_torch([&] {
      for (int i = 0; i < additions; ++i)
        benchmark::DoNotOptimize(a + b);
    });
  state.SetItemsProcessed(state.iterations() * additions);
}
BENCHMARK(small_addition_in_scopes)->Unit(benchmark::kMicrosecond);

void empty_scope(benchmark::State& state) {
  for (auto _ : state)
    tensorscope::Scope scope;
}
BENCHMARK(empty_scope);

void scope_with_one_tensor(benchmark::State& state) {
  for (auto _ : state)
    tensorscope::with_torch([] { benchmark::DoNotOptimize(torch::empty({8})); });
}
BENCHMARK(scope_with_one_tensor);

} // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
