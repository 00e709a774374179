// SPDX-License-Identifier: Apache-2.0
// Sums.
#include "core/live_figures.h"

#include "core/thread_record.h"

namespace tensorscope::core {

Live live_in_process() noexcept {
  Live live;
  for (const ThreadRecord* record = all_records(); record != nullptr; record = record->next) {
    live.count += record->allocations.get();
    live.bytes += record->allocated_bytes.get();
    for (std::size_t colour = 0; colour < kColours; ++colour) {
      live.count -= record->frees[colour].get();
      live.bytes -= record->freed_bytes[colour].get();
    }
  }
  return live;
}

} // namespace tensorscope::core
