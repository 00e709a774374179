// SPDX-License-Identifier: Apache-2.0
// Models that were compiled ahead of time keep constants that no traversal reaches: no scope releases one.
#include "scope_test.h"

#include <torch/csrc/inductor/aoti_runner/model_container_runner_cpu.h>

namespace tensorscope_test {
namespace {

using torch::inductor::AOTIModelContainerRunnerCpu;

std::unique_ptr<AOTIModelContainerRunnerCpu> load() {
  return std::make_unique<AOTIModelContainerRunnerCpu>(TENSORSCOPE_TEST_COMPILED_MODEL);
}

TEST(CompiledModelTest, ConstantsThatItsFirstRunFoldsInAScopeStay) {
  const auto model = load();
  for (int i = 0; i < 3; ++i)
    with_torch([&] { EXPECT_EQ(value(model->run({torch::ones({3})})[0]), 60); });
  EXPECT_EQ(value(model->run({torch::ones({3})})[0]), 60);
}

TEST(CompiledModelTest, OneThatIsLoadedInAScopeServesAfterIt) {
  std::unique_ptr<AOTIModelContainerRunnerCpu> model;
  with_torch([&] { model = load(); });
  EXPECT_EQ(value(model->run({torch::ones({3})})[0]), 60);
}

TEST(CompiledModelTest, WhatARunReturnsIsWhole) {
  const auto model = load();
  auto kept = with_torch([&] { return model->boxed_run({torch::ones({3})}); });
  EXPECT_EQ(value(kept[0]), 60);
}

} // namespace
} // namespace tensorscope_test
