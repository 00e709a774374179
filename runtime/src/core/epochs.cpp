// SPDX-License-Identifier: Apache-2.0
// Epochs over the threads' operator marks.
#include "core/epochs.h"

#include "platform/barrier.h"
#include "platform/unseen_threads.h"

#include <algorithm>

namespace tensorscope::core {
namespace {

bool observed(std::int32_t system_id) {
  for (const ThreadRecord* record = all_records(); record != nullptr; record = record->next) {
    if (record->in_use.load(std::memory_order_acquire) && record->system_id.load(std::memory_order_acquire) == system_id &&
        record->observed.load(std::memory_order_acquire)) {
      return true;
    }
  }
  return false;
}

} // namespace

Epoch Epoch::now(const ThreadRecord* self) {
  Epoch epoch;
  platform::barrier_on_all_threads();
  for (const ThreadRecord* record = all_records(); record != nullptr; record = record->next) {
    const auto stamp = record->operator_stamp.load(std::memory_order_acquire);
    if (record != self && (stamp & 1) != 0) {
      epoch.running_.push_back({record, stamp});
    }
  }
  epoch.unseen_threads_ = platform::unseen_threads_remain(&observed);
  return epoch;
}

bool Epoch::over() {
  std::erase_if(running_, [](const Running& running) {
    return running.thread->operator_stamp.load(std::memory_order_acquire) != running.stamp;
  });
  if (unseen_threads_) {
    unseen_threads_ = platform::unseen_threads_remain(&observed);
  }
  return running_.empty() && !unseen_threads_;
}

void forget_other_threads() noexcept {
  for (ThreadRecord* record = all_records(); record != nullptr; record = record->next) {
    if (record != current_record) {
      record->operator_stamp.fetch_add(record->operator_stamp.load() & 1);
    }
  }
  platform::forget_threads();
  platform::prepare_barrier();
}

void note_unobserved_threads() {
  platform::note_threads();
}

} // namespace tensorscope::core
