// SPDX-License-Identifier: Apache-2.0
// Autograd functions of the user's, checkpointing by hand, derivatives of derivatives and forward-mode ones.
#include "scope_test.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/forward_grad.h>

namespace tensorscope_test {
namespace {

using namespace torch;
using autograd::AutogradContext;
using autograd::variable_list;

/// Saves in each of the ways that there are.
struct Scaled : autograd::Function<Scaled> {
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& weight, double factor) {
    auto powers = x.exp(), rank = torch::argsort(x);
    context->save_for_backward({x, weight, powers});
    context->saved_data["factor"] = factor;
    context->saved_data["list"] = std::vector<Tensor>{x * factor};
    context->saved_data["one"] = powers * 2;
    context->mark_non_differentiable({rank});
    return {powers * weight * factor, rank};
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto saved = context->get_saved_variables();
    const auto factor = context->saved_data["factor"].toDouble();
    EXPECT_NO_THROW(value(context->saved_data["list"].toTensorVector()[0]));
    EXPECT_NO_THROW(value(context->saved_data["one"].toTensor()));
    return {grads[0] * saved[2] * saved[1] * factor, grads[0] * saved[2] * factor, Tensor()};
  }
};

TEST(CustomFunctionsTest, EverythingThatAKeptOneSavedIsThereForItsBackward) {
  auto weight = torch::full({4}, 2.0, requires_grad());
  auto outputs = with_torch([&] { return Scaled::apply(torch::zeros({4}, requires_grad()), weight, 3.0); });
  EXPECT_NO_THROW(value(outputs[1]));
  outputs[0].sum().backward();
  EXPECT_EQ(value(weight.grad()), 12);
}

TEST(CustomFunctionsTest, InTheScopeItselfNothingOfTheModelIsReleased) {
  auto weight = torch::full({4}, 2.0, requires_grad());
  Tensor escaped;
  for (int i = 0; i < 3; ++i)
    with_torch([&] {
      auto outputs = Scaled::apply(torch::zeros({4}), weight, 3.0);
      outputs[0].sum().backward();
      escaped = outputs[1];
    });
  EXPECT_EQ(value(weight), 8);
  EXPECT_EQ(value(weight.grad()), 36);
  use_after_release([&] { value(escaped); });
}

struct InPlace : autograd::Function<InPlace> {
  static Tensor forward(AutogradContext* context, Tensor x) {
    context->mark_dirty({x});
    at::AutoDispatchBelowADInplaceOrView below;
    x.mul_(2);
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0] * 2};
  }
};

TEST(CustomFunctionsTest, AnOlderTensorThatOneWritesToStays) {
  auto leaf = torch::ones({3}, requires_grad());
  auto older = leaf * 1;
  with_torch([&] { InPlace::apply(older); });
  older.sum().backward();
  EXPECT_EQ(value(older), 6);
  EXPECT_EQ(value(leaf.grad()), 6);
}

// --- checkpointing by hand --------------------------------------------------------

/// Runs `segment` without a graph, and again in backward(); there in a scope of its own if asked.
struct Checkpoint : autograd::Function<Checkpoint> {
  using Segment = std::function<Tensor(const Tensor&)>;
  static Tensor forward(AutogradContext* context, const Tensor& x, Segment* segment, bool scoped) {
    context->save_for_backward({x});
    context->saved_data["segment"] = reinterpret_cast<int64_t>(segment);
    context->saved_data["scoped"] = scoped;
    return (*segment)(x);
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    auto& segment = *reinterpret_cast<Segment*>(context->saved_data["segment"].toInt());
    const auto recompute = [&]() -> Tensor {
      at::AutoGradMode with_graph(true);
      auto x = context->get_saved_variables()[0].detach().requires_grad_();
      segment(x).backward(grads[0]);
      return x.grad();
    };
    if (!context->saved_data["scoped"].toBool())
      return {recompute(), Tensor(), Tensor()};
    return {with_torch(recompute), Tensor(), Tensor()};
  }
};

std::vector<Tensor> train_with_checkpoints(bool scoped, bool scoped_inside, bool checkpointed) {
  manual_seed(11);
  nn::Linear first(6, 6), second(6, 6);
  optim::Adam optimizer({first->weight, first->bias, second->weight, second->bias});
  Checkpoint::Segment one = [&](const Tensor& x) { return torch::tanh(first(x)); };
  Checkpoint::Segment two = [&](const Tensor& x) { return torch::tanh(second(x)); };
  for (int i = 0; i < 4; ++i)
    maybe_scoped(scoped, [&] {
      optimizer.zero_grad();
      auto x = torch::randn({5, 6}, requires_grad());
      if (checkpointed)
        Checkpoint::apply(Checkpoint::apply(x, &one, scoped_inside), &two, scoped_inside).pow(2).sum().backward();
      else
        two(one(x)).pow(2).sum().backward();
      optimizer.step();
    });
  auto results = snapshot(*first), more = snapshot(*second);
  results.insert(results.end(), more.begin(), more.end());
  return results;
}

TEST(CustomFunctionsTest, CheckpointingByHandGivesTheSameBits) {
  const auto plain = train_with_checkpoints(false, false, false);
  EXPECT_TRUE(same_bits(plain, train_with_checkpoints(false, false, true)));
  EXPECT_TRUE(same_bits(plain, train_with_checkpoints(true, false, true)));
  EXPECT_TRUE(same_bits(plain, train_with_checkpoints(true, true, true)));
  EXPECT_TRUE(same_bits(plain, train_with_checkpoints(false, true, true)));
}

TEST(CustomFunctionsTest, ACheckpointInAReturnedLossRunsLater) {
  nn::Linear layer(4, 4);
  Checkpoint::Segment segment = [&](const Tensor& x) { return layer(x).tanh(); };
  auto loss = with_torch([&] {
    return Checkpoint::apply(torch::ones({2, 4}, requires_grad()), &segment, true).sum();
  });
  with_torch([&] { loss.backward(); });
  EXPECT_NO_THROW((void)(value(layer->weight.grad()) + value(layer->weight)));
}

// --- derivatives of derivatives, and forward mode ---------------------------------------

TEST(CustomFunctionsTest, AGradientPenaltyTrainsToTheSameBits) {
  std::vector<Tensor> results[2];
  for (bool scoped : {false, true}) {
    manual_seed(2);
    auto net = nn::Sequential(nn::Linear(4, 8), nn::Tanh(), nn::Linear(8, 1));
    optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1).momentum(0.9));
    for (int i = 0; i < 4; ++i)
      maybe_scoped(scoped, [&] {
        optimizer.zero_grad();
        auto x = torch::randn({5, 4}, requires_grad());
        auto out = net->forward(x);
        auto slope = autograd::grad({out}, {x}, {torch::ones_like(out)}, true, true)[0];
        (out.mean() + (slope.norm() - 1).pow(2)).backward();
        optimizer.step();
      });
    results[scoped] = snapshot(*net);
  }
  EXPECT_TRUE(same_bits(results[0], results[1]));
}

TEST(CustomFunctionsTest, ASecondDerivativeOfAReturnedFirstOne) {
  auto w = torch::full({3}, 2.0, requires_grad());
  auto slope = with_torch([&] {
    auto cube = w.pow(3).sum();
    return autograd::grad({cube}, {w}, {}, true, true)[0];
  });
  auto curvature = with_torch([&] { return autograd::grad({slope.sum()}, {w})[0]; });
  EXPECT_EQ(value(slope), 36);
  EXPECT_EQ(value(curvature), 36);
}

TEST(CustomFunctionsTest, TangentsOfForwardModeFollowTheirTensors) {
  const auto level = autograd::ForwardADLevel::get_next_idx();
  {
    auto weight = torch::full({3}, 2.0);
    auto dual = with_torch([&] {
      auto seeded = at::_make_dual(weight, torch::full({3}, 5.0), static_cast<int64_t>(level));
      return seeded * seeded;
    });
    const auto [primal, tangent] = at::_unpack_dual(dual, static_cast<int64_t>(level));
    EXPECT_EQ(value(primal), 12);
    EXPECT_EQ(value(tangent), 60);
    EXPECT_EQ(value(weight), 6);
  }
  autograd::ForwardADLevel::release_idx(level);
}

TEST(CustomFunctionsTest, AnOlderTensorThatIsGivenATangentInTheScope) {
  const auto level = autograd::ForwardADLevel::get_next_idx();
  {
    auto older = torch::zeros({3});
    with_torch([&] {
      auto dual = at::_make_dual(torch::full({3}, 2.0), torch::full({3}, 5.0), static_cast<int64_t>(level));
      older.add_(dual * 2);
    });
    EXPECT_EQ(value(older), 12);
    EXPECT_EQ(value(older._fw_grad(level)), 30);
  }
  autograd::ForwardADLevel::release_idx(level);
}

TEST(CustomFunctionsTest, TensorsOfInferenceModeAreTheScopesToo) {
  nn::Linear net(3, 2);
  Tensor escaped;
  auto kept = with_torch([&] {
    c10::InferenceMode inference;
    escaped = net(torch::ones({1, 3}));
    return net(torch::ones({1, 3}));
  });
  EXPECT_TRUE(kept.is_inference());
  EXPECT_NO_THROW((void)(value(kept) + value(net->weight)));
  use_after_release([&] { value(escaped); });
}

} // namespace
} // namespace tensorscope_test
