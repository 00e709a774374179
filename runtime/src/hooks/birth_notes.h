// SPDX-License-Identifier: Apache-2.0
// What an allocation means to the thread that makes it. Used by everything that sees allocations.
#pragma once

#include "core/thread_record.h"

namespace tensorscope::hooks {

/// Counts allocations between two operators. LibTorch makes a few: one for each number that Python hands to an operator.
/// Very many say that no operator is seen any more.
inline void note_unseen(core::ThreadRecord& thread) {
  static thread_local constinit std::uint64_t stamp = 0;
  static thread_local constinit std::uint64_t in_a_row = 0;
  const std::uint64_t now = thread.operator_stamp.load(std::memory_order_relaxed);
  in_a_row = now == stamp ? in_a_row + 1 : 1;
  stamp = now;
  thread.unseen_births.raise_to(in_a_row);
}

/// Notes bytes that `thread`, the calling one, was just given; null for an allocation of none.
inline void note_birth(core::ThreadRecord& thread, const void* bytes) {
  const bool in_region = thread.innermost != nullptr && thread.depths.library == 0;
  if (!in_region && !core::ledger_is_kept) {
    return;
  }
  if (thread.depths.operators == 0) {
    thread.unobserved.add(in_region && bytes != nullptr ? 1 : 0);
    note_unseen(thread);
  } else if (bytes == nullptr) {
    thread.births.add_empty();
  } else {
    thread.births.add(bytes);
  }
}

} // namespace tensorscope::hooks
