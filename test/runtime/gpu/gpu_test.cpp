// SPDX-License-Identifier: Apache-2.0
// Scopes on a GPU, as far as the fakes in ../devices can't show it: kernels that run, CUDA graphs, memory that is full.
#include "scope_test.h"

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace tensorscope_test {
namespace {

using namespace torch;

const Device gpu(kCUDA, 0);

class GpuTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    (void)torch::ones({1}, gpu);
    with_torch([] {});
  }
  static std::int64_t live_bytes() {
    for (const auto& memory : tensorscope::stats().memory)
      if (memory.device == gpu && !memory.pinned)
        return static_cast<std::int64_t>(memory.bytes);
    return 0;
  }
};

/// Keeps a stream busy for some tenths of a second.
Tensor long_work() {
  auto x = torch::randn({4096, 4096}, gpu);
  for (int i = 0; i < 200; ++i)
    x = x.matmul(x).clamp_(-1, 1);
  return x;
}

TEST_F(GpuTest, TrainingGivesTheSameWeightsAndFlatMemory) {
  std::vector<Tensor> results[2];
  std::int64_t after_few = 0, after_many = 0;
  for (bool scoped : {false, true}) {
    manual_seed(3);
    nn::Sequential net(nn::Linear(64, 256), nn::ReLU(), nn::Linear(256, 8));
    net->to(gpu);
    optim::Adam optimizer(net->parameters());
    for (int i = 0; i < 200; ++i) {
      maybe_scoped(scoped, [&] {
        optimizer.zero_grad();
        net->forward(torch::randn({32, 64}).to(gpu)).pow(2).mean().backward();
        optimizer.step();
      });
      (i < 100 ? after_few : after_many) = live_bytes();
    }
    if (scoped)
      EXPECT_EQ(after_few, after_many);
    for (const auto& parameter : net->parameters())
      results[scoped].push_back(parameter.detach().cpu());
  }
  for (std::size_t i = 0; i < results[0].size(); ++i)
    EXPECT_TRUE(torch::allclose(results[0][i], results[1][i]));
}

TEST_F(GpuTest, ARecurrentLayerThatIsMovedInAScopeKeepsItsFlatWeights) {
  nn::LSTM lstm(nn::LSTMOptions(8, 16).num_layers(2));
  with_torch([&] {
    lstm->to(gpu);
    lstm->flatten_parameters();
  });
  for (int i = 0; i < 3; ++i)
    with_torch([&] { EXPECT_NO_THROW(value(std::get<0>(lstm(torch::ones({5, 2, 8}, gpu))))); });
}

TEST_F(GpuTest, AnEscapeThatAnotherStreamStillReadsIsNotOverwritten) {
  const auto side = c10::cuda::getStreamFromPool(false, 0);
  Tensor escaped, read;
  with_torch([&] {
    escaped = torch::full({1 << 20}, 2.0f, gpu);
    at::cuda::getCurrentCUDAStream().synchronize();
    const c10::cuda::CUDAStreamGuard guard(side);
    (void)tensorscope::retain(long_work());
    read = tensorscope::retain(escaped + 0); // runs long after this scope has ended
  });
  for (int i = 0; i < 8; ++i)
    (void)torch::full({1 << 20}, 9.0f, gpu);
  side.synchronize();
  EXPECT_EQ(read.min().item<float>(), 2);
  EXPECT_EQ(read.max().item<float>(), 2);
  use_after_release([&] { value(escaped); });
}

TEST_F(GpuTest, FiguresAreTheAllocatorsOwn) {
  const auto before = live_bytes();
  auto big = torch::empty({1 << 22}, gpu);
  EXPECT_EQ(live_bytes() - before, 4 << 22);
  big.reset();
  EXPECT_EQ(live_bytes(), before);
  for (const auto& report : tensorscope::gc())
    if (report.device == kCUDA)
      EXPECT_EQ(report.reserved, report.cached + report.bytes);
}

TEST_F(GpuTest, PinnedMemoryIsReleasedAfterItsCopyIsDone) {
  Tensor escaped, copy;
  with_torch([&] {
    escaped = torch::full({1 << 20}, 2.0f).pin_memory();
    (void)tensorscope::retain(long_work());
    copy = tensorscope::retain(escaped.to(gpu, true));
  });
  for (int i = 0; i < 4; ++i)
    (void)torch::full({1 << 20}, 9.0f).pin_memory();
  EXPECT_EQ(copy.min().item<float>(), 2);
  use_after_release([&] { value(escaped); });
}

class NativeGpuTest : public GpuTest {};

TEST_F(NativeGpuTest, AGraphCapturedInAScopeReplaysAfterIt) {
  auto input = torch::ones({256}, gpu), weight = torch::full({256}, 3.0f, gpu);
  at::cuda::CUDAGraph graph;
  Tensor output;
  with_torch([&] {
    const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool(false, 0));
    (void)((input * weight).relu() + 1); // warm
    graph.capture_begin();
    output = (input * weight).relu() + 1;
    graph.capture_end();
  });
  for (int i = 0; i < 3; ++i) {
    input.fill_(i);
    graph.replay();
    at::cuda::getCurrentCUDAStream().synchronize();
    EXPECT_EQ(value(output), 256 * (3 * i + 1));
  }
}

TEST_F(NativeGpuTest, OutOfMemoryIsSaidBeforeTheErrorLeaves) {
  testing::internal::CaptureStderr();
  EXPECT_THROW(torch::empty({int64_t{1} << 45}, gpu), c10::OutOfMemoryError);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("out of memory"), std::string::npos);
}

class DegradedGpuTest : public GpuTest {};

TEST_F(DegradedGpuTest, ScopesWorkOnAndOlderTensorsStay) {
  auto older = torch::ones({8}, gpu);
  auto result = with_torch([&] { return older.mul_(2) + 1; });
  EXPECT_EQ(value(older), 16);
  EXPECT_EQ(value(result), 24);
}

} // namespace
} // namespace tensorscope_test
