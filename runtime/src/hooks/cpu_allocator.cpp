// SPDX-License-Identifier: Apache-2.0
// The allocator wrapper. Data and context of what the wrapped allocator gives stay as they are (LibTorch compares
// them); only the deleter becomes ours, one function for each colour of thread, so that freed bytes tell who
// allocated them without any table.
#include "hooks/cpu_allocator.h"

#include "platform/heap.h"

#include <c10/core/CPUAllocator.h>

#include <array>
#include <utility>

namespace tensorscope::hooks {
namespace {

using core::kColours;
using core::ThreadRecord;

constinit c10::Allocator* wrapped = nullptr;
constinit c10::DeleterFnPtr wrapped_deleter = nullptr; ///< null: bytes are not marked
constinit c10::Allocator* installed = nullptr;

template <std::size_t colour>
void free_bytes(void* bytes) {
  if (bytes != nullptr) {
    if (ThreadRecord* const thread = core::this_thread()) {
      thread->frees[colour].add(1);
      thread->freed_bytes[colour].add(platform::block_size(bytes));
      if (!thread->births.empty()) {
        thread->births.forget(bytes);
      }
    }
  }
  wrapped_deleter(bytes);
}

template <std::size_t... colours>
constexpr std::array<c10::DeleterFnPtr, kColours> make_deleters(std::index_sequence<colours...>) {
  return {&free_bytes<colours>...};
}
constexpr auto deleters = make_deleters(std::make_index_sequence<kColours>());

void note_birth(ThreadRecord& thread, const void* bytes) {
  if (thread.innermost == nullptr || thread.depths.library != 0) {
    return;
  }
  if (thread.depths.operators == 0) {
    thread.unobserved.add(bytes != nullptr ? 1 : 0);
  } else if (bytes == nullptr) {
    thread.births.add_empty();
  } else {
    thread.births.add(bytes);
  }
}

class WatchedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    c10::DataPtr bytes = wrapped->allocate(size);
    ThreadRecord* const thread = core::this_thread();
    if (thread == nullptr) {
      return bytes;
    }
    if (wrapped_deleter != nullptr && bytes.compare_exchange_deleter(wrapped_deleter, deleters[thread->colour]) &&
        bytes.get() != nullptr) {
      thread->allocations.add(1);
      thread->allocated_bytes.add(platform::block_size(bytes.get()));
      thread->peak_bytes.raise_to(thread->live_bytes_by_own_frees());
    }
    note_birth(*thread, bytes.get());
    return bytes;
  }

  c10::DeleterFnPtr raw_deleter() const override {
    // LibTorch frees what it allocated raw by this function alone; any colour frees rightly. The count goes to
    // the calling thread's colour at the allocation, which is the usual thread of the free.
    if (wrapped_deleter == nullptr) {
      return wrapped->raw_deleter();
    }
    const ThreadRecord* const thread = core::this_thread();
    return deleters[thread != nullptr ? thread->colour : 0];
  }

  void copy_data(void* to, const void* from, std::size_t size) const override { wrapped->copy_data(to, from, size); }
};

} // namespace

void install_cpu_allocator() {
  static auto* const allocator = new WatchedAllocator; // never destroyed: storages keep its address
  wrapped = c10::GetAllocator(c10::kCPU);
  if (wrapped == c10::GetDefaultCPUAllocator()) {
    wrapped_deleter = wrapped->raw_deleter();
  }
  installed = allocator;
  c10::SetAllocator(c10::kCPU, allocator);
}

bool cpu_allocator_in_place() {
  return installed == nullptr || c10::GetAllocator(c10::kCPU) == installed;
}

bool allocated_by(const ThreadRecord& thread, c10::DeleterFnPtr deleter) {
  return wrapped_deleter == nullptr || deleter == deleters[thread.colour];
}

} // namespace tensorscope::hooks
