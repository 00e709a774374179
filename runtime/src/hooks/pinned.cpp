// SPDX-License-Identifier: Apache-2.0
// The wrapper forwards everything: data, context and deleter stay as they are.
#include "hooks/pinned.h"

#include "hooks/birth_notes.h"

#include <ATen/core/CachingHostAllocator.h>

#include <array>
#include <atomic>
#include <limits>
#include <utility>

namespace tensorscope::hooks {
namespace {

class WatchedHostAllocator final : public at::HostAllocator {
 public:
  explicit WatchedHostAllocator(at::HostAllocator& wrapped) : wrapped_(wrapped) {}

  at::HostAllocator& wrapped() const { return wrapped_; }
  c10::DeleterFnPtr deleter() const { return deleter_.load(std::memory_order_acquire); }

  c10::DataPtr allocate(std::size_t size) override {
    c10::DataPtr bytes = wrapped_.allocate(size);
    if (bytes.get() != nullptr) {
      deleter_.store(bytes.get_deleter(), std::memory_order_release);
      if (auto* const thread = core::this_thread()) {
        note_birth(*thread, bytes.get());
      }
    }
    return bytes;
  }
  bool is_simple_data_ptr(const c10::DataPtr& bytes) const override { return wrapped_.is_simple_data_ptr(bytes); }
  c10::DeleterFnPtr raw_deleter() const override { return wrapped_.raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t size) const override { wrapped_.copy_data(to, from, size); }

  bool record_event(void* bytes, void* context, c10::Stream stream) override {
    return wrapped_.record_event(bytes, context, stream);
  }
  void empty_cache() override { wrapped_.empty_cache(); }
  at::HostStats get_stats() override { return wrapped_.get_stats(); }
  void reset_accumulated_stats() override { wrapped_.reset_accumulated_stats(); }
  void reset_peak_stats() override { wrapped_.reset_peak_stats(); }
  void begin_allocate_to_pool(c10::MempoolId_t pool, std::function<bool(c10::Stream)> filter) override {
    wrapped_.begin_allocate_to_pool(pool, std::move(filter));
  }
  void end_allocate_to_pool(c10::MempoolId_t pool) override { wrapped_.end_allocate_to_pool(pool); }
  void release_pool(c10::MempoolId_t pool) override { wrapped_.release_pool(pool); }
  void record_history(bool enabled, c10::CachingDeviceAllocator::CreateContextFn recorder, std::size_t entries,
                      c10::CachingDeviceAllocator::RecordContext when, bool clear) override {
    wrapped_.record_history(enabled, recorder, entries, when, clear);
  }
  bool is_history_enabled() const override { return wrapped_.is_history_enabled(); }
  std::vector<c10::CachingDeviceAllocator::HostSegmentInfo> get_segments() override { return wrapped_.get_segments(); }
  std::vector<c10::CachingDeviceAllocator::TraceEntry> get_traces() override { return wrapped_.get_traces(); }
  void record_external_register(void* bytes, std::size_t size) override { wrapped_.record_external_register(bytes, size); }
  void record_external_unregister(void* bytes) override { wrapped_.record_external_unregister(bytes); }

 private:
  at::HostAllocator& wrapped_;
  std::atomic<c10::DeleterFnPtr> deleter_{nullptr}; ///< of all its bytes; known from the first
};

using Kinds = std::array<std::atomic<WatchedHostAllocator*>, static_cast<std::size_t>(c10::COMPILE_TIME_MAX_DEVICE_TYPES)>;
constinit Kinds watched{};

WatchedHostAllocator* watched_for(c10::DeviceType kind) noexcept {
  return watched[static_cast<std::size_t>(kind)].load(std::memory_order_acquire);
}

} // namespace

void watch_pinned(c10::DeviceType kind) noexcept {
  if (watched_for(kind) != nullptr) {
    return;
  }
  try {
    at::HostAllocator* const present = at::getHostAllocator(kind); // throws if there is none
    if (present != nullptr) {
      auto* const ours = new WatchedHostAllocator(*present); // never destroyed: LibTorch keeps its address
      watched[static_cast<std::size_t>(kind)].store(ours, std::memory_order_release);
      at::setHostAllocator(kind, ours, std::numeric_limits<std::uint8_t>::max());
    }
  } catch (...) {
  }
}

std::optional<c10::DeviceType> pinned_for(c10::DeleterFnPtr deleter) noexcept {
  for (std::size_t kind = 0; deleter != nullptr && kind < watched.size(); ++kind) {
    const auto* const allocator = watched[kind].load(std::memory_order_acquire);
    if (allocator != nullptr && allocator->deleter() == deleter) {
      return static_cast<c10::DeviceType>(kind);
    }
  }
  return std::nullopt;
}

at::HostAllocator* pinned_allocator(c10::DeviceType kind) noexcept {
  auto* const allocator = watched_for(kind);
  return allocator != nullptr ? &allocator->wrapped() : nullptr;
}

void record_pinned(const c10::DataPtr& bytes, c10::Stream stream) {
  if (auto* const allocator = pinned_allocator(stream.device_type())) {
    allocator->record_event(bytes.get(), bytes.get_context(), stream);
  }
}

} // namespace tensorscope::hooks
