// SPDX-License-Identifier: Apache-2.0
// Watches the process's heap while an example runs; measured by the C library, so that the figures do not depend on
// the tool that the examples show.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstdio>

namespace example {

/// Bytes that the program holds at this moment, in all of the allocator's arenas and its mapped blocks.
inline long live_heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<long>(info.uordblks + info.hblkhd);
}

/// Prints the live bytes every `interval` steps and remembers how far they rose after the first `warmup` steps.
class MemoryWatch {
 public:
  MemoryWatch(long interval, long warmup) : interval_(interval), warmup_(warmup) {}

  void sample(long step) {
    const long bytes = live_heap_bytes();
    if (step == warmup_) first_ = bytes;
    if (step >= warmup_) last_ = bytes;
    if (step % interval_ == 0) std::printf("step %5ld   live %8.1f KiB\n", step, bytes / 1024.0);
  }

  long growth() const { return last_ - first_; }

  /// Libraries fill small caches of their own as a program runs; a step of an example that is kept costs more.
  bool is_flat() const { return growth() < 64 * 1024; }

  /// One line with the result, in the words that the tests look for.
  void print_summary() const {
    std::printf("memory: %s (%+.1f KiB after step %ld)\n", is_flat() ? "flat" : "grows", growth() / 1024.0, warmup_);
  }

 private:
  long interval_, warmup_;
  long first_ = 0, last_ = 0;
};

} // namespace example
