// SPDX-License-Identifier: Apache-2.0
// Whether this machine lets a process stop its own threads. A debugger, or a container's rules, may not.
#pragma once

#include "report/stopped_threads.h"

#include <atomic>
#include <thread>

inline bool threads_can_be_stopped() {
  std::atomic<bool> end{false};
  std::thread other([&] { end.wait(false); });
  const bool stopped = tensorscope::report::StoppedThreads().stop();
  end = true;
  end.notify_all();
  other.join();
  return stopped;
}

#define SKIP_IF_THREADS_CANNOT_BE_STOPPED()             \
  if (!threads_can_be_stopped()) {                      \
    GTEST_SKIP() << "no process may stop threads here"; \
  }                                                     \
  static_assert(true)
