// SPDX-License-Identifier: Apache-2.0
// What CUDA's allocator alone tells, on a machine without a GPU: a fake takes the place of the allocator in libc10_cuda.so,
// and the CPU's kernels that of CUDA's.
#include "fake_device.h"

#include <c10/cuda/CUDACachingAllocator.h>

namespace tensorscope_test {

FakeDevice& FakeDevice::get() {
  static auto& only = *new FakeDevice(c10::DeviceType::CUDA);
  return only;
}

namespace {

using namespace torch;
using namespace c10::cuda::CUDACachingAllocator;

/// Traces as the native one does: under its lock. `kind` says which of LibTorch's allocators it stands for.
struct FakeCuda final : CUDAAllocator {
  std::string kind = "native";
  std::vector<AllocatorTraceTracker> trackers;
  std::vector<OutOfMemoryObserver> observers;
  c10::MempoolId_t pool{0, 0};
  std::size_t limit = std::size_t{1} << 40;

  static FakeCuda& self() {
    static auto& only = *new FakeCuda;
    return only;
  }
  void trace(TraceEntry::Action action, void* place, std::size_t size, c10::DeviceIndex index) {
    for (const auto& tracker : trackers)
      tracker(TraceEntry(action, index, reinterpret_cast<std::size_t>(place), size, nullptr, pool, 0));
    if (kind != "native")
      return; // LibTorch's other allocators report nothing
    const auto& figures = FakeDevice::get().figures[index];
    const auto change = static_cast<std::int64_t>(size);
    c10::reportMemoryUsageToProfiler(place, action == TraceEntry::ALLOC ? change : -change,
                                     static_cast<std::size_t>(figures.live_bytes),
                                     static_cast<std::size_t>(figures.reserved_bytes), c10::Device(kCUDA, index));
  }
  static void free_block(void* place) {
    auto& device = FakeDevice::get();
    const std::lock_guard lock(device.mutex);
    const auto& block = device.give_back(place);
    self().trace(TraceEntry::FREE_REQUESTED, place, block.size, block.device);
  }
  c10::DataPtr allocate(std::size_t size) override {
    auto& device = FakeDevice::get();
    const c10::Device on(kCUDA, FakeDevice::current);
    if (size == 0)
      return {nullptr, nullptr, &free_block, on};
    if (size > limit) {
      for (const auto& observer : observers)
        observer(on.index(), size, limit, limit / 2);
      TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory");
    }
    const std::lock_guard lock(device.mutex);
    void* const place = device.take(size, on.index());
    trace(TraceEntry::ALLOC, place, size, on.index());
    return {place, place, &free_block, on};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t size) const override { default_copy_data(to, from, size); }
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override { FakeDevice::get().empty_cache(); }
  void recordStream(const c10::DataPtr& bytes, c10::cuda::CUDAStream stream) override { FakeDevice::get().record(bytes.get(), stream.id()); }
  DeviceStats getDeviceStats(c10::DeviceIndex index) override { return FakeDevice::get().stats(index); }
  void attachOutOfMemoryObserver(OutOfMemoryObserver observer) override { observers.push_back(std::move(observer)); }
  void attachAllocatorTraceTracker(AllocatorTraceTracker tracker) override {
    TORCH_CHECK(kind == "native", kind, " does not yet support attachAllocatorTraceTracker.\nWith more lines.");
    trackers.push_back(std::move(tracker));
  }
  std::string name() override { return kind; }

  // What the tests have no use for.
  void* raw_alloc(std::size_t) override { return nullptr; }
  void* raw_alloc_with_stream(std::size_t, cudaStream_t) override { return nullptr; }
  void raw_delete(void*) override {}
  void init(int) override {}
  double getMemoryFraction(c10::DeviceIndex) override { return 1; }
  void setMemoryFraction(double, c10::DeviceIndex) override {}
  std::vector<StreamSegmentSize> getExpandableSegmentSizes(c10::DeviceIndex) override { return {}; }
  void enable(bool) override {}
  bool isEnabled() const override { return true; }
  void cacheInfo(c10::DeviceIndex, std::size_t*) override {}
  void* getBaseAllocation(void*, std::size_t*) override { return nullptr; }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override {}
  SnapshotInfo snapshot(c10::MempoolId_t, bool) override { return {}; }
  void beginAllocateToPool(c10::DeviceIndex, c10::MempoolId_t, std::function<bool(cudaStream_t)>) override {}
  void endAllocateToPool(c10::DeviceIndex, c10::MempoolId_t) override {}
  void releasePool(c10::DeviceIndex, c10::MempoolId_t) override {}
  ShareableHandle shareIpcHandle(void*) override { return {}; }
  std::shared_ptr<void> getIpcDevPtr(std::string) override { return nullptr; }
  void recordHistory(bool, CreateContextFn, std::size_t, RecordContext, bool, const std::vector<std::string>&) override {}
  void attachOomRejectionObserver(OomRejectionObserver) override {}
  void enablePeerAccess(c10::DeviceIndex, c10::DeviceIndex) override {}
  cudaError_t memcpyAsync(void*, int, const void*, int, std::size_t, cudaStream_t, bool) override { return cudaSuccess; }
  std::shared_ptr<AllocatorState> getCheckpointState(c10::DeviceIndex, c10::MempoolId_t) override { return nullptr; }
  CheckpointDelta setCheckpointPoolState(c10::DeviceIndex, std::shared_ptr<AllocatorState>) override { return {}; }
};

/// One program, one allocator: TENSORSCOPE_TEST_ALLOCATOR names the one that the fake stands for.
class CudaAllocatorTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto& fake = FakeCuda::self();
    if (const char* const kind = std::getenv("TENSORSCOPE_TEST_ALLOCATOR"))
      fake.kind = kind;
    allocator.store(&fake);
    c10::SetAllocator(kCUDA, &fake, 255); // LibTorch's own has set itself at load
    c10::impl::registerDeviceGuard(kCUDA, new FakeGuard);
    static const auto kernels = register_fake_kernels(c10::DispatchKey::CUDA);
    (void)full(1);
    testing::internal::CaptureStderr();
    with_torch([] {}); // from here on the allocator is watched
    said = testing::internal::GetCapturedStderr();
  }
  void TearDown() override {
    FakeCuda::self().pool = {0, 0};
    FakeDevice::get().busy.clear();
  }
  static Tensor full(double number, int64_t size = 4) {
    return torch::full({size}, number, TensorOptions(Device(kCUDA, 0)));
  }
  static inline std::string said; ///< by the library when it began to watch
};

double on_host_sum(const Tensor& tensor) {
  return tensor.cpu().sum().item<double>();
}

TEST_F(CudaAllocatorTest, TheNativeOneTellsAll) {
  EXPECT_EQ(said, "");
  EXPECT_EQ(FakeCuda::self().trackers.size(), 1);
  EXPECT_EQ(FakeCuda::self().observers.size(), 1);
  with_torch([] {});
  EXPECT_EQ(FakeCuda::self().trackers.size(), 1) << "once";
}

TEST_F(CudaAllocatorTest, ScopesOwnWhatItTracesAndReleaseIt) {
  Tensor escaped;
  const auto before = FakeDevice::get().live();
  auto result = with_torch([&] {
    escaped = full(2) * 3;
    return full(5);
  });
  EXPECT_EQ(FakeDevice::get().live(), before + 1);
  EXPECT_EQ(on_host_sum(result), 20);
  const auto text = use_after_release([&] { (void)(escaped + 1); });
  EXPECT_NE(text.find("cuda:0"), std::string::npos) << text;
}

// LibTorch's engine asks for CUDA's driver: the gradients are given.
TEST_F(CudaAllocatorTest, StepsOfAnOptimizerGiveTheSameBits) {
  std::vector<Tensor> results[2];
  for (bool scoped : {false, true}) {
    manual_seed(3);
    nn::Linear net(6, 3);
    net->to(Device(kCUDA, 0));
    optim::AdamW optimizer(net->parameters());
    for (int i = 0; i < 4; ++i)
      maybe_scoped(scoped, [&] {
        optimizer.zero_grad();
        for (auto& parameter : net->parameters())
          parameter.mutable_grad() = torch::randn(parameter.sizes()).to(Device(kCUDA, 0)) * 2;
        optimizer.step();
      });
    for (const auto& parameter : net->parameters())
      results[scoped].push_back(parameter.detach().cpu());
  }
  EXPECT_TRUE(same_bits(results[0], results[1]));
}

TEST_F(CudaAllocatorTest, AModuleMovedToTheDeviceInAScopeStays) {
  nn::Linear net(4, 2);
  with_torch([&] { net->to(Device(kCUDA, 0)); });
  EXPECT_NO_THROW(on_host_sum(net(full(1).view({1, 4}))));
}

TEST_F(CudaAllocatorTest, MemoryOfAGraphsPoolIsNobodysAndThatIsSaid) {
  Tensor of_the_graph, escaped;
  testing::internal::CaptureStderr();
  with_torch([&] {
    escaped = full(1);
    FakeCuda::self().pool = {1, 0};
    of_the_graph = escaped * 2;
    FakeCuda::self().pool = {0, 0};
  });
  EXPECT_EQ(on_host_sum(of_the_graph), 8);
  use_after_release([&] { (void)escaped.cpu(); });
  EXPECT_NE(testing::internal::GetCapturedStderr().find("left to it"), std::string::npos);
}

TEST_F(CudaAllocatorTest, MemoryThatABusyStreamReadsIsGivenToNobodyElse) {
  Tensor escaped;
  void* place = nullptr;
  with_torch([&] {
    escaped = full(2, 777);
    place = escaped.mutable_data_ptr();
    const OnStream side(3); // odd, as the numbers of LibTorch's own streams are
    (void)(escaped * 2);
    FakeDevice::get().busy.insert(3);
  });
  EXPECT_NE(full(9, 777).mutable_data_ptr(), place);
}

TEST_F(CudaAllocatorTest, OutOfMemoryIsSaidBeforeTheErrorLeaves) {
  FakeCuda::self().limit = 1000;
  testing::internal::CaptureStderr();
  EXPECT_THROW(full(1, 4000), c10::OutOfMemoryError);
  const auto text = testing::internal::GetCapturedStderr();
  FakeCuda::self().limit = std::size_t{1} << 40;
  EXPECT_NE(text.find("out of memory on cuda:0"), std::string::npos) << text;
  EXPECT_NE(text.find("16000"), std::string::npos) << text;
}

TEST_F(CudaAllocatorTest, WithAStreamOfSomebodyElseTheBytesGoWithTheLastHandle) {
  Tensor escaped;
  const auto before = FakeDevice::get().live();
  with_torch([&] {
    escaped = full(2, 555);
    const OnStream external(64, 1); // an address
    const OnStream here(64, 0);
    (void)(escaped * 2);
  });
  EXPECT_EQ(FakeDevice::get().live(), before + 1) << "that stream may be gone: nobody can ask it";
  use_after_release([&] { (void)escaped.cpu(); });
  escaped.reset();
  EXPECT_EQ(FakeDevice::get().live(), before);
}

// --- allocators that tell less: a program each ---------------------------------------------------

TEST_F(CudaAllocatorTest, DISABLED_OneThatTellsNothingIsNamedInOneLineAndItsTensorsAreNobodys) {
  auto older = full(2);
  Tensor escaped;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i)
    with_torch([&] { escaped = older.mul_(2) + 1; });
  const auto line = testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find(FakeCuda::self().kind), std::string::npos) << line;
  EXPECT_NE(line.find("attachAllocatorTraceTracker"), std::string::npos) << line;
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
  EXPECT_EQ(on_host_sum(escaped), 4 * 17);
  EXPECT_EQ(on_host_sum(older), 4 * 16);
}

TEST_F(CudaAllocatorTest, DISABLED_WhatIsReleasedOrTrackedThereGoesWithItsLastHandle) {
  auto released = full(2), tracked = full(2), alias = released;
  const auto before = FakeDevice::get().live();
  tensorscope::release(released);
  with_torch([&] { tensorscope::track(tracked); });
  EXPECT_EQ(FakeDevice::get().live(), before) << "nobody knows who reads it";
  use_after_release([&] { (void)alias.cpu(); });
  use_after_release([&] { (void)tracked.cpu(); });
  released.reset();
  tracked.reset();
  alias.reset();
  EXPECT_EQ(FakeDevice::get().live(), before - 2);
}

} // namespace
} // namespace tensorscope_test
