// SPDX-License-Identifier: Apache-2.0
// Watches the process's heap while an example runs; measured by the C library, so that the figures do not depend on
// the tool that the examples show.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace example {

/// Bytes that the program holds at this moment, in all of the allocator's arenas and its mapped blocks.
inline long live_heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<long>(info.uordblks + info.hblkhd);
}

/// Prints the live bytes every `interval` steps and keeps those of each step after the first `warmup` ones.
class MemoryWatch {
 public:
  MemoryWatch(long interval, long warmup) : interval_(interval), warmup_(warmup) { bytes_.reserve(4096); }

  void sample(long step) {
    const long bytes = live_heap_bytes();
    if (step > warmup_) bytes_.push_back(bytes);
    if (step % interval_ == 0) std::printf("step %5ld   live %8.1f KiB\n", step, static_cast<double>(bytes) / 1024);
  }

  /// How much higher the second half of the steps came than the first. Peaks are compared, since lists that are
  /// pruned now and then make the figure rise and fall.
  long growth() const {
    const auto middle = bytes_.begin() + static_cast<std::ptrdiff_t>(bytes_.size() / 2);
    if (middle == bytes_.begin()) return 0;
    return *std::max_element(middle, bytes_.end()) - *std::max_element(bytes_.begin(), middle);
  }

  /// Small caches of the libraries fill as a program runs; what a step of an example keeps adds up to more.
  bool is_flat() const { return growth() < 32 * 1024; }

  /// One line with the result, in the words that the tests look for.
  void print_summary() const {
    std::printf("memory: %s (%+.1f KiB from the first half of the steps to the second)\n", is_flat() ? "flat" : "grows",
                static_cast<double>(growth()) / 1024);
  }

 private:
  long interval_, warmup_;
  std::vector<long> bytes_;
};

} // namespace example
