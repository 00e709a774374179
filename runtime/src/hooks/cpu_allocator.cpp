// SPDX-License-Identifier: Apache-2.0
// The allocator wrapper. Data and context of what the wrapped allocator gives stay as they are (LibTorch compares
// them); only the deleter becomes ours. There is one function for each colour of thread and each way to know a
// block's requested size, so that freed bytes tell who allocated them, and how many, without any table.
#include "hooks/cpu_allocator.h"

#include "hooks/birth_notes.h"
#include "hooks/out_of_memory.h"
#include "platform/heap.h"

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace tensorscope::hooks {
namespace {

using core::kColours;
using core::ThreadRecord;

constinit c10::Allocator* wrapped = nullptr;
constinit c10::DeleterFnPtr wrapped_deleter = nullptr; ///< null: bytes are not marked
constinit c10::Allocator* installed = nullptr;

/// Of `limit_mb`; without a limit nothing is counted here, since all threads share the figure.
constinit std::uint64_t most_bytes = 0;
constinit std::atomic<std::int64_t> bytes_alive{0};

/// The heap mostly gives some bytes more than were asked for. Eight or more: the requested size stands in the last
/// eight (`kInTail`). Fewer: their number is part of the deleter.
constexpr std::size_t kInTail = sizeof(std::uint64_t);
constexpr std::size_t kSizeKinds = kInTail + 1; // 0 to 7 bytes more than were asked for, and "in the tail"

/// Notes the size that was asked for, and says how.
std::size_t note_size(void* block, std::size_t requested) {
  const std::size_t given = platform::block_size(block);
  const std::size_t spare = given - std::min(given, requested);
  if (spare < kInTail) {
    return spare;
  }
  const std::uint64_t size = requested;
  std::memcpy(static_cast<char*>(block) + given - kInTail, &size, kInTail);
  return kInTail;
}

std::uint64_t noted_size(void* block, std::size_t kind) {
  const std::size_t given = platform::block_size(block);
  if (kind != kInTail) {
    return given - kind;
  }
  std::uint64_t size = 0;
  std::memcpy(&size, static_cast<char*>(block) + given - kInTail, kInTail);
  return size;
}

void note_free(void* block, std::size_t colour, std::uint64_t size) {
  if (most_bytes != 0) [[unlikely]] {
    bytes_alive.fetch_sub(static_cast<std::int64_t>(size), std::memory_order_relaxed);
  }
  if (ThreadRecord* const thread = core::this_thread()) {
    thread->frees[colour].add(1);
    thread->freed_bytes[colour].add(size);
    if (core::ledger_is_kept) {
      thread->timeline.change(-static_cast<std::int64_t>(size));
    }
    if (!thread->births.empty()) {
      thread->births.forget(block);
    }
  }
}

template <std::size_t colour, std::size_t kind>
void free_block(void* block) {
  if (block != nullptr) {
    note_free(block, colour, noted_size(block, kind));
  }
  wrapped_deleter(block);
}

/// For LibTorch's raw allocations, which keep no deleter: the block itself must tell its size.
void free_raw_block(void* block) {
  if (block != nullptr) {
    const std::size_t given = platform::block_size(block);
    const std::uint64_t tail = given >= kInTail ? noted_size(block, kInTail) : 0;
    // Rounding and alignment make a block larger by less than this; a tail that says otherwise is the program's data.
    constexpr std::size_t kMostSpare = 256;
    const bool plausible = tail + kInTail <= given && given - tail < kMostSpare;
    const ThreadRecord* const thread = core::this_thread();
    note_free(block, thread != nullptr ? thread->colour : 0, plausible ? tail : given);
  }
  wrapped_deleter(block);
}

using Deleters = std::array<c10::DeleterFnPtr, kSizeKinds>;

template <std::size_t colour, std::size_t... kinds>
constexpr Deleters deleters_of_colour(std::index_sequence<kinds...>) {
  return {&free_block<colour, kinds>...};
}
template <std::size_t... colours>
constexpr std::array<Deleters, kColours> make_deleters(std::index_sequence<colours...>) {
  return {deleters_of_colour<colours>(std::make_index_sequence<kSizeKinds>())...};
}
constexpr auto deleters = make_deleters(std::make_index_sequence<kColours>());

bool is_above_limit(std::size_t size) {
  const auto alive = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes_alive.load(std::memory_order_relaxed), 0));
  return size > most_bytes || alive > most_bytes - size;
}

/// Ends as LibTorch's own allocator does when there is no memory, in type and words: programs look for them.
[[noreturn]] void refuse(std::size_t size) {
  note_out_of_memory({c10::kCPU, size, most_bytes, ""});
  C10_THROW_ERROR(Error, "DefaultCPUAllocator: can't allocate memory: you tried to allocate " + std::to_string(size) +
                             " bytes. Error code 12 (Cannot allocate memory); tensorscope's limit_mb=" +
                             std::to_string(most_bytes >> 20));
}

c10::DataPtr allocate_behind(std::size_t size) {
  try {
    return wrapped->allocate(size);
  } catch (...) {
    note_out_of_memory({c10::kCPU, size, 0, ""});
    throw;
  }
}

class WatchedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    if (most_bytes != 0 && size != 0 && is_above_limit(size)) [[unlikely]] {
      refuse(size);
    }
    c10::DataPtr bytes = allocate_behind(size);
    ThreadRecord* const thread = core::this_thread();
    if (thread == nullptr) {
      return bytes;
    }
    if (wrapped_deleter != nullptr && bytes.get_deleter() == wrapped_deleter) {
      mark(*thread, bytes, size);
    }
    note_birth(*thread, bytes.get());
    return bytes;
  }

  c10::DeleterFnPtr raw_deleter() const override {
    return wrapped_deleter != nullptr ? &free_raw_block : wrapped->raw_deleter();
  }

  void copy_data(void* to, const void* from, std::size_t size) const override { wrapped->copy_data(to, from, size); }

 private:
  /// Puts a deleter of ours on the bytes and counts them.
  static void mark(ThreadRecord& thread, c10::DataPtr& bytes, std::size_t size) {
    void* const block = bytes.get();
    const std::size_t kind = block != nullptr ? note_size(block, size) : 0;
    if (!bytes.compare_exchange_deleter(wrapped_deleter, deleters[thread.colour][kind]) || block == nullptr) {
      return;
    }
    if (most_bytes != 0) [[unlikely]] {
      bytes_alive.fetch_add(static_cast<std::int64_t>(size), std::memory_order_relaxed);
    }
    thread.allocations.add(1);
    thread.allocated_bytes.add(size);
    thread.peak_bytes.raise_to(thread.live_bytes_by_own_frees());
    if (core::ledger_is_kept) {
      thread.timeline.change(static_cast<std::int64_t>(size));
    }
  }
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

bool limit_cpu_bytes(std::uint64_t most) {
  most_bytes = wrapped_deleter != nullptr ? most : 0;
  return most_bytes == most;
}

bool cpu_allocator_in_place() {
  return installed == nullptr || c10::GetAllocator(c10::kCPU) == installed;
}

bool cpu_bytes_are_counted() {
  return installed == nullptr || wrapped_deleter != nullptr;
}

bool allocated_by(const ThreadRecord& thread, c10::DeleterFnPtr deleter) {
  const auto& own = deleters[thread.colour];
  return wrapped_deleter == nullptr || std::find(own.begin(), own.end(), deleter) != own.end();
}

} // namespace tensorscope::hooks
