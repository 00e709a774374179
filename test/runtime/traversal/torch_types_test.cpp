// SPDX-License-Identifier: Apache-2.0
// What is reached through LibTorch's own types.
#include "reached.h"

namespace tensorscope_test {
namespace {

using at::Tensor;
using c10::IValue;
namespace nn = torch::nn;

Tensor t(double n) {
  return torch::full({5}, n);
}

TEST(TorchTypesTest, TensorsAndTheirWrappersAreReached) {
  auto a = t(1);
  EXPECT_EQ(reached(a), these(a));
  EXPECT_EQ(reached(static_cast<const at::TensorBase&>(a)), these(a));
  EXPECT_EQ(reached(c10::MaybeOwned<Tensor>::borrowed(a)), these(a));
  EXPECT_EQ(reached(at::OptionalTensorRef(a)), these(a));
  EXPECT_EQ(reached(at::OptionalTensorRef()), TensorSet{});
  EXPECT_EQ(reached(a.getIntrusivePtr()), these(a));
  EXPECT_EQ(reached(std::vector<at::indexing::TensorIndex>{a, at::indexing::None}), these(a));
}

TEST(TorchTypesTest, IValuesAreReachedAtAnyDepth) {
  auto a = t(1), b = t(2), c = t(3);
  EXPECT_EQ(reached(IValue(a)), these(a));
  EXPECT_EQ(reached(IValue(3)), TensorSet{});
  EXPECT_EQ(reached(IValue(std::vector<Tensor>{a, b})), these(a, b));
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  dict.insert("tuple", c10::ivalue::Tuple::create(a, c10::ivalue::Tuple::create(IValue(b), 3)));
  dict.insert("list", c10::List<Tensor>({c}));
  EXPECT_EQ(reached(IValue(dict)), these(a, b, c));
  EXPECT_EQ(reached(std::vector<IValue>{IValue(a), IValue("text"), IValue(c)}), these(a, c));
}

TEST(TorchTypesTest, AnIValueThatContainsItselfEnds) {
  auto a = t(1);
  c10::impl::GenericList list(c10::AnyType::get());
  list.push_back(a);
  list.push_back(IValue(list));
  EXPECT_EQ(reached(IValue(list)), these(a));
  EXPECT_EQ(reached(list), these(a));
  list.clear(); // or it would leak
}

TEST(TorchTypesTest, TorchContainersAreReached) {
  auto a = t(1), b = t(2);
  c10::Dict<std::string, Tensor> dict;
  dict.insert("a", a);
  torch::OrderedDict<std::string, Tensor> ordered;
  ordered.insert("a", a);
  ordered.insert("b", b);
  EXPECT_EQ(reached(c10::List<Tensor>({a, b})), these(a, b));
  EXPECT_EQ(reached(c10::List<std::optional<Tensor>>({a, std::nullopt})), these(a));
  EXPECT_EQ(reached(c10::List<int64_t>({1, 2})), TensorSet{});
  EXPECT_EQ(reached(dict), these(a));
  EXPECT_EQ(reached(ordered), these(a, b));
  EXPECT_EQ(reached(ordered.items().front()), these(a));
  EXPECT_EQ(reached(c10::ivalue::Tuple::create(a, b)), these(a, b));
  EXPECT_EQ(reached(*c10::ivalue::Tuple::create(a, b)), these(a, b));
}

TEST(TorchTypesTest, DataTypesAreReached) {
  auto a = t(1), b = t(2);
  EXPECT_EQ(reached(torch::data::Example<>(a, b)), these(a, b));
  EXPECT_EQ(reached(torch::data::TensorExample(a)), these(a));
  EXPECT_EQ(reached(torch::data::Example<std::vector<Tensor>, int>({a, b}, 3)), these(a, b));
  auto packed = nn::utils::rnn::pack_padded_sequence(torch::ones({4, 2, 3}), torch::tensor({4, 2}), false, false);
  EXPECT_EQ(reached(packed),
            these(packed.data(), packed.batch_sizes(), packed.sorted_indices(), packed.unsorted_indices()));
}

struct Net : nn::Module {
  nn::Linear hidden{nullptr};
  nn::BatchNorm1d norm{nullptr};
  Tensor scale, counter, unregistered = t(9);
  Net() {
    hidden = register_module("hidden", nn::Linear(3, 5));
    norm = register_module("norm", nn::BatchNorm1d(5));
    scale = register_parameter("scale", torch::ones({5}));
    counter = register_buffer("counter", torch::zeros({}));
  }
};

TensorSet all_of(const nn::Module& module) {
  auto all = these(module.parameters());
  all.merge(these(module.buffers()));
  return all;
}

TEST(TorchTypesTest, ModulesAreReachedWithTheirChildren) {
  auto net = std::make_shared<Net>();
  const auto all = all_of(*net);
  ASSERT_EQ(all.size(), 9u);
  EXPECT_EQ(reached(*net), all);
  EXPECT_EQ(reached(net), all);
  EXPECT_EQ(reached(std::shared_ptr<nn::Module>(net)), all);
  EXPECT_EQ(reached(nn::ModuleHolder<Net>(net)), all);
  EXPECT_EQ(reached(net->hidden), these(net->hidden->weight, net->hidden->bias));
  EXPECT_EQ(reached(nn::Linear(nullptr)), TensorSet{});
  EXPECT_EQ(reached(std::pair<nn::Linear, Tensor>(net->hidden, net->scale)),
            these(net->hidden->weight, net->hidden->bias, net->scale));
}

TEST(TorchTypesTest, ModuleContainersAreReached) {
  nn::Linear first(2, 3), second(3, 1);
  nn::Sequential sequence(first, nn::ReLU(), second);
  nn::ModuleList list(first, second);
  const auto all = these(first->weight, first->bias, second->weight, second->bias);
  EXPECT_EQ(reached(sequence), all);
  EXPECT_EQ(reached(list), all);
  EXPECT_EQ(reached(nn::AnyModule(first)), these(first->weight, first->bias));
  EXPECT_EQ(reached(nn::AnyModule()), TensorSet{});
  nn::ParameterDict parameters;
  parameters->insert("w", t(1));
  EXPECT_EQ(reached(parameters), these(parameters->parameters()));
}

TEST(TorchTypesTest, ScriptedModulesAreReached) {
  torch::jit::Module child("Child"), module("M");
  child.register_parameter("w", t(1), false);
  module.register_parameter("p", t(2), false);
  module.register_buffer("b", t(3));
  module.register_attribute("cache", c10::ListType::ofTensors(), c10::List<Tensor>({t(4)}));
  module.register_module("child", child);
  auto all = these(child.attr("w").toTensor(), module.attr("p").toTensor(), module.attr("b").toTensor());
  all.merge(these(module.attr("cache").toTensorVector()));
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(reached(module), all);
  EXPECT_EQ(reached(IValue(module._ivalue())), all);
  EXPECT_EQ(reached(module._ivalue()), all);
  EXPECT_EQ(reached(std::vector<torch::jit::Module>{child}), these(child.attr("w").toTensor()));
}

template <class Optimizer, class Options>
void expect_parameters_and_state(Options options, int expected_state) {
  nn::Linear net(3, 2);
  Optimizer optimizer(net->parameters(), options);
  auto closure = [&] {
    optimizer.zero_grad();
    auto loss = net(torch::ones({4, 3})).pow(2).mean();
    loss.backward();
    return loss;
  };
  for (int step = 0; step < 3; ++step)
    optimizer.step(closure);
  auto found = reached(optimizer);
  for (const auto& parameter : net->parameters())
    EXPECT_EQ(found.erase(parameter.unsafeGetTensorImpl()), 1u);
  EXPECT_EQ(static_cast<int>(found.size()), expected_state);
  EXPECT_FALSE(reached(std::make_unique<Optimizer>(net->parameters(), options)).empty());
}

TEST(TorchTypesTest, ParametersAndStateOfOptimizersAreReached) {
  using namespace torch::optim;
  expect_parameters_and_state<SGD>(SGDOptions(0.1).momentum(0.9), 2);
  expect_parameters_and_state<Adam>(AdamOptions(0.1).amsgrad(true), 6);
  expect_parameters_and_state<AdamW>(AdamWOptions(0.1), 4);
  expect_parameters_and_state<RMSprop>(RMSpropOptions(0.1).momentum(0.9).centered(true), 6);
  expect_parameters_and_state<Adagrad>(AdagradOptions(0.1), 2);
}

TEST(TorchTypesTest, HistoryOfLbfgsIsReached) {
  nn::Linear net(3, 2);
  torch::optim::LBFGS optimizer(net->parameters(), torch::optim::LBFGSOptions(0.1).max_iter(4));
  optimizer.step([&] {
    optimizer.zero_grad();
    auto loss = net(torch::ones({4, 3})).pow(2).mean();
    loss.backward();
    return loss;
  });
  auto& state = static_cast<torch::optim::LBFGSParamState&>(*optimizer.state().begin()->second);
  auto history = these(std::vector<Tensor>(state.old_dirs().begin(), state.old_dirs().end()));
  ASSERT_FALSE(history.empty());
  const auto found = reached(optimizer);
  for (const auto* impl : history)
    EXPECT_TRUE(found.contains(impl));
  EXPECT_TRUE(found.contains(state.d().unsafeGetTensorImpl()));
}

TEST(TorchTypesTest, SchedulersAndFuturesPass) {
  nn::Linear net(3, 2);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  EXPECT_EQ(visits(torch::optim::StepLR(optimizer, 1)), 0);
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get());
  future->markCompleted(t(1));
  EXPECT_EQ(visits(future), 0);
  EXPECT_EQ(visits(c10::weak_intrusive_ptr<c10::TensorImpl>(t(1).getIntrusivePtr())), 0);
}

} // namespace
} // namespace tensorscope_test
