// SPDX-License-Identifier: Apache-2.0
// Nothing that LibTorch keeps is ever released by a scope: modules, statistics, loaded state, scripted constants.
#include "scope_test.h"

namespace tensorscope_test {
namespace {

using namespace torch;

TEST(LibraryOwnershipTest, ModulesMovedInAScopeSurvive) {
  nn::Linear linear(3, 3), by_device(3, 3), by_both(3, 3);
  NoGradGuard no_grad;
  linear->weight.fill_(1);
  linear->bias.fill_(0);
  with_torch([&] {
    linear->to(kDouble);
    by_device->to(kCPU);
    by_both->to(kCPU, kDouble);
  });
  EXPECT_EQ(value(linear(torch::ones({1, 3}, kDouble))), 9);
  EXPECT_NO_THROW(value(by_device(torch::ones({1, 3}))));
  EXPECT_NO_THROW(value(by_both(torch::ones({1, 3}, kDouble))));
}

TEST(LibraryOwnershipTest, RunningStatisticsSurvive) {
  std::vector<Tensor> results[2];
  for (bool scoped : {false, true}) {
    manual_seed(3);
    nn::BatchNorm1d norm(5);
    nn::InstanceNorm1d instance(nn::InstanceNorm1dOptions(5).track_running_stats(true));
    for (int i = 0; i < 4; ++i)
      maybe_scoped(scoped, [&] {
        norm(torch::randn({7, 5}));
        instance(torch::randn({2, 5, 7}));
      });
    results[scoped] = snapshot(*norm);
    for (auto& buffer : instance->buffers())
      results[scoped].push_back(buffer.clone());
  }
  EXPECT_TRUE(same_bits(results[0], results[1]));
}

TEST(LibraryOwnershipTest, ModulesAndOptimizersLoadedInAScopeSurvive) {
  nn::Linear source(4, 4), target(4, 4);
  optim::Adam trained(source->parameters()), fresh(target->parameters());
  source(torch::ones({1, 4})).sum().backward();
  trained.step();
  std::stringstream model, state;
  torch::save(source, model);
  torch::save(trained, state);
  with_torch([&] {
    torch::load(target, model);
    torch::load(fresh, state);
  });
  EXPECT_TRUE(torch::equal(source->weight, target->weight));
  target(torch::ones({1, 4})).sum().backward();
  EXPECT_NO_THROW(fresh.step());
  EXPECT_NO_THROW(value(target->weight));
}

TEST(LibraryOwnershipTest, ATensorLoadedInAScopeAndReturnedIsWhole) {
  std::stringstream stream;
  torch::save(torch::full({3}, 2.0), stream);
  auto loaded = with_torch([&] {
    Tensor tensor;
    torch::load(tensor, stream);
    return tensor;
  });
  EXPECT_EQ(value(loaded), 6);
}

struct Counter : nn::Module {
  Tensor total = register_buffer("total", torch::zeros({3}));
  void add(const Tensor& x) {
    total.add_(x);
  }
  void replace(const Tensor& x) {
    total = total + x;
  }
};

TEST(LibraryOwnershipTest, BuffersWrittenInPlaceSurviveAndReplacedMembersEscape) {
  Counter counter;
  with_torch([&] { counter.add(torch::ones({3})); });
  EXPECT_EQ(value(counter.total), 3);
  with_torch([&] { counter.replace(torch::ones({3})); });
  use_after_release([&] { value(counter.total); });
  EXPECT_EQ(value(counter.named_buffers()["total"]), 3);
}

TEST(LibraryOwnershipTest, ModulesRegisteredInAnAdoptedModuleSurvive) {
  nn::Sequential net(nn::Linear(3, 3));
  tensorscope::adopt(net);
  with_torch([&] { net->push_back(nn::Linear(3, 2)); });
  EXPECT_NO_THROW(value(net->forward(torch::ones({1, 3}))));
}

TEST(LibraryOwnershipTest, AModuleClonedInAScopeGoesWithItUnlessReturned) {
  nn::Linear linear(3, 3);
  std::shared_ptr<nn::Module> escaped;
  with_torch([&] { escaped = linear->clone(); });
  auto kept = with_torch([&] { return linear->clone(); });
  use_after_release([&] { value(escaped->parameters()[0]); });
  EXPECT_TRUE(torch::equal(kept->parameters()[0], linear->weight));
}

// --- TorchScript --------------------------------------------------------------

TEST(LibraryOwnershipTest, ConstantsFoldedInAScopeSurvive) {
  auto unit = jit::compile(R"(
def f(x):
    c = torch.ones([3]) * 2
    d = torch.arange(3) + 1
    return x + c + d
)");
  NoGradGuard no_grad;
  const auto run = [&] { return value(unit->run_method("f", torch::ones({3})).toTensor()); };
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(with_torch(run), 15);
  EXPECT_EQ(run(), 15);
}

jit::Module scripted() {
  jit::Module module("M");
  module.register_parameter("w", torch::ones({3}), false);
  module.register_buffer("seen", torch::zeros({3}));
  module.register_attribute("cache", ListType::ofTensors(), c10::List<Tensor>());
  module.define(R"(
def forward(self, x):
    return x + self.w * 2
def weight(self):
    return self.w
def see(self, x):
    self.seen += x
    return self.seen
def remember(self, x):
    self.cache.append(x * 2)
)");
  module.eval();
  return module;
}

TEST(LibraryOwnershipTest, AFrozenModuleSurvives) {
  auto module = scripted();
  auto plain = jit::Module("P");
  plain.register_parameter("w", torch::ones({3}), false);
  plain.define("def forward(self, x):\n    return x + self.w * 2\n");
  plain.eval();
  auto frozen = with_torch([&] { return jit::freeze(plain); });
  jit::Module stored;
  with_torch([&] { stored = jit::freeze(plain); });
  EXPECT_EQ(value(frozen.forward({torch::ones({3})}).toTensor()), 9);
  EXPECT_EQ(value(stored.forward({torch::ones({3})}).toTensor()), 9);
  EXPECT_EQ(value(plain.forward({torch::ones({3})}).toTensor()), 9);
}

/// A convolution and a batch norm, and two linear layers: what freezing folds into new weights.
jit::Module foldable() {
  jit::Module module("F");
  module.register_parameter("w", torch::ones({4, 3, 3, 3}), false);
  module.register_parameter("b", torch::ones({4}), false);
  module.register_buffer("mean", torch::full({4}, 0.5));
  module.register_buffer("var", torch::full({4}, 2.0));
  module.register_parameter("w1", torch::ones({5, 16}), false);
  module.register_parameter("w2", torch::ones({5, 16}), false);
  module.define(R"(
def forward(self, x):
    y = torch.conv2d(x, self.w, self.b)
    y = torch.batch_norm(y, self.b, self.b, self.mean, self.var, False, 0.1, 0.00001, False)
    y = torch.mul(y, 0.125).reshape(1, 16)
    return torch.linear(y, self.w1) + torch.linear(y, self.w2)
)");
  module.eval();
  return module;
}

TEST(LibraryOwnershipTest, WeightsThatFreezingFoldsSurvive) {
  NoGradGuard no_grad;
  const auto module = foldable();
  const auto input = torch::ones({1, 3, 4, 4});
  const double expected = value(jit::Module(module).forward({input}).toTensor());
  auto returned = with_torch([&] { return jit::freeze(module); });
  jit::Module stored, prepared;
  with_torch([&] {
    stored = jit::freeze(module);
    auto copy = module.clone();
    prepared = tensorscope::retain(jit::optimize_for_inference(copy)); // the copy's weights are the scope's
  });
  for (auto* one : {&returned, &stored, &prepared})
    for (int run = 0; run < 3; ++run)
      EXPECT_NEAR(value(one->forward({input}).toTensor()), expected, 1e-3 * std::abs(expected));
}

TEST(LibraryOwnershipTest, AttributesThatAScriptedModuleReturnsSurvive) {
  auto module = scripted();
  Tensor weight, seen;
  for (int i = 0; i < 3; ++i)
    with_torch([&] {
      weight = module.run_method("weight").toTensor();
      seen = module.run_method("see", torch::ones({3})).toTensor();
      (void)module.forward({torch::ones({3})});
    });
  EXPECT_EQ(value(weight), 3);
  EXPECT_EQ(value(seen), 9);
  EXPECT_EQ(value(module.forward({torch::ones({3})}).toTensor()), 9);
  EXPECT_EQ(value(module.attr("seen").toTensor()), 9);
}

TEST(LibraryOwnershipTest, WhatAnAdoptedScriptedModuleRemembersSurvives) {
  auto module = scripted();
  tensorscope::adopt(module);
  with_torch([&] { module.run_method("remember", torch::ones({3})); });
  EXPECT_EQ(value(module.attr("cache").toTensorVector().at(0)), 6);
}

TEST(LibraryOwnershipTest, AScriptedModuleLoadedOrMovedInAScopeSurvives) {
  auto module = scripted(), moved = scripted();
  std::stringstream stream;
  module.save(stream);
  jit::Module loaded;
  with_torch([&] {
    loaded = jit::load(stream);
    moved.to(kDouble);
  });
  EXPECT_EQ(value(loaded.forward({torch::ones({3})}).toTensor()), 9);
  EXPECT_EQ(value(moved.forward({torch::ones({3}, kDouble)}).toTensor()), 9);
}

TEST(LibraryOwnershipTest, ResultsOfAScriptedModuleAreTheScopes) {
  auto module = scripted();
  Tensor escaped;
  auto kept = with_torch([&] {
    escaped = module.forward({torch::ones({3})}).toTensor();
    return module.forward({torch::ones({3})});
  });
  EXPECT_EQ(value(kept.toTensor()), 9);
  use_after_release([&] { value(escaped); });
}

// --- a user's own optimizer ------------------------------------------------------

class Momentum : public optim::Optimizer {
 public:
  explicit Momentum(std::vector<Tensor> parameters)
      : Optimizer(std::move(parameters), std::make_unique<optim::SGDOptions>(0.1)) {}
  Tensor step(LossClosure = nullptr) override {
    NoGradGuard no_grad;
    for (auto& group : param_groups_)
      for (auto& parameter : group.params()) {
        auto& velocity = velocities_[parameter.unsafeGetTensorImpl()];
        if (!velocity.defined())
          velocity = torch::zeros_like(parameter);
        velocity.mul_(0.9).add_(parameter.grad());
        parameter.add_(velocity, -0.1);
      }
    return {};
  }

 private:
  std::map<void*, Tensor> velocities_;
  template <class Visitor>
  friend void tensorscope_members(Visitor& visitor, const Momentum& optimizer) {
    visitor(optimizer.velocities_);
  }
};

TEST(LibraryOwnershipTest, AnAdoptedOptimizerOfTheUsersKeepsItsState) {
  std::vector<Tensor> results[2];
  for (bool scoped : {false, true}) {
    manual_seed(1);
    auto net = make_net();
    Momentum optimizer(net->parameters());
    const auto adoption = tensorscope::adopt(optimizer);
    for (int i = 0; i < 4; ++i)
      maybe_scoped(scoped, [&] {
        optimizer.zero_grad();
        loss_of(net).backward();
        optimizer.step();
      });
    results[scoped] = snapshot(*net);
  }
  EXPECT_TRUE(same_bits(results[0], results[1]));
}

TEST(LibraryOwnershipTest, AnUnknownOptimizersStateIsAnEscapeWithAClearError) {
  nn::Linear net(3, 2);
  Momentum optimizer(net->parameters());
  const auto step = [&] {
    optimizer.zero_grad();
    net(torch::ones({4, 3})).sum().backward();
    optimizer.step();
  };
  with_torch(step);
  use_after_release([&] { with_torch(step); });
  EXPECT_NO_THROW(value(net->weight));
}

} // namespace
} // namespace tensorscope_test
