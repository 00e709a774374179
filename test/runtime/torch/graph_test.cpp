// SPDX-License-Identifier: Apache-2.0
// What a later backward() needs is kept, and gives the gradients that it gives without scopes.
#include "scope_test.h"

namespace tensorscope_test {
namespace {

using namespace torch;

/// Gradients of a fresh network after `body(net, scoped)`.
template <class Body>
std::vector<Tensor> gradients(bool scoped, Body body) {
  manual_seed(5);
  auto net = make_net();
  body(net, scoped);
  return snapshot(*net);
}

template <class Body>
void expect_same_gradients(Body body) {
  EXPECT_TRUE(same_bits(gradients(false, body), gradients(true, body)));
}

/// A loss from a scope, or from no scope.
template <class Body>
Tensor scoped_result(bool scoped, Body&& body) {
  return scoped ? with_torch(body) : body();
}

TEST(GraphTest, ALossReturnedFromAScopeCanBeBackwarded) {
  expect_same_gradients([](nn::Sequential& net, bool scoped) {
    auto loss = scoped_result(scoped, [&] { return loss_of(net); });
    loss.backward();
  });
}

TEST(GraphTest, ARetainedLossCanBeBackwarded) {
  expect_same_gradients([](nn::Sequential& net, bool scoped) {
    Tensor loss;
    maybe_scoped(scoped, [&] { loss = tensorscope::retain(loss_of(net)); });
    loss.backward();
  });
}

TEST(GraphTest, AnOlderTensorThatCollectedLossesCanBeBackwarded) {
  expect_same_gradients([](nn::Sequential& net, bool scoped) {
    auto total = torch::zeros({});
    for (int i = 0; i < 5; ++i)
      maybe_scoped(scoped, [&] { total += loss_of(net); });
    total.backward();
  });
}

TEST(GraphTest, AnOlderTensorThatWasAddedToInPlaceCanBeBackwarded) {
  auto x = torch::arange(3.0).requires_grad_();
  auto out = torch::zeros({3});
  with_torch([&] { out += x.exp(); });
  with_torch([&] { out *= x.cos(); });
  out.sum().backward();
  auto expected = torch::arange(3.0).requires_grad_();
  (expected.exp() * expected.cos()).sum().backward();
  EXPECT_TRUE(torch::equal(x.grad(), expected.grad()));
}

TEST(GraphTest, ASliceOfAnOlderTensorThatWasWrittenToCanBeBackwarded) {
  auto x = torch::arange(4.0).requires_grad_();
  auto buffer = torch::zeros({3, 4});
  for (int i = 0; i < 3; ++i)
    with_torch([&] { buffer[i] = (x * i).sin(); });
  buffer.sum().backward();
  auto y = torch::arange(4.0).requires_grad_();
  auto plain = torch::zeros({3, 4});
  for (int i = 0; i < 3; ++i)
    plain[i] = (y * i).sin();
  plain.sum().backward();
  EXPECT_TRUE(torch::equal(x.grad(), y.grad()));
}

TEST(GraphTest, GradientsWithAGraphCanBeBackwardedLater) {
  auto run = [](bool scoped) {
    auto w = torch::arange(1.0, 4.0).requires_grad_();
    maybe_scoped(scoped, [&] { (w * w).exp().sum().backward({}, true, true); });
    auto first = w.grad();
    w.mutable_grad() = Tensor();
    first.sum().backward();
    return std::vector<Tensor>{first.detach().clone(), w.grad().clone()};
  };
  EXPECT_TRUE(same_bits(run(false), run(true)));
}

TEST(GraphTest, ResultsOfAutogradGradCanBeBackwardedLater) {
  auto run = [](bool scoped) {
    auto w = torch::arange(1.0, 4.0).requires_grad_();
    auto gradient = scoped_result(scoped, [&] {
      return torch::autograd::grad({(w * w).exp().sum()}, {w}, {}, true, true)[0];
    });
    gradient.pow(2).sum().backward();
    return std::vector<Tensor>{w.grad().clone()};
  };
  EXPECT_TRUE(same_bits(run(false), run(true)));
}

TEST(GraphTest, LossesOfManyScopesSummedLaterCanBeBackwarded) {
  expect_same_gradients([](nn::Sequential& net, bool scoped) {
    std::vector<Tensor> losses;
    for (int i = 0; i < 7; ++i)
      losses.push_back(scoped_result(scoped, [&] { return loss_of(net); }));
    torch::stack(losses).mean().backward();
  });
}

TEST(GraphTest, BackwardMayRunTwiceThroughAKeptGraph) {
  expect_same_gradients([](nn::Sequential& net, bool scoped) {
    auto loss = scoped_result(scoped, [&] { return loss_of(net); });
    loss.backward({}, true);
    loss.backward();
  });
}

/// exp(x) * 2x with what it saves in both ways that LibTorch offers.
struct SavesBothWays : autograd::Function<SavesBothWays> {
  static Tensor forward(autograd::AutogradContext* context, const Tensor& x) {
    auto y = x.exp(), z = x * 2;
    context->save_for_backward({y});
    context->saved_data["z"] = z;
    return y.clone();
  }
  static autograd::variable_list backward(autograd::AutogradContext* context, autograd::variable_list gradients) {
    return {gradients[0] * context->get_saved_variables()[0] * context->saved_data["z"].toTensor()};
  }
};

TEST(GraphTest, WhatACustomFunctionSavedIsKept) {
  auto run = [](bool scoped) {
    auto x = torch::arange(4.0).requires_grad_();
    auto loss = scoped_result(scoped, [&] { return SavesBothWays::apply(x).sum(); });
    loss.backward();
    return std::vector<Tensor>{x.grad().clone()};
  };
  EXPECT_TRUE(same_bits(run(false), run(true)));
}

TEST(GraphTest, ConvolutionsPoolingAndIndexingAreKept) {
  auto run = [](bool scoped) {
    manual_seed(2);
    nn::Sequential net(nn::Conv2d(1, 3, 3), nn::MaxPool2d(2), nn::GELU(), nn::Flatten(), nn::Linear(27, 5));
    nn::Embedding table(10, 5);
    auto loss = scoped_result(scoped, [&] {
      auto scores = net->forward(torch::randn({2, 1, 8, 8})) + table(torch::tensor({3, 7}));
      auto picked = scores.index({torch::indexing::Slice(), torch::tensor({0, 2, 4})});
      return nn::functional::cross_entropy(picked, torch::tensor({1, 2}));
    });
    loss.backward();
    auto all = snapshot(*net);
    all.push_back(table->weight.grad().clone());
    return all;
  };
  EXPECT_TRUE(same_bits(run(false), run(true)));
}

TEST(GraphTest, WhatNoGraphNeedsIsReleased) {
  auto w = torch::ones({4}, requires_grad());
  Tensor needed, unneeded, loss;
  loss = with_torch([&] {
    needed = w.exp();
    unneeded = torch::ones({4});
    return (needed * needed).sum();
  });
  EXPECT_NO_THROW(value(needed));
  use_after_release([&] { value(unneeded); });
}

TEST(GraphTest, AKeptGraphGoesWithItsLoss) {
  auto w = torch::ones({64, 64}, requires_grad());
  const auto kept_before = tensorscope::stats().total().graph;
  MemoryWitness witness;
  auto loss = with_torch([&] { return w.exp().sin().exp().sum(); });
  // The result of each exp is needed; that of sin is not.
  EXPECT_EQ(witness.bytes(), 2 * 64 * 64 * 4 + 4);
  EXPECT_EQ(tensorscope::stats().total().graph, kept_before + 2);
  loss = Tensor();
  EXPECT_EQ(witness.bytes(), 0);
}

TEST(GraphTest, ADetachedResultKeepsNoGraph) {
  auto w = torch::ones({64, 64}, requires_grad());
  MemoryWitness witness;
  auto loss = with_torch([&] { return w.exp().sin().exp().sum().detach(); });
  EXPECT_EQ(witness.bytes(), 4);
  EXPECT_NEAR(value(loss), 64 * 64 * std::exp(std::sin(std::exp(1.0))), 1);
}

/// Runs while the leaf's node holds its lock.
struct ScopeInHook : autograd::PostAccumulateGradHook {
  explicit ScopeInHook(Tensor& made, Tensor& let_go) : result(made), escaped(let_go) {}
  void operator()(const Tensor& leaf) override {
    const AutoGradMode with_graph(true);
    result = with_torch([&] {
      escaped = torch::ones({3});
      return (leaf * 2).exp().sum();
    });
  }
  Tensor& result;
  Tensor& escaped;
};

TEST(GraphTest, AScopeInTheHookOfALeafTellsWhatItsGraphsNeed) {
  Tensor result, escaped;
  auto w = torch::ones({3}, requires_grad());
  autograd::impl::set_post_acc_grad_hooks(w, std::make_unique<ScopeInHook>(result, escaped));
  w.sum().backward();
  use_after_release([&] { value(escaped); });
  autograd::impl::set_post_acc_grad_hooks(w, nullptr);
  w.mutable_grad() = Tensor();
  result.backward();
  EXPECT_NEAR(value(w.grad()), 6 * std::exp(2.0), 1e-4);
}

/// A step whose operators make things inside for their backward pass: indices, statistics, probabilities.
Tensor loss_with_inner_tensors(nn::Sequential& net) {
  return nn::functional::cross_entropy(net->forward(torch::randn({4, 1, 8, 8})), torch::arange(4));
}

nn::Sequential make_convolutional_net() {
  return nn::Sequential(nn::Conv2d(1, 3, 3), nn::BatchNorm2d(3), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(27, 5));
}

TEST(GraphTest, WhatOperatorsMadeInsideForAKeptGraphIsCountedWithIt) {
  auto net = make_convolutional_net();
  with_torch([&] { return loss_with_inner_tensors(net); });
  const auto before = tensorscope::stats().total();
  MemoryWitness witness;
  auto loss = with_torch([&] { return loss_with_inner_tensors(net); });
  const auto after = tensorscope::stats().total();
  const auto kept = after.graph_bytes - before.graph_bytes;
  EXPECT_EQ(witness.bytes(), static_cast<std::int64_t>(kept) + 4) << "but for the loss itself, all of it is the graph's";
  EXPECT_GT(after.graph, before.graph + 3);
  loss.backward();
}

TEST(GraphTest, AnEscapedLossLeavesNothingOfItsGraph) {
  auto net = make_convolutional_net();
  std::vector<Tensor> escaped;
  with_torch([&] { escaped.push_back(loss_with_inner_tensors(net)); });
  MemoryWitness witness;
  for (int i = 0; i < 3; ++i)
    with_torch([&] { escaped.push_back(loss_with_inner_tensors(net)); });
  EXPECT_EQ(witness.bytes(), 0);
  for (auto& loss : escaped)
    use_after_release([&] { loss.backward(); });
}

TEST(GraphTest, WhatAnEscapedLossSharesWithAKeptOneStays) {
  auto run = [](bool scoped) {
    manual_seed(4);
    auto net = make_convolutional_net();
    Tensor escaped;
    auto loss = scoped_result(scoped, [&] {
      auto common = loss_with_inner_tensors(net);
      escaped = common.exp();
      return common * 2;
    });
    loss.backward();
    return snapshot(*net);
  };
  EXPECT_TRUE(same_bits(run(false), run(true)));
}

TEST(GraphTest, AnOlderTensorThatAnEscapedGraphAloneHoldsIsNobodysLoss) {
  auto w = torch::ones({4}, requires_grad());
  auto older = torch::full({4}, 2.0);
  auto view = older.view({2, 2});
  Tensor escaped;
  with_torch([&] {
    escaped = (w * older).sum();
    older = Tensor();
  });
  EXPECT_EQ(value(view), 8) << "a view holds the storage";
  auto held = torch::full({4}, 3.0);
  with_torch([&] { escaped = (w * held).sum(); });
  EXPECT_EQ(value(held), 12) << "a handle holds it";
}

TEST(GraphTest, StateCarriedThroughThousandsOfScopesStaysLinear) {
  auto w = torch::full({8}, 0.9, requires_grad());
  auto hidden = torch::ones({8});
  double first = 0, last = 0;
  constexpr int third = 1500;
  for (int i = 0; i < 3 * third; ++i) {
    const auto start = thread_seconds();
    hidden = with_torch([&] { return (hidden * w).tanh(); });
    (i < third ? first : last) += i < third || i >= 2 * third ? thread_seconds() - start : 0;
  }
  EXPECT_LT(last, 3 * first) << "a walk through the whole graph at each end would be five times slower";
  hidden.sum().backward();
  EXPECT_GT(value(w.grad()), 0);
}

} // namespace
} // namespace tensorscope_test
