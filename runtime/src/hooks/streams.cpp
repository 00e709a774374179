// SPDX-License-Identifier: Apache-2.0
// Streams are told apart by LibTorch's numbers for them. They stand in tables that only grow, without a lock: an operator
// mostly finds the stream that it found last.
#include "hooks/streams.h"

#include "hooks/pinned.h"

#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace tensorscope::hooks {

constinit std::atomic<std::uint32_t> device_kinds{0};
constinit std::atomic<std::uint32_t> reporting_kinds{0};

namespace {

using c10::impl::DeviceGuardImplInterface;

constexpr std::size_t kKinds = 3;    // a program uses one, rarely two
constexpr std::size_t kDevices = 16; // of a kind
constexpr std::size_t kStreams = 64; // of a device; LibTorch's pools have 32 of each priority
constexpr c10::StreamId kNone = std::numeric_limits<c10::StreamId>::min();

/// The streams that were met on one device.
class MetStreams {
 public:
  bool contains(c10::StreamId id) const {
    bool found = false;
    visit([&](c10::StreamId known) { found = found || known == id; });
    return found;
  }
  void add(c10::StreamId id) {
    if (contains(id)) {
      return;
    }
    const std::size_t place = size_.fetch_add(1, std::memory_order_relaxed);
    if (place < kStreams) {
      places_[place].store(id ^ kNone, std::memory_order_release);
    }
  }
  bool overflowed() const { return size_.load(std::memory_order_relaxed) > kStreams; }

  template <class Visit>
  void visit(Visit visit) const {
    const std::size_t size = std::min(size_.load(std::memory_order_relaxed), kStreams);
    for (std::size_t i = 0; i < size; ++i) {
      if (const auto id = places_[i].load(std::memory_order_acquire) ^ kNone; id != kNone) {
        visit(id);
      }
    }
  }

 private:
  std::atomic<std::size_t> size_{0};
  std::array<std::atomic<c10::StreamId>, kStreams> places_{}; ///< in such a form that zero is none
};

struct Kind {
  std::atomic<int> type{-1};
  std::array<MetStreams, kDevices> devices;
};

/// Never destroyed: threads use it during exit.
std::array<Kind, kKinds>& kinds() {
  static auto& all = *new std::array<Kind, kKinds>;
  return all;
}

/// The tables of a kind of device, made at its first use; null if there are too many kinds.
Kind* kind_of(c10::DeviceType type) {
  for (Kind& kind : kinds()) {
    int expected = -1;
    if (kind.type.load(std::memory_order_acquire) == static_cast<int>(type) ||
        kind.type.compare_exchange_strong(expected, static_cast<int>(type)) || expected == static_cast<int>(type)) {
      return &kind;
    }
  }
  return nullptr;
}

const DeviceGuardImplInterface* guard_of(c10::DeviceType type) {
  return c10::impl::device_guard_impl_registry[static_cast<std::size_t>(type)].load();
}

/// Whether LibTorch did not make the stream: whoever did may have destroyed it. Such numbers are addresses, which are
/// even; those of LibTorch's own streams are odd, or zero.
bool is_external(c10::DeviceType type, c10::StreamId id) {
  using c10::DeviceType;
  return (type == DeviceType::CUDA || type == DeviceType::HIP || type == DeviceType::XPU) && id != 0 && id % 2 == 0;
}

/// The streams that this thread found current last.
using LastSeen = std::array<std::array<c10::StreamId, kDevices>, kKinds>;
constexpr LastSeen none_seen() {
  LastSeen none{};
  for (auto& devices : none) {
    devices.fill(kNone);
  }
  return none;
}
constinit thread_local LastSeen last_seen = none_seen();

void note_streams_of(c10::DeviceType type) {
  const auto* const guard = guard_of(type);
  Kind* const kind = guard != nullptr ? kind_of(type) : nullptr;
  if (kind == nullptr) {
    return;
  }
  auto& last = last_seen[static_cast<std::size_t>(kind - kinds().data())];
  const auto count = std::min<std::size_t>(static_cast<std::size_t>(std::max<int>(guard->deviceCount(), 0)), kDevices);
  for (std::size_t index = 0; index < count; ++index) {
    const auto id = guard->getStream(c10::Device(type, static_cast<c10::DeviceIndex>(index))).id();
    if (id != last[index]) {
      last[index] = id;
      kind->devices[index].add(id);
    }
  }
}

/// The streams of a device that may be reading its memory; null if they can't be told.
const MetStreams* streams_of(c10::Device device) {
  const auto index = device.has_index() ? static_cast<std::size_t>(device.index()) : 0;
  const Kind* const kind = index < kDevices ? kind_of(device.type()) : nullptr;
  if (kind == nullptr || kind->devices[index].overflowed()) {
    return nullptr;
  }
  bool told = true;
  kind->devices[index].visit([&](c10::StreamId id) { told = told && !is_external(device.type(), id); });
  return told ? &kind->devices[index] : nullptr;
}

bool guard_on_device(c10::StorageImpl& storage) {
  const auto& bytes = storage._mutable_data_ptr_no_checks();
  const auto device = bytes.device();
  const auto* const guard = guard_of(device.type());
  const auto* const allocator = c10::GetAllocator(device.type());
  const auto* const streams = streams_of(device);
  const bool known = (reporting_kinds.load(std::memory_order_relaxed) & bit_of(device.type())) != 0;
  // Memory that came from elsewhere is freed by a function that knows nothing of streams.
  if (!known || guard == nullptr || streams == nullptr || allocator == nullptr || allocator->raw_deleter() == nullptr ||
      allocator->raw_deleter() != bytes.get_deleter()) {
    return false;
  }
  streams->visit([&](c10::StreamId id) {
    guard->recordDataPtrOnStream(bytes, c10::Stream(c10::Stream::UNSAFE, device, id));
  });
  return true;
}

} // namespace

void note_current_streams() noexcept {
  for (std::uint32_t kinds = device_kinds.load(std::memory_order_relaxed); kinds != 0; kinds &= kinds - 1) {
    try {
      note_streams_of(static_cast<c10::DeviceType>(std::countr_zero(kinds)));
    } catch (...) {
      // A device that can't be asked runs nothing.
    }
  }
}

bool guard_by_streams(c10::StorageImpl& storage) noexcept {
  const auto& bytes = storage._mutable_data_ptr_no_checks();
  if (bytes.get() == nullptr || (bytes.device().is_cpu() && device_kinds.load(std::memory_order_relaxed) == 0)) {
    return true;
  }
  try {
    note_current_streams();
    if (!bytes.device().is_cpu()) {
      return guard_on_device(storage);
    }
    if (const auto kind = pinned_for(bytes.get_deleter())) {
      bool told = true;
      for (std::size_t index = 0; index < kDevices && told; ++index) {
        const c10::Device device(*kind, static_cast<c10::DeviceIndex>(index));
        const auto* const streams = streams_of(device);
        told = streams != nullptr;
        if (told) {
          streams->visit([&](c10::StreamId id) { record_pinned(bytes, c10::Stream(c10::Stream::UNSAFE, device, id)); });
        }
      }
      return told;
    }
    return true;
  } catch (...) {
    return false;
  }
}

bool is_capturing(c10::Device device) noexcept {
  try {
    const auto* const guard = guard_of(device.type());
    return guard != nullptr && guard->isStreamCapturing(guard->getStream(device));
  } catch (...) {
    return false;
  }
}

} // namespace tensorscope::hooks
