// SPDX-License-Identifier: Apache-2.0
// The lock of a thread's ledger.
#include "core/ledger.h"

#include "core/fork_guard.h"

#include <algorithm>
#include <cstring>
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

void LedgerLock::take() noexcept {
  while (held_.exchange(true, std::memory_order_acquire)) {
    ::sched_yield(); // a report is being made
  }
}

} // namespace tensorscope::core
