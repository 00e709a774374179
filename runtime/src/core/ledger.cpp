// SPDX-License-Identifier: Apache-2.0
// The lock of a thread's ledger.
#include "core/ledger.h"

#include "core/fork_guard.h"

#include <mutex>

#include <sched.h>

namespace tensorscope::core {

constinit bool ledger_is_kept = false;

namespace {

struct LeftOpenList {
  std::mutex mutex;
  std::vector<LeftOpen> all;
};

LeftOpenList& left_open() {
  static auto* const list = make_fork_safe<LeftOpenList>(); // never destroyed: the report is made during exit
  return *list;
}

} // namespace

const Survivor* Survivors::find(const void* storage) {
  const std::size_t young = items_.size() - std::min(items_.size(), kLinearSearch);
  for (std::size_t i = items_.size(); i > young; --i) {
    if (items_[i - 1].entry.storage == storage) {
      return &items_[i - 1];
    }
  }
  const Survivor* found = nullptr;
  if (young != 0) {
    index_.find(*this, storage, [](const Survivor& survivor) { return survivor.entry.storage; }, [&](std::uint32_t place) {
      found = found == nullptr || found < &items_[place] ? &items_[place] : found;
      return false;
    });
  }
  return found;
}

void note_left_open(const RegionPlace& place, std::uint64_t region, std::uint32_t thread) {
  auto& list = left_open();
  const std::lock_guard lock(list.mutex);
  list.all.push_back({place, region, thread});
}

std::vector<LeftOpen> regions_left_open() {
  auto& list = left_open();
  const std::lock_guard lock(list.mutex);
  return list.all;
}

void LedgerLock::let_reader_pass() noexcept {
  do {
    held_.store(false, std::memory_order_release);
    while (wanted_.load(std::memory_order_acquire)) {
      ::sched_yield(); // a report is being made
    }
    held_.store(true, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } while (wanted_.load(std::memory_order_acquire));
}

void LedgerLock::lock_as_reader() noexcept {
  while (wanted_.exchange(true, std::memory_order_acquire)) {
    ::sched_yield();
  }
  platform::barrier_on_all_threads();
  while (held_.load(std::memory_order_acquire)) {
    ::sched_yield();
  }
}

} // namespace tensorscope::core
