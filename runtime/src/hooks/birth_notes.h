// SPDX-License-Identifier: Apache-2.0
// What an allocation means to the thread that makes it. Used by everything that sees allocations.
#pragma once

#include "core/thread_record.h"

namespace tensorscope::hooks {

/// Notes bytes that `thread`, the calling one, was just given; null for an allocation of none.
inline void note_birth(core::ThreadRecord& thread, const void* bytes) {
  const bool in_region = thread.innermost != nullptr && thread.depths.library == 0;
  if (!in_region && !core::ledger_is_kept) {
    return;
  }
  if (thread.depths.operators == 0) {
    thread.unobserved.add(in_region && bytes != nullptr ? 1 : 0);
  } else if (bytes == nullptr) {
    thread.births.add_empty();
  } else {
    thread.births.add(bytes);
  }
}

} // namespace tensorscope::hooks
