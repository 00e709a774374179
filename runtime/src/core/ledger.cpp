// SPDX-License-Identifier: Apache-2.0
// The lock of a thread's ledger.
#include "core/ledger.h"

#include "core/fork_guard.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include <sched.h>
#include <time.h>

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
  list.all.push_back({place, region, thread, 0});
}

void note_replaced_session(const std::source_location& where, std::uint64_t region, std::uint32_t thread) {
  auto& list = left_open();
  const std::lock_guard lock(list.mutex);
  const auto known = std::find_if(list.all.begin(), list.all.end(), [&](const LeftOpen& one) {
    return one.replaced != 0 && one.thread == thread && one.place.where.line() == where.line() &&
        std::strcmp(one.place.where.file_name(), where.file_name()) == 0;
  });
  if (known == list.all.end()) {
    list.all.push_back({{RegionKind::session, where}, region, thread, 1});
  } else {
    known->region = region;
    ++known->replaced;
  }
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

bool LedgerLock::try_lock_as_reader(std::int64_t deadline) noexcept {
  while (wanted_.exchange(true, std::memory_order_acquire)) {
    if (monotonic_now() >= deadline) {
      return false;
    }
    ::sched_yield();
  }
  platform::barrier_on_all_threads();
  while (held_.load(std::memory_order_acquire)) {
    if (monotonic_now() >= deadline) {
      unlock_as_reader();
      return false;
    }
    ::sched_yield();
  }
  return true;
}

std::int64_t monotonic_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

} // namespace tensorscope::core
