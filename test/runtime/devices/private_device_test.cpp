// SPDX-License-Identifier: Apache-2.0
// The whole story of ownership on a device that LibTorch knows nothing of: a backend of the program's own.
#include "fake_device.h"

#include <ATen/detail/PrivateUse1HooksInterface.h>

namespace tensorscope_test {

FakeDevice& FakeDevice::get() {
  static auto& only = *new FakeDevice(c10::DeviceType::PrivateUse1);
  return only;
}

namespace {

using namespace torch;

/// Caches, and reports as every caching allocator of LibTorch's does.
struct FakeAllocator final : c10::DeviceAllocator {
  static void free_block(void* place) {
    auto& device = FakeDevice::get();
    const std::lock_guard lock(device.mutex);
    const auto& block = device.give_back(place);
    report(place, -static_cast<std::int64_t>(block.size), block.device);
  }
  static void report(void* place, std::int64_t size, c10::DeviceIndex index) {
    const auto& figures = FakeDevice::get().figures[index];
    c10::reportMemoryUsageToProfiler(place, size, static_cast<std::size_t>(figures.live_bytes),
                                     static_cast<std::size_t>(figures.reserved_bytes), c10::Device(kPrivateUse1, index));
  }
  c10::DataPtr allocate(std::size_t size) override {
    auto& device = FakeDevice::get();
    const c10::Device on(kPrivateUse1, FakeDevice::current);
    if (size == 0)
      return {nullptr, nullptr, &free_block, on};
    const std::lock_guard lock(device.mutex);
    void* const place = device.take(size, on.index());
    report(place, static_cast<std::int64_t>(size), on.index());
    return {place, place, &free_block, on};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t size) const override { default_copy_data(to, from, size); }
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override { FakeDevice::get().empty_cache(); }
  void recordStream(const c10::DataPtr& bytes, c10::Stream stream) override {
    FakeDevice::get().record(bytes.get(), stream.id());
  }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex index) override {
    return FakeDevice::get().stats(index);
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override {}
};

struct FakeHooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return kFakeDevices; }
  c10::Allocator* getPinnedMemoryAllocator() const override { return at::getHostAllocator(kPrivateUse1); }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    static const auto generator = at::detail::createCPUGenerator();
    return generator;
  }
  bool isPinnedPtr(const void* bytes) const override {
    return FakeHostAllocator::get().sizes.contains(const_cast<void*>(bytes));
  }
};

/// Once for the program; suites of other devices live in other programs.
class PrivateDeviceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const bool once = [] {
      c10::register_privateuse1_backend("faux");
      static FakeAllocator allocator;
      c10::SetAllocator(kPrivateUse1, &allocator);
      at::setHostAllocator(kPrivateUse1, &FakeHostAllocator::get());
      c10::impl::registerDeviceGuard(kPrivateUse1, new FakeGuard);
      at::RegisterPrivateUse1HooksInterface(new FakeHooks);
      static const auto kernels = register_fake_kernels(c10::DispatchKey::PrivateUse1);
      return true;
    }();
    (void)once;
    (void)torch::ones({1}, Device(kPrivateUse1, 0)); // the first is not seen: as with any device
  }
  void TearDown() override {
    FakeDevice::get().busy.clear();
    FakeDevice::get().capturing = false;
    FakeDevice::get().broken_streams = false;
  }
  Device device{kPrivateUse1, 0};
  Tensor full(double number, std::vector<int64_t> sizes = {4}) {
    return torch::full(sizes, number, TensorOptions(device));
  }
};

double on_host_sum(const Tensor& tensor) {
  return tensor.cpu().sum().item<double>();
}

TEST_F(PrivateDeviceTest, ItsTensorsCompute) {
  auto x = full(2), y = full(3);
  EXPECT_EQ(on_host_sum(x * y + 1), 28);
  EXPECT_EQ(on_host_sum(x.view({2, 2}).t()), 8);
}

TEST_F(PrivateDeviceTest, AnEscapeIsReleasedWithAClearError) {
  Tensor escaped, view;
  const auto before = FakeDevice::get().live();
  with_torch([&] {
    escaped = full(2) + 1;
    view = escaped.view({2, 2});
  });
  EXPECT_EQ(FakeDevice::get().live(), before);
  const auto text = use_after_release([&] { (void)(escaped + 1); });
  EXPECT_NE(text.find("faux:0"), std::string::npos) << text;
  use_after_release([&] { (void)view.cpu(); });
}

TEST_F(PrivateDeviceTest, ResultsRetainedAndOlderTensorsStay) {
  auto older = full(2);
  Tensor kept;
  auto result = with_torch([&] {
    older.add_(1);
    kept = tensorscope::retain(older * 2);
    return (older * 3).view({2, 2});
  });
  EXPECT_EQ(on_host_sum(older), 12);
  EXPECT_EQ(on_host_sum(kept), 24);
  EXPECT_EQ(on_host_sum(result), 36);
}

TEST_F(PrivateDeviceTest, ReleaseFreesAtOnce) {
  auto tensor = full(2), alias = tensor;
  const auto before = FakeDevice::get().live();
  tensorscope::release(tensor);
  EXPECT_EQ(FakeDevice::get().live(), before - 1);
  use_after_release([&] { (void)(alias * 2); });
  EXPECT_FALSE(tensorscope::alive(alias));
}

TEST_F(PrivateDeviceTest, TrainingGivesTheSameBits) {
  std::vector<Tensor> results[2];
  for (bool scoped : {false, true}) {
    manual_seed(3);
    // LibTorch's modules can't be moved to such a device: their set_data refuses it.
    std::vector<Tensor> weights;
    for (const auto& made : {torch::randn({6, 3}), torch::randn({3})})
      weights.push_back(made.to(device).requires_grad_());
    optim::Adam optimizer(weights);
    for (int i = 0; i < 4; ++i)
      maybe_scoped(scoped, [&] {
        optimizer.zero_grad();
        (torch::randn({5, 6}).to(device).matmul(weights[0]) + weights[1]).pow(2).mean().backward();
        optimizer.step();
      });
    for (const auto& weight : weights)
      results[scoped].push_back(weight.detach().cpu());
  }
  EXPECT_TRUE(same_bits(results[0], results[1]));
}

TEST_F(PrivateDeviceTest, ALossKeepsWhatItsBackwardNeedsThere) {
  auto weight = full(2).requires_grad_();
  auto loss = with_torch([&] { return (weight.exp() * weight).sum(); });
  loss.backward();
  EXPECT_GT(on_host_sum(weight.grad()), 0);
}

TEST_F(PrivateDeviceTest, FiguresTellLiveCachedAndReservedApart) {
  const auto figures = [&] {
    for (const auto& memory : tensorscope::stats().memory)
      if (memory.device == device && !memory.pinned)
        return memory;
    return tensorscope::DeviceMemory{};
  };
  tensorscope::gc();
  const auto before = figures();
  auto big = full(1, {1000});
  EXPECT_EQ(figures().live, before.live + 1);
  EXPECT_GE(figures().bytes, before.bytes + 4000);
  EXPECT_EQ(figures().reserved, figures().bytes + figures().cached);
  big.reset();
  EXPECT_EQ(figures().bytes, before.bytes);
  EXPECT_GE(figures().cached, before.cached + 4000);
  const auto found = tensorscope::gc();
  EXPECT_EQ(figures().cached, 0);
  const auto on_device = std::find_if(found.begin(), found.end(), [](const auto& report) { return report.device == kPrivateUse1 && report.index == 0; });
  ASSERT_NE(on_device, found.end());
  EXPECT_EQ(on_device->cached, 0);
  EXPECT_EQ(on_device->bytes, on_device->reserved);
}

TEST_F(PrivateDeviceTest, ScopesCountWhatTheyDidThere) {
  const auto before = tensorscope::stats().total(kPrivateUse1);
  Tensor escaped;
  with_torch([&] { escaped = full(2); });
  const auto after = tensorscope::stats().total(kPrivateUse1);
  EXPECT_EQ(after.created - before.created, 1);
  EXPECT_EQ(after.released - before.released, 1);
  EXPECT_EQ(after.escaped - before.escaped, 1);
}

// --- streams ----------------------------------------------------------------------------------

TEST_F(PrivateDeviceTest, MemoryThatABusyStreamReadsIsGivenToNobodyElse) {
  Tensor escaped, read;
  void* place = nullptr;
  with_torch([&] {
    escaped = full(2, {777});
    place = escaped.mutable_data_ptr();
    const OnStream side(5);
    read = tensorscope::retain(escaped * 2);
    FakeDevice::get().busy.insert(5);
  });
  std::vector<Tensor> others;
  for (int i = 0; i < 3; ++i) {
    others.push_back(full(9, {777}));
    EXPECT_NE(others.back().mutable_data_ptr(), place);
  }
  FakeDevice::get().busy.clear();
  EXPECT_EQ(full(1, {777}).mutable_data_ptr(), place) << "it is free once the stream is done";
}

TEST_F(PrivateDeviceTest, StreamsOfThreadsWithoutAScopeCountToo) {
  auto tensor = full(2, {778});
  void* const place = tensor.mutable_data_ptr();
  std::thread([&] {
    const OnStream side(7);
    (void)(tensor * 2);
    FakeDevice::get().busy.insert(7);
  }).join();
  tensorscope::release(tensor);
  EXPECT_NE(full(1, {778}).mutable_data_ptr(), place);
}

TEST_F(PrivateDeviceTest, AReleaseNeverWaitsForTheDevice) {
  const auto before = FakeDevice::get().synchronizations;
  Tensor escaped;
  with_torch([&] { escaped = full(2); });
  tensorscope::release(full(3));
  EXPECT_EQ(FakeDevice::get().synchronizations, before);
}

TEST_F(PrivateDeviceTest, WhereStreamsCantBeToldTheBytesGoWithTheLastHandle) {
  std::vector<float> mine(4, 1.0f);
  int deletions = 0;
  Tensor blob;
  with_torch([&] {
    blob = at::for_blob(mine.data(), {4})
               .options(TensorOptions(device))
               .target_device(device)
               .deleter([&](void*) { ++deletions; })
               .make_tensor();
  });
  EXPECT_EQ(deletions, 0) << "its deleter knows of no streams";
  use_after_release([&] { (void)blob.cpu(); });
  blob.reset();
  EXPECT_EQ(deletions, 1);
}

TEST_F(PrivateDeviceTest, ABrokenDriverCrashesNothing) {
  Tensor escaped;
  with_torch([&] {
    escaped = full(2);
    FakeDevice::get().broken_streams = true;
  });
  FakeDevice::get().broken_streams = false;
  use_after_release([&] { (void)escaped.cpu(); });
}

TEST_F(PrivateDeviceTest, WhatIsMadeDuringACaptureIsLeftToTheGraph) {
  Tensor of_the_graph, escaped;
  testing::internal::CaptureStderr();
  with_torch([&] {
    escaped = full(1);
    FakeDevice::get().capturing = true;
    of_the_graph = escaped * 2;
    tensorscope::gc(); // must not touch the cache
    FakeDevice::get().capturing = false;
  });
  EXPECT_EQ(on_host_sum(of_the_graph), 8);
  use_after_release([&] { (void)escaped.cpu(); });
  EXPECT_NE(testing::internal::GetCapturedStderr().find("left to the graph"), std::string::npos);
}

// --- pinned memory -----------------------------------------------------------------------------

TEST_F(PrivateDeviceTest, PinnedMemoryIsADeviceOfItsOwn) {
  with_torch([] {}); // a scope opened since the device came into use
  const auto before = tensorscope::stats().total(kCPU, true);
  const auto plain = tensorscope::stats().total(kCPU);
  Tensor escaped;
  auto kept = with_torch([&] {
    escaped = torch::ones({100}).pin_memory(device);
    return torch::ones({50}).pin_memory(device);
  });
  const auto after = tensorscope::stats().total(kCPU, true);
  EXPECT_EQ(after.created - before.created, 2);
  EXPECT_EQ(after.released - before.released, 1);
  EXPECT_EQ(after.returned - before.returned, 1);
  EXPECT_EQ(tensorscope::stats().total(kCPU).escaped, plain.escaped);
  EXPECT_EQ(value(kept), 50);
  use_after_release([&] { value(escaped); });
  const auto memory = tensorscope::stats().memory;
  const auto pinned = std::find_if(memory.begin(), memory.end(), [](const auto& one) { return one.pinned; });
  ASSERT_NE(pinned, memory.end());
  EXPECT_EQ(pinned->bytes, 200);
  EXPECT_EQ(pinned->cached, 400);
}

TEST_F(PrivateDeviceTest, PinnedMemoryIsNotReusedWhileAStreamCopiesIt) {
  with_torch([] {});
  Tensor escaped;
  void* place = nullptr;
  with_torch([&] {
    escaped = torch::ones({60}).pin_memory(device);
    place = escaped.mutable_data_ptr();
    const OnStream side(9);
    (void)escaped.to(device, true);
  });
  EXPECT_TRUE(FakeHostAllocator::get().blocks[place].contains(9));
}

} // namespace
} // namespace tensorscope_test
