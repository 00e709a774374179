// SPDX-License-Identifier: Apache-2.0
// Runs a block in a scope and prints how long it took; what the block returns is the caller's.
#pragma once

#include <tensorscope/tensorscope.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace example {

class Stopwatch {
 public:
  explicit Stopwatch(const char* label) : label_(label) {}
  ~Stopwatch() {
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start_;
    std::printf("%s: %.1f ms\n", label_, passed.count());
  }

 private:
  const char* label_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

template <class Body>
auto timed(const char* label, Body&& body) {
  Stopwatch stopwatch(label);
  return tensorscope::with_torch(std::forward<Body>(body));
}

} // namespace example
