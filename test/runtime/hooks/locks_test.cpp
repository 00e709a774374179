// SPDX-License-Identifier: Apache-2.0
// No two threads meet at a lock of ours on the way of an operator, whatever is watched: 16 of them train in scopes, and
// each lock that the library takes meanwhile is counted.
#include "lock_counter.h"

#include <tensorscope/tensorscope.h>

#include <torch/torch.h>

#include <gtest/gtest.h>

#include <barrier>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace {

namespace nn = torch::nn;

constexpr int threads_at_once = 16;
constexpr int rounds = 60;
constexpr int rounds_to_warm_up = 20;

/// Runs `work(thread, round)` on all threads at once, the first rounds uncounted.
template <class Work>
lock_counter::Count count_once(Work work) {
  lock_counter::Count count;
  std::barrier start(threads_at_once, []() noexcept { lock_counter::start("libtensorscope.so"); });
  std::barrier end(threads_at_once, [&]() noexcept { count = lock_counter::stop(); });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < threads_at_once; ++thread)
    threads.emplace_back([&, thread] {
      for (int round = 0; round < rounds_to_warm_up; ++round)
        work(thread, round);
      start.arrive_and_wait();
      for (int round = 0; round < rounds; ++round)
        work(thread, round);
      end.arrive_and_wait();
    });
  for (auto& thread : threads)
    thread.join();
  return count;
}

/// What is met for the first time, such as a stack, is entered into a table under a lock, and some is met late. So a count
/// that is not zero is taken again; of a lock on the usual way none is ever zero.
template <class Work>
lock_counter::Count count_locks(Work work) {
  auto count = count_once(work);
  for (int again = 0; again < 3 && count.shared != 0; ++again)
    count = count_once(work);
  return count;
}

std::string text_of(const lock_counter::Count& count) {
  std::string text;
  for (const auto& example : count.examples)
    text += "\n  " + example;
  return text;
}

TEST(LocksTest, OperatorsInScopesMeetAtNoLock) {
  std::vector<std::size_t> live(threads_at_once);
  const auto count = count_locks([&](int thread, int) {
    tensorscope::with_torch([&] {
      const lock_counter::Watched watched;
      auto a = torch::ones({8 + thread}), b = torch::ones({8 + thread});
      for (int i = 0; i < 50; ++i)
        b = torch::relu(a + b) * 0.5;
      auto few = torch::stack({a, b}).sum(0).view({-1, 1});
      live[thread] += few.numel();
    });
  });
  EXPECT_EQ(count.shared, 0u) << text_of(count);
}

TEST(LocksTest, TrainingStepsInScopesMeetAtNoLock) {
  struct Training {
    nn::Sequential net{nn::Linear(8, 16), nn::ReLU(), nn::Linear(16, 4)};
    torch::optim::Adam optimizer{net->parameters(), torch::optim::AdamOptions(1e-3)};
    torch::Tensor data = torch::randn({4, 8});
    torch::Tensor target = torch::randint(0, 4, {4});
  };
  std::vector<Training> all(threads_at_once);
  const auto count = count_locks([&](int thread, int) {
    auto& training = all[thread];
    tensorscope::with_torch([&] {
      const lock_counter::Watched watched;
      training.optimizer.zero_grad();
      auto loss = nn::functional::cross_entropy(training.net->forward(training.data), training.target);
      loss.backward();
      training.optimizer.step();
      return loss.item<float>();
    });
  });
  EXPECT_EQ(count.shared, 0u) << text_of(count);
}

TEST(LocksTest, OperatorsWithoutScopesMeetAtNoLock) {
  std::vector<torch::Tensor> kept(threads_at_once);
  const auto count = count_locks([&](int thread, int) {
    const lock_counter::Watched watched;
    kept[thread] = torch::ones({3, 3}).matmul(torch::ones({3, 3})) + 1;
  });
  EXPECT_EQ(count.shared, 0u) << text_of(count);
}

// What is explicit may lock; and were nothing ever counted, the others would show nothing.
TEST(LocksTest, ALockThatThreadsShareIsCounted) {
  const auto count = count_locks([&](int, int) {
    const lock_counter::Watched watched;
    std::vector<torch::Tensor> tensors{torch::ones({2})};
    const auto owner = tensorscope::adopt(tensors);
  });
  EXPECT_GE(count.shared, static_cast<std::uint64_t>(threads_at_once) * rounds);
}

} // namespace
