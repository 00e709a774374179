// SPDX-License-Identifier: Apache-2.0
// Whether a program's tensors take the same memory in its last step as in its tenth.
#pragma once

#include <tensorscope/tensorscope.h>

#include <cstdint>
#include <cstdio>

namespace workload {

/// Bytes of this process's CPU tensors now, as tensorscope counts them.
inline std::int64_t live_bytes() { return static_cast<std::int64_t>(tensorscope::stats().total().bytes); }

/// The most that there were at once.
inline std::int64_t peak_bytes() { return static_cast<std::int64_t>(tensorscope::stats().total().peak); }

class FlatMemory {
 public:
  /// Call it after each step. `carried` bytes are those that the step is meant to leave.
  void step_ended(std::int64_t carried = 0) {
    const std::int64_t bytes = live_bytes() - carried;
    ++steps_;
    if (steps_ == kWarmup) settled_ = lowest_ = highest_ = bytes;
    if (steps_ < kWarmup) return;
    lowest_ = bytes < lowest_ ? bytes : lowest_;
    highest_ = bytes > highest_ ? bytes : highest_;
  }

  bool is_flat() const { return steps_ > kWarmup && lowest_ == settled_ && highest_ == settled_; }

  /// Prints what was seen; the exit code of a program that promises flat memory.
  int exit_code() const {
    std::printf("memory: %s, %lld bytes after step %d, at most %lld after those up to %d\n", is_flat() ? "flat" : "grows",
                static_cast<long long>(settled_), kWarmup, static_cast<long long>(highest_), steps_);
    return is_flat() ? 0 : 1;
  }

 private:
  static constexpr int kWarmup = 10; ///< steps in which an optimizer makes its state, and caches fill
  int steps_ = 0;
  std::int64_t settled_ = 0, lowest_ = 0, highest_ = 0;
};

} // namespace workload
