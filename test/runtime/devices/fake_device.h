// SPDX-License-Identifier: Apache-2.0
// A device for machines that have none: its memory is the host's, its allocator caches as CUDA's does and reports to c10
// as every caching allocator does, and its kernels are the CPU's. The tests say which streams are busy.
#pragma once

#include "scope_test.h"

#include <ATen/EmptyTensor.h>
#include <ATen/InferSize.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/CachingHostAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace tensorscope_test {

inline constexpr c10::DeviceIndex kFakeDevices = 2;

/// The state of all fake devices of a program. One program has one kind.
struct FakeDevice {
  struct Block {
    std::size_t size = 0;
    c10::DeviceIndex device = 0;
    bool live = false;
    std::set<c10::StreamId> used_by; ///< recorded besides the stream that it was made on
  };
  struct Figures {
    std::int64_t live = 0, live_bytes = 0, reserved_bytes = 0, peak_bytes = 0;
  };

  explicit FakeDevice(c10::DeviceType kind) : type(kind) {}

  c10::DeviceType type;
  std::mutex mutex;
  std::map<void*, Block> blocks;
  std::set<c10::StreamId> busy; ///< streams whose kernels still run
  std::array<Figures, kFakeDevices> figures;
  bool capturing = false;
  bool broken_streams = false; ///< asking for a stream fails
  int synchronizations = 0;

  static inline thread_local c10::DeviceIndex current = 0;
  static inline thread_local std::array<c10::StreamId, kFakeDevices> streams{};

  static FakeDevice& get();

  /// Under `mutex`. A cached block of that size that no busy stream reads, or a new one.
  void* take(std::size_t size, c10::DeviceIndex device) {
    auto& has = figures[device];
    void* place = nullptr;
    for (auto& [address, block] : blocks)
      if (!block.live && block.size == size && block.device == device && !is_read(block))
        place = address;
    if (place == nullptr) {
      place = std::malloc(size);
      has.reserved_bytes += static_cast<std::int64_t>(size);
    }
    blocks[place] = {size, device, true, {}};
    ++has.live;
    has.live_bytes += static_cast<std::int64_t>(size);
    has.peak_bytes = std::max(has.peak_bytes, has.live_bytes);
    return place;
  }
  /// Under `mutex`.
  Block& give_back(void* place) {
    auto& block = blocks.at(place);
    EXPECT_TRUE(block.live) << "freed twice";
    block.live = false;
    auto& has = figures[block.device];
    --has.live;
    has.live_bytes -= static_cast<std::int64_t>(block.size);
    return block;
  }
  bool is_read(const Block& block) const {
    return std::any_of(block.used_by.begin(), block.used_by.end(), [&](auto id) { return busy.contains(id); });
  }
  void record(void* place, c10::StreamId stream) {
    const std::lock_guard lock(mutex);
    if (const auto found = blocks.find(place); found != blocks.end())
      found->second.used_by.insert(stream);
  }
  void empty_cache() {
    const std::lock_guard lock(mutex);
    EXPECT_FALSE(capturing) << "would break the capture";
    std::erase_if(blocks, [&](auto& entry) {
      if (entry.second.live || is_read(entry.second))
        return false;
      figures[entry.second.device].reserved_bytes -= static_cast<std::int64_t>(entry.second.size);
      std::free(entry.first);
      return true;
    });
  }
  c10::CachingDeviceAllocator::DeviceStats stats(c10::DeviceIndex device) {
    const std::lock_guard lock(mutex);
    c10::CachingDeviceAllocator::DeviceStats all;
    const auto aggregate = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    all.allocation[aggregate].current = figures[device].live;
    all.allocated_bytes[aggregate].current = figures[device].live_bytes;
    all.allocated_bytes[aggregate].peak = figures[device].peak_bytes;
    all.reserved_bytes[aggregate].current = figures[device].reserved_bytes;
    return all;
  }
  std::int64_t live() {
    const std::lock_guard lock(mutex);
    return figures[0].live + figures[1].live;
  }
};

struct FakeGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return FakeDevice::get().type; }
  c10::Device exchangeDevice(c10::Device device) const override {
    return {type(), std::exchange(FakeDevice::current, device.index())};
  }
  c10::Device getDevice() const override { return {type(), FakeDevice::current}; }
  void setDevice(c10::Device device) const override { FakeDevice::current = device.index(); }
  void uncheckedSetDevice(c10::Device device) const noexcept override { FakeDevice::current = device.index(); }
  c10::Stream getStream(c10::Device device) const override {
    TORCH_CHECK(!FakeDevice::get().broken_streams, "the driver is gone");
    const auto index = device.has_index() ? device.index() : FakeDevice::current;
    return c10::Stream(c10::Stream::UNSAFE, c10::Device(type(), index), FakeDevice::streams[index]);
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return c10::Stream(c10::Stream::UNSAFE, device, 0); }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return c10::Stream(c10::Stream::UNSAFE, stream.device(),
                       std::exchange(FakeDevice::streams[stream.device_index()], stream.id()));
  }
  c10::DeviceIndex deviceCount() const noexcept override { return kFakeDevices; }
  bool isStreamCapturing(const c10::Stream&) const override { return FakeDevice::get().capturing; }
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override { ++FakeDevice::get().synchronizations; }
  void synchronizeDevice(const c10::DeviceIndex) const override { ++FakeDevice::get().synchronizations; }
  void recordDataPtrOnStream(const c10::DataPtr& bytes, const c10::Stream& stream) const override {
    FakeDevice::get().record(bytes.get(), stream.id());
  }
};

/// A stream is current while it lives.
struct OnStream {
  c10::StreamId before;
  c10::DeviceIndex device;
  explicit OnStream(c10::StreamId id, c10::DeviceIndex on = 0)
      : before(std::exchange(FakeDevice::streams[on], id)), device(on) {}
  ~OnStream() { FakeDevice::streams[device] = before; }
};

// --- kernels: the CPU's, on the same memory ---------------------------------------------------

inline Tensor on_host(const Tensor& tensor) {
  if (tensor.is_cpu())
    return tensor;
  return at::from_blob(tensor.mutable_data_ptr(), tensor.sizes(), tensor.strides(), tensor.options().device(at::kCPU));
}

inline c10::Device device_of(std::optional<c10::Device> device) {
  const auto index = device && device->has_index() ? device->index() : FakeDevice::current;
  return {FakeDevice::get().type, index};
}

inline Tensor fake_empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<c10::ScalarType> dtype,
                                 std::optional<c10::Layout>, std::optional<c10::Device> device, std::optional<bool>) {
  const auto on = device_of(device);
  const FakeGuard guard;
  const auto before = guard.exchangeDevice(on);
  const auto type = dtype.value_or(at::kFloat);
  const auto bytes = at::detail::computeStorageNbytes(sizes, strides, c10::elementSize(type));
  auto* const allocator = c10::GetAllocator(on.type());
  auto storage = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes, allocator->allocate(bytes),
                                                       allocator, true);
  const auto key = on.type() == c10::DeviceType::CUDA ? c10::DispatchKey::CUDA : c10::DispatchKey::PrivateUse1;
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), key, c10::scalarTypeToTypeMeta(type));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  guard.setDevice(before);
  return tensor;
}

inline Tensor fake_empty(at::IntArrayRef sizes, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout,
                         std::optional<c10::Device> device, std::optional<bool> pinned, std::optional<c10::MemoryFormat>) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i > 1; --i)
    strides[i - 2] = strides[i - 1] * std::max<int64_t>(sizes[i - 1], 1);
  return fake_empty_strided(sizes, strides, dtype, layout, device, pinned);
}

inline Tensor& fake_copy_(Tensor& self, const Tensor& source, bool) {
  on_host(self).copy_(on_host(source));
  return self;
}
inline Tensor fake_copy_from(const Tensor& source, const Tensor& to, bool) {
  on_host(to).copy_(on_host(source));
  return to;
}
inline const Tensor& fake_resize_(const Tensor& self, at::IntArrayRef sizes, std::optional<c10::MemoryFormat>) {
  auto* const impl = self.unsafeGetTensorImpl();
  auto* const storage = self.storage().unsafeGetStorageImpl();
  const auto bytes = at::detail::computeStorageNbytesContiguous(sizes, self.element_size(), self.storage_offset());
  if (bytes > storage->nbytes()) {
    auto larger = c10::GetAllocator(self.device().type())->allocate(bytes);
    if (storage->nbytes() != 0)
      std::memcpy(larger.get(), storage->data(), storage->nbytes());
    storage->set_data_ptr_noswap(std::move(larger));
    storage->set_nbytes(bytes);
  }
  impl->set_sizes_contiguous(sizes);
  return self;
}
inline Tensor fake_copy_from_and_resize(const Tensor& source, const Tensor& to) {
  if (to.sizes() != source.sizes())
    fake_resize_(to, source.sizes(), std::nullopt);
  return fake_copy_from(source, to, false);
}
inline Tensor fake_as_strided(const Tensor& self, at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<int64_t> offset) {
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(c10::TensorImpl::VIEW, c10::Storage(self.storage()), self.key_set(),
                                                         self.dtype());
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, offset.value_or(self.storage_offset()));
  return tensor;
}
inline Tensor fake_view(const Tensor& self, at::IntArrayRef wanted) {
  const auto sizes = at::infer_size_dv(wanted, self.numel());
  const auto strides = at::detail::computeStride(self.sizes(), self.strides(), sizes);
  TORCH_CHECK(strides.has_value(), "not a view");
  return fake_as_strided(self, sizes, *strides, self.storage_offset());
}
inline Tensor& fake_set_(Tensor& self, c10::Storage storage, int64_t offset, at::IntArrayRef sizes, at::IntArrayRef strides) {
  self.unsafeGetTensorImpl()->set_storage_keep_dtype(std::move(storage));
  self.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, offset);
  return self;
}

void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// Registers the kernels and the guard of the program's fake device. The returned registrations last with it.
std::vector<torch::Library> register_fake_kernels(c10::DispatchKey key);

// --- its pinned memory ---------------------------------------------------------------------------

/// Memory of the host that remembers which streams were recorded.
struct FakeHostAllocator final : at::HostAllocator {
  std::map<void*, std::set<c10::StreamId>> blocks;
  std::int64_t live_bytes = 0, reserved_bytes = 0;
  std::map<void*, std::size_t> sizes, cached;

  static FakeHostAllocator& get() {
    static auto& only = *new FakeHostAllocator;
    return only;
  }
  static void free_block(void* block) {
    auto& self = get();
    self.live_bytes -= static_cast<std::int64_t>(self.sizes[block]);
    self.cached[block] = self.sizes[block];
  }
  c10::DataPtr allocate(std::size_t size) override {
    void* const block = std::malloc(std::max<std::size_t>(size, 1));
    sizes[block] = size;
    blocks[block] = {};
    live_bytes += static_cast<std::int64_t>(size);
    reserved_bytes += static_cast<std::int64_t>(size);
    return {block, block, &free_block, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t size) const override { default_copy_data(to, from, size); }
  bool record_event(void* block, void*, c10::Stream stream) override { return blocks[block].insert(stream.id()).second; }
  void empty_cache() override {
    for (auto& [block, size] : cached)
      reserved_bytes -= static_cast<std::int64_t>(size);
    cached.clear();
  }
  at::HostStats get_stats() override {
    at::HostStats stats;
    stats.active_requests.current = static_cast<std::int64_t>(blocks.size() - cached.size());
    stats.active_bytes.current = live_bytes;
    stats.allocated_bytes.current = reserved_bytes;
    return stats;
  }
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}
};

} // namespace tensorscope_test
