// SPDX-License-Identifier: Apache-2.0
// The lock of a thread's ledger.
#include "core/ledger.h"

#include "core/fork_guard.h"

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

void LedgerLock::take() noexcept {
  while (held_.exchange(true, std::memory_order_acquire)) {
    ::sched_yield(); // a report is being made
  }
}

bool LedgerLock::try_lock_as_reader(std::int64_t deadline) noexcept {
  while (held_.exchange(true, std::memory_order_acquire)) {
    if (monotonic_now() >= deadline) {
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
