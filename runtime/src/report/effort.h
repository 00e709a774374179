// SPDX-License-Identifier: Apache-2.0
// What a part of a report may cost at most. Processor time, of this thread: on a busy machine as much is found as on a quiet one.
#pragma once

#include <ctime>

#include <chrono>

namespace tensorscope::report {

class Effort {
 public:
  explicit Effort(std::chrono::nanoseconds most) : most_(most) {}

  static std::chrono::nanoseconds now() {
    std::timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  bool is_spent() const { return spent_ > most_; }

  /// What is done while it lives counts.
  class Counting {
   public:
    explicit Counting(Effort& effort) : effort_(effort), begin_(now()) {}
    ~Counting() { effort_.spent_ += now() - begin_; }
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;

   private:
    Effort& effort_;
    std::chrono::nanoseconds begin_;
  };

 private:
  std::chrono::nanoseconds most_;
  std::chrono::nanoseconds spent_{};
};

} // namespace tensorscope::report
