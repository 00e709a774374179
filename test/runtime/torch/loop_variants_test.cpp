// SPDX-License-Identifier: Apache-2.0
// What real training code does inside a scope besides the canonical loop: all must give the bits it gives without.
#include "scope_test.h"

namespace tensorscope_test {
namespace {

using namespace torch;

/// One run of a variant: what it trains, what else it keeps, and its step.
struct Trained {
  nn::Sequential net = make_net();
  std::vector<Tensor> kept;
  std::unique_ptr<optim::Optimizer> optimizer;
  explicit Trained(bool adam = true) {
    if (adam)
      optimizer = std::make_unique<optim::Adam>(net->parameters(), optim::AdamOptions(1e-2));
    else
      optimizer = std::make_unique<optim::SGD>(net->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  }
  std::vector<Tensor> all() const {
    auto tensors = snapshot(*net);
    for (const auto& tensor : kept)
      tensors.push_back(tensor.detach().clone());
    return tensors;
  }
};

/// Runs `step(setup, i)` a few times with and without scopes and compares all bits.
template <class Step>
void expect_same_bits(Step step, bool adam = true) {
  std::vector<Tensor> results[2];
  for (bool scoped : {false, true}) {
    manual_seed(11);
    Trained setup(adam);
    for (int i = 0; i < 6; ++i)
      maybe_scoped(scoped, [&] { step(setup, i); });
    results[scoped] = setup.all();
  }
  EXPECT_TRUE(same_bits(results[0], results[1]));
}

TEST(LoopVariantsTest, ZeroGradThatKeepsTheGradients) {
  expect_same_bits(
      [](Trained& s, int) {
        s.optimizer->zero_grad(false);
        loss_of(s.net).backward();
        s.optimizer->step();
      },
      false);
}

TEST(LoopVariantsTest, ClippedGradientNorms) {
  expect_same_bits([](Trained& s, int) {
    s.optimizer->zero_grad();
    loss_of(s.net).backward();
    nn::utils::clip_grad_norm_(s.net->parameters(), 0.01);
    s.optimizer->step();
  });
}

TEST(LoopVariantsTest, ClippedGradientValues) {
  expect_same_bits([](Trained& s, int) {
    s.optimizer->zero_grad();
    loss_of(s.net).backward();
    nn::utils::clip_grad_value_(s.net->parameters(), 0.001);
    s.optimizer->step();
  });
}

TEST(LoopVariantsTest, GradientsAccumulatedOverTwoScopes) {
  expect_same_bits([](Trained& s, int i) {
    if (i % 2 == 0)
      s.optimizer->zero_grad();
    loss_of(s.net).backward();
    for (auto& parameter : s.net->parameters())
      parameter.grad().div_(2);
    if (i % 2 == 1)
      s.optimizer->step();
  });
}

TEST(LoopVariantsTest, AnAverageOfTheWeights) {
  expect_same_bits([](Trained& s, int) {
    if (s.kept.empty())
      for (auto& parameter : s.net->parameters())
        s.kept.push_back(tensorscope::retain(parameter.detach().clone()));
    s.optimizer->zero_grad();
    loss_of(s.net).backward();
    s.optimizer->step();
    NoGradGuard no_grad;
    size_t k = 0;
    for (auto& parameter : s.net->parameters())
      s.kept[k++].lerp_(parameter, 0.1);
  });
}

TEST(LoopVariantsTest, CheckpointsAndAChangedLearningRate) {
  expect_same_bits([](Trained& s, int) {
    s.optimizer->zero_grad();
    loss_of(s.net).backward();
    s.optimizer->step();
    std::stringstream model, optimizer;
    torch::save(s.net, model);
    torch::save(*s.optimizer, optimizer);
    s.optimizer->param_groups()[0].options().set_lr(1e-4);
  });
}

TEST(LoopVariantsTest, CheckpointsLoadedIntoTheOlderModelAndOptimizer) {
  expect_same_bits([](Trained& s, int i) {
    std::stringstream model, optimizer;
    torch::save(s.net, model);
    torch::save(*s.optimizer, optimizer);
    s.optimizer->zero_grad();
    loss_of(s.net).backward();
    s.optimizer->step();
    if (i % 2 == 0) {
      torch::load(s.net, model);
      torch::load(*s.optimizer, optimizer);
    }
  });
}

TEST(LoopVariantsTest, BestWeightsCopiedIntoAnOlderClone) {
  std::vector<Tensor> results[2];
  for (bool scoped : {false, true}) {
    manual_seed(11);
    Trained setup;
    auto best = std::dynamic_pointer_cast<nn::SequentialImpl>(setup.net->clone());
    for (int i = 0; i < 4; ++i)
      maybe_scoped(scoped, [&] {
        setup.optimizer->zero_grad();
        loss_of(setup.net).backward();
        setup.optimizer->step();
        NoGradGuard no_grad;
        auto slots = best->named_parameters();
        for (auto& item : setup.net->named_parameters())
          slots[item.key()].copy_(item.value());
      });
    results[scoped] = snapshot(*best);
  }
  EXPECT_TRUE(same_bits(results[0], results[1]));
}

TEST(LoopVariantsTest, StepsThatTakeAClosure) {
  for (bool adam : {true, false})
    expect_same_bits(
        [](Trained& s, int) {
          s.optimizer->step([&] {
            s.optimizer->zero_grad();
            auto loss = loss_of(s.net);
            loss.backward();
            return loss;
          });
        },
        adam);
}

TEST(LoopVariantsTest, WhatAClosureLetsEscapeIsReleased) {
  Trained s;
  Tensor escaped;
  with_torch([&] {
    s.optimizer->step([&] {
      escaped = torch::ones({3});
      s.optimizer->zero_grad();
      auto loss = loss_of(s.net);
      loss.backward();
      return loss;
    });
  });
  use_after_release([&] { value(escaped); });
  EXPECT_NO_THROW(s.all());
}

TEST(LoopVariantsTest, GradientsAssignedByTheUser) {
  expect_same_bits([](Trained& s, int i) {
    if (i % 3 != 2)
      s.optimizer->zero_grad();
    loss_of(s.net).backward();
    for (auto& parameter : s.net->parameters())
      parameter.mutable_grad() = parameter.grad() / 2; // as an all-reduce does
    s.optimizer->step();
  });
}

TEST(LoopVariantsTest, ReducedPrecisionCopiesOfTheWeights) {
  expect_same_bits([](Trained& s, int) {
    s.optimizer->zero_grad();
    for (auto& parameter : s.net->parameters())
      (void)parameter.to(kBFloat16);
    loss_of(s.net).backward();
    s.optimizer->step();
  });
}

TEST(LoopVariantsTest, AScheduler) {
  std::vector<Tensor> results[2];
  for (bool scoped : {false, true}) {
    manual_seed(11);
    Trained setup;
    optim::StepLR scheduler(*setup.optimizer, 1, 0.5);
    for (int i = 0; i < 4; ++i)
      maybe_scoped(scoped, [&] {
        setup.optimizer->zero_grad();
        loss_of(setup.net).backward();
        setup.optimizer->step();
        scheduler.step();
      });
    results[scoped] = setup.all();
  }
  EXPECT_TRUE(same_bits(results[0], results[1]));
}

TEST(LoopVariantsTest, AScalarLeafWhoseLossIsItsOwnGraph) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto a = torch::zeros({}, requires_grad()), b = torch::zeros({}, requires_grad());
    for (int i = 0; i < 3; ++i)
      with_torch([&] { (a + b).backward(); });
    EXPECT_EQ(a.grad().item<double>(), 3);
    EXPECT_EQ(b.grad().item<double>(), 3);
  }
}

TEST(LoopVariantsTest, GradientsGivenToBackward) {
  auto a = torch::zeros({3}, requires_grad()), b = torch::zeros({3}, requires_grad());
  with_torch([&] {
    auto given = torch::ones({3});
    (a + 0).backward(given);
    torch::autograd::backward({b + 0}, {torch::ones({3})});
  });
  EXPECT_EQ(value(a.grad()), 3);
  EXPECT_EQ(value(b.grad()), 3);
}

TEST(LoopVariantsTest, Embeddings) {
  auto embedding = nn::Embedding(10, 4);
  optim::SGD optimizer(embedding->parameters(), 0.1);
  for (int i = 0; i < 3; ++i)
    with_torch([&] {
      optimizer.zero_grad();
      embedding(torch::tensor({1, 2, 3})).sum().backward();
      optimizer.step();
    });
  EXPECT_NO_THROW(value(embedding->weight));
}

TEST(LoopVariantsTest, RecurrentAndAttentionLayers) {
  nn::LSTM lstm(4, 4);
  nn::MultiheadAttention attention(nn::MultiheadAttentionOptions(8, 2));
  for (int i = 0; i < 3; ++i)
    with_torch([&] {
      lstm->flatten_parameters();
      std::get<0>(lstm(torch::ones({2, 1, 4}))).sum().backward();
      auto x = torch::randn({3, 2, 8});
      auto [output, weights] = attention(x, x, x);
      output.sum().backward();
    });
  for (const auto& parameter : lstm->parameters())
    EXPECT_NO_THROW((void)(value(parameter) + value(parameter.grad())));
  for (const auto& parameter : attention->parameters())
    EXPECT_NO_THROW(value(parameter));
}

} // namespace
} // namespace tensorscope_test
