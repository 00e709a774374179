// SPDX-License-Identifier: Apache-2.0
// Scripted modules, files and data loaders, inside scopes and around them.
#include "scope_test.h"

#include <torch/csrc/jit/runtime/static/impl.h>

#include <cstdio>
#include <filesystem>

namespace tensorscope_test {
namespace {

using namespace torch;

// --- scripts ------------------------------------------------------------------------

jit::Module scripted_net() {
  jit::Module inner("inner"), module("net");
  inner.register_parameter("weight", torch::ones({3, 3}), false);
  inner.define(R"(
    def forward(self, x):
        return x.matmul(self.weight)
  )");
  module.register_module("inner", inner);
  module.register_parameter("bias", torch::ones({3}), false);
  module.register_buffer("steps", torch::zeros({1}));
  module.register_attribute("last", c10::TensorType::get(), torch::zeros({3}));
  module.register_attribute("history", c10::ListType::create(c10::TensorType::get()), c10::List<Tensor>());
  module.define(R"(
    def forward(self, x):
        self.steps.add_(1.0)
        return torch.relu(self.inner.forward(x) + self.bias)

    def keep(self, x):
        y = self.forward(x)
        self.last = y
        self.history.append(y * 2.0)
        return y
  )");
  return module;
}

TEST(ScriptsAndFilesTest, AScriptedModuleTrainsToTheSameBits) {
  std::vector<Tensor> results[2];
  for (bool scoped : {false, true}) {
    manual_seed(4);
    auto module = scripted_net();
    std::vector<Tensor> parameters;
    for (const auto& parameter : module.parameters())
      parameters.push_back(parameter.requires_grad_());
    optim::Adam optimizer(parameters);
    for (int i = 0; i < 6; ++i) // past the runs that the executor profiles
      maybe_scoped(scoped, [&] {
        optimizer.zero_grad();
        module.forward({torch::randn({4, 3})}).toTensor().pow(2).sum().backward();
        optimizer.step();
      });
    for (const auto& parameter : module.parameters())
      results[scoped].push_back(parameter.detach().clone());
    results[scoped].push_back(module.attr("steps").toTensor().clone());
  }
  EXPECT_TRUE(same_bits(results[0], results[1]));
}

TEST(ScriptsAndFilesTest, WhatAScriptedModuleKeepsOfACallStays) {
  auto module = scripted_net();
  for (int i = 0; i < 3; ++i)
    with_torch([&] { module.run_method("keep", torch::ones({3})); });
  EXPECT_EQ(value(module.attr("last").toTensor()), 12);
  for (const Tensor& one : module.attr("history").toTensorList())
    EXPECT_EQ(value(one), 24);
}

TEST(ScriptsAndFilesTest, AnAttributeThatIsSetInAScopeStaysWithItsAdoptedModule) {
  auto module = scripted_net();
  tensorscope::adopt(module);
  with_torch([&] { module.setattr("last", torch::full({3}, 5.0f)); });
  EXPECT_EQ(value(module.attr("last").toTensor()), 15);
}

TEST(ScriptsAndFilesTest, AnAttributeThatIsSetBeforeACallOfTheScopeStays) {
  auto module = scripted_net();
  with_torch([&] {
    module.setattr("bias", torch::full({3}, 2.0f));
    (void)module.forward({torch::ones({3})});
  });
  EXPECT_EQ(value(module.forward({torch::ones({3})}).toTensor()), 15);
}

TEST(ScriptsAndFilesTest, SavingAndCopyingAScriptedModuleInAScope) {
  auto module = scripted_net();
  std::stringstream stream;
  jit::Module copy, escaped;
  with_torch([&] {
    module.save(stream);
    copy = tensorscope::retain(module.deepcopy());
    escaped = module.deepcopy();
  });
  EXPECT_EQ(value(jit::load(stream).forward({torch::ones({3})}).toTensor()), 12);
  EXPECT_EQ(value(copy.forward({torch::ones({3})}).toTensor()), 12);
  EXPECT_EQ(value(module.forward({torch::ones({3})}).toTensor()), 12);
  use_after_release([&] { value(escaped.attr("bias").toTensor()); });
}

TEST(ScriptsAndFilesTest, AStaticRuntimeMadeOutsideServesManyScopes) {
  auto module = scripted_net();
  module.eval();
  auto source = jit::compile(R"(
    def run(x, y):
        z = x.matmul(y) + x
        return torch.sigmoid(z).sum() + torch.cat([z, y]).sum()
  )");
  jit::StaticModule serving(jit::toGraphFunction(source->get_function("run")).graph()->copy(), {}, {});
  const auto x = torch::ones({3, 3}), y = torch::ones({3, 3});
  double first = 0;
  for (int i = 0; i < 4; ++i)
    with_torch([&] {
      const auto result = value(serving(std::vector<c10::IValue>{x, y}, {}).toTensor());
      first = i == 0 ? result : first;
      EXPECT_EQ(result, first);
    });
  EXPECT_EQ(value(serving(std::vector<c10::IValue>{x, y}, {}).toTensor()), first);
}

// --- files ----------------------------------------------------------------------------

struct File {
  std::string name = (std::filesystem::temp_directory_path() / ("tensorscope-test-" + std::to_string(::getpid()))).string();
  ~File() {
    std::remove(name.c_str());
  }
};

TEST(ScriptsAndFilesTest, ModulesOptimizersAndTensorsGoThroughAFileInAScope) {
  File file;
  auto net = make_net(), other = make_net();
  optim::Adam optimizer(net->parameters()), resumed(other->parameters());
  loss_of(net).backward();
  optimizer.step();
  std::vector<Tensor> loaded;
  with_torch([&] {
    serialize::OutputArchive out, model, state;
    net->save(model);
    optimizer.save(state);
    out.write("model", model);
    out.write("optimizer", state);
    out.write("mean", torch::full({3}, 2.0));
    out.save_to(file.name);
  });
  with_torch([&] {
    serialize::InputArchive in, model, state;
    in.load_from(file.name);
    in.read("model", model);
    in.read("optimizer", state);
    other->load(model);
    resumed.load(state);
    Tensor mean;
    in.read("mean", mean);
    loaded.push_back(tensorscope::retain(mean));
  });
  EXPECT_EQ(value(loaded[0]), 6);
  other->zero_grad();
  for (int i = 0; i < 2; ++i)
    with_torch([&] {
      loss_of(other).backward();
      resumed.step();
    });
  const auto left = net->parameters(), right = other->parameters();
  ASSERT_EQ(left.size(), right.size());
  for (const auto& parameter : right)
    EXPECT_NO_THROW(value(parameter));
}

TEST(ScriptsAndFilesTest, AListOfTensorsAndPickledValues) {
  std::stringstream stream;
  std::vector<Tensor> kept;
  c10::IValue unpickled;
  with_torch([&] {
    torch::save(std::vector<Tensor>{torch::ones({3}), torch::full({2}, 4.0)}, stream);
    std::vector<Tensor> loaded;
    torch::load(loaded, stream);
    kept = tensorscope::retain(loaded);
    const auto bytes = torch::pickle_save(c10::IValue(torch::full({3}, 2.0)));
    unpickled = tensorscope::retain(torch::pickle_load(bytes));
  });
  EXPECT_EQ(value(kept[0]) + value(kept[1]), 11);
  EXPECT_EQ(value(unpickled.toTensor()), 6);
}

TEST(ScriptsAndFilesTest, SavingAReleasedTensorIsAClearError) {
  Tensor escaped;
  with_torch([&] { escaped = torch::ones({3}); });
  std::stringstream stream;
  use_after_release([&] { torch::save(escaped, stream); });
}

// --- data loaders -------------------------------------------------------------------------

/// Makes each example anew, in a scope of its own if asked.
struct Numbers : data::Dataset<Numbers> {
  bool scoped;
  explicit Numbers(bool in_scopes) : scoped(in_scopes) {}
  data::Example<> get(std::size_t index) override {
    const auto make = [&] {
      auto x = torch::full({4}, static_cast<double>(index));
      return data::Example<>(x * 1, x.sum());
    };
    return scoped ? with_torch(make) : make();
  }
  c10::optional<std::size_t> size() const override {
    return 12;
  }
};

double sum_of_batches(std::size_t workers, bool scoped_batches, bool scoped_examples) {
  auto loader = data::make_data_loader<data::samplers::RandomSampler>(
      Numbers(scoped_examples).map(data::transforms::Stack<>()),
      data::DataLoaderOptions().batch_size(4).workers(workers));
  double sum = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : *loader)
      maybe_scoped(scoped_batches, [&] { sum += value(batch.data) + value(batch.target); });
  return sum;
}

TEST(ScriptsAndFilesTest, LoadersOutsideOfTheScopes) {
  for (std::size_t workers : {0, 3})
    for (bool scoped_examples : {false, true})
      EXPECT_EQ(sum_of_batches(workers, true, scoped_examples), 2 * 2 * 4 * 66) << workers << scoped_examples;
}

TEST(ScriptsAndFilesTest, ALoaderInsideOfAScope) {
  for (std::size_t workers : {0, 3})
    EXPECT_EQ(with_torch([&] { return sum_of_batches(workers, false, true); }), 2 * 2 * 4 * 66) << workers;
}

TEST(ScriptsAndFilesTest, BatchesOfWorkersAreNotTheScopes) {
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      Numbers(false).map(data::transforms::Stack<>()), data::DataLoaderOptions().batch_size(4).workers(2));
  std::vector<Tensor> kept;
  with_torch([&] {
    for (auto& batch : *loader)
      kept.push_back(batch.data);
  });
  double sum = 0;
  for (auto& one : kept)
    sum += value(one);
  EXPECT_EQ(sum, 4 * 66);
}

TEST(ScriptsAndFilesTest, AnEpochThatBeginsInOneScopeGoesOnInTheNext) {
  auto loader = data::make_data_loader<data::samplers::RandomSampler>(
      Numbers(false).map(data::transforms::Stack<>()), data::DataLoaderOptions().batch_size(4).workers(2));
  auto place = loader->end();
  with_torch([&] { place = loader->begin(); });
  double sum = 0;
  for (; place != loader->end(); ++place)
    with_torch([&] { sum += value(place->data); });
  EXPECT_EQ(sum, 4 * 66) << "the order of the examples is the sampler's own";
}

TEST(ScriptsAndFilesTest, ASamplerThatIsResetInAScope) {
  data::samplers::RandomSampler sampler(6);
  std::stringstream stream;
  std::vector<std::size_t> all;
  with_torch([&] { sampler.reset(6); });
  while (auto some = sampler.next(2))
    all.insert(all.end(), some->begin(), some->end());
  EXPECT_EQ(all.size(), 6);
}

} // namespace
} // namespace tensorscope_test
