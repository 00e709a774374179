// SPDX-License-Identifier: Apache-2.0
// The canonical training loop, with every optimizer of LibTorch: the same bits as without scopes, flat memory.
#include "scope_test.h"

namespace tensorscope_test {
namespace {

using namespace torch::optim;

constexpr int steps = 500;

struct Outcome {
  std::vector<Tensor> weights;
  std::vector<float> losses;
  std::int64_t bytes_after_10 = 0, bytes_at_end = 0;
  std::uint64_t storages_after_10 = 0, storages_at_end = 0;
  std::size_t heap_after_50 = 0, heap_at_end = 0;
};

template <class Optimizer, class Options>
Outcome train(bool scoped, Options options) {
  MemoryWitness witness;
  torch::manual_seed(7);
  auto net = make_net();
  Optimizer optimizer(net->parameters(), options);
  Outcome outcome;
  outcome.losses.reserve(steps);
  const auto data = torch::randn({64, 16});
  const auto target = torch::randint(0, 4, {64});
  const auto step = [&] {
    const auto evaluate = [&] {
      optimizer.zero_grad();
      auto prediction = net->forward(data);
      auto loss = torch::nn::functional::cross_entropy(prediction, target);
      loss.backward();
      return loss;
    };
    if constexpr (std::is_same_v<Optimizer, LBFGS>) {
      return optimizer.step(evaluate).template item<float>();
    } else {
      auto loss = evaluate();
      optimizer.step();
      return loss.template item<float>();
    }
  };
  for (int i = 1; i <= steps; ++i) {
    outcome.losses.push_back(scoped ? with_torch(step) : step());
    if (i == 10) {
      outcome.bytes_after_10 = witness.bytes();
      outcome.storages_after_10 = live_storages();
    }
    if (i == 50)
      outcome.heap_after_50 = heap_bytes();
  }
  outcome.bytes_at_end = witness.bytes();
  outcome.storages_at_end = live_storages();
  outcome.heap_at_end = heap_bytes();
  outcome.weights = snapshot(*net);
  return outcome;
}

template <class Optimizer, class Options>
void expect_the_same_training(Options options) {
  const auto without = train<Optimizer>(false, options);
  const auto created_before = tensorscope::stats().total().created;
  const auto with = train<Optimizer>(true, options);
  EXPECT_GT(tensorscope::stats().total().created, created_before + 3 * steps) << "the scopes owned nothing";
  EXPECT_TRUE(same_bits(without.weights, with.weights));
  EXPECT_EQ(without.losses, with.losses);
  EXPECT_GT(with.bytes_after_10, 16 * 32 * 4) << "the witness saw nothing";
  EXPECT_EQ(with.bytes_after_10, with.bytes_at_end);
  EXPECT_EQ(with.storages_after_10, with.storages_at_end);
  // Our own books may grow to a fixed size; a tensor kept each step would be 450 times 512 bytes at least.
  EXPECT_LT(with.heap_at_end, with.heap_after_50 + 64 * 1024);
}

TEST(TrainingLoopTest, Sgd) {
  expect_the_same_training<SGD>(SGDOptions(0.01).momentum(0.9));
}
TEST(TrainingLoopTest, Adam) {
  expect_the_same_training<Adam>(AdamOptions(1e-3).amsgrad(true));
}
TEST(TrainingLoopTest, AdamW) {
  expect_the_same_training<AdamW>(AdamWOptions(1e-3));
}
TEST(TrainingLoopTest, RmsProp) {
  expect_the_same_training<RMSprop>(RMSpropOptions(1e-3).momentum(0.5).centered(true));
}
TEST(TrainingLoopTest, Adagrad) {
  expect_the_same_training<Adagrad>(AdagradOptions(1e-2));
}
TEST(TrainingLoopTest, Lbfgs) {
  expect_the_same_training<LBFGS>(LBFGSOptions(0.05).max_iter(3).history_size(5));
}
TEST(TrainingLoopTest, LbfgsWithALineSearch) {
  expect_the_same_training<LBFGS>(LBFGSOptions(0.05).max_iter(3).history_size(5).line_search_fn("strong_wolfe"));
}

// The first step of an optimizer makes its state inside the scope; it must be there outside of it.
template <class Optimizer, class Options>
void expect_state_survives(Options options) {
  torch::manual_seed(3);
  auto net = make_net();
  Optimizer optimizer(net->parameters(), options);
  const auto closure = [&] {
    optimizer.zero_grad();
    auto loss = loss_of(net);
    loss.backward();
    return loss;
  };
  with_torch([&] { optimizer.step(closure); });
  EXPECT_NO_THROW(optimizer.step(closure));
  tensorscope::detail::for_each_tensor(optimizer, [](const Tensor& tensor) { EXPECT_NO_THROW(value(tensor)); });
}

TEST(TrainingLoopTest, StateMadeInAScopeServesStepsOutsideOfIt) {
  expect_state_survives<SGD>(SGDOptions(0.01).momentum(0.9));
  expect_state_survives<Adam>(AdamOptions(1e-3));
  expect_state_survives<AdamW>(AdamWOptions(1e-3));
  expect_state_survives<RMSprop>(RMSpropOptions(1e-3).momentum(0.5));
  expect_state_survives<Adagrad>(AdagradOptions(1e-2));
  expect_state_survives<LBFGS>(LBFGSOptions(0.05).max_iter(3));
}

TEST(TrainingLoopTest, ModelAndOptimizerMadeInAScopeGoWithIt) {
  std::shared_ptr<torch::nn::SequentialImpl> kept;
  with_torch([&] {
    auto net = make_net();
    Adam optimizer(net->parameters(), AdamOptions(1e-3));
    optimizer.zero_grad();
    loss_of(net).backward();
    optimizer.step();
    kept = net.ptr();
  });
  use_after_release([&] { kept->forward(torch::randn({8, 16})); });
}

TEST(TrainingLoopTest, AModelReturnedFromAScopeTrainsOn) {
  auto net = with_torch([] { return make_net(); });
  SGD optimizer(net->parameters(), 0.1);
  for (int i = 0; i < 3; ++i)
    with_torch([&] {
      optimizer.zero_grad();
      loss_of(net).backward();
      optimizer.step();
    });
  EXPECT_NO_THROW(snapshot(*net));
}

} // namespace
} // namespace tensorscope_test
