// SPDX-License-Identifier: Apache-2.0
// When the operators that were under way at a release have ended.
#include "core/epochs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

namespace {

using namespace tensorscope::core;

void begin_operator(ThreadRecord& thread) {
  thread.operator_stamp.fetch_add(1);
}
void end_operator(ThreadRecord& thread) {
  thread.operator_stamp.fetch_add(1);
}

/// A thread that does one thing after another on request.
class Worker {
 public:
  Worker() : thread_([this] { run(); }) {}
  ~Worker() {
    stop_ = true;
    thread_.join();
  }
  void make(std::function<void(ThreadRecord&)> what) {
    what_ = std::move(what);
    asked_ = true;
    while (asked_) {
      std::this_thread::yield();
    }
  }

 private:
  void run() {
    while (!stop_) {
      if (asked_) {
        what_(*this_thread());
        asked_ = false;
      }
      std::this_thread::yield();
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<bool> asked_{false};
  std::function<void(ThreadRecord&)> what_;
  std::thread thread_;
};

TEST(EpochTest, IsOverAtOnceWhenNoOtherThreadIsInAnOperator) {
  Worker worker;
  worker.make([](ThreadRecord&) {});
  auto epoch = Epoch::now(this_thread());
  EXPECT_TRUE(epoch.over());
}

TEST(EpochTest, WaitsForAnOperatorThatWasUnderWay) {
  Worker worker;
  worker.make(begin_operator);
  auto epoch = Epoch::now(this_thread());
  EXPECT_FALSE(epoch.over());
  worker.make(end_operator);
  EXPECT_TRUE(epoch.over());
}

TEST(EpochTest, DoesNotWaitForOperatorsThatBeginLater) {
  Worker worker;
  worker.make(begin_operator);
  auto epoch = Epoch::now(this_thread());
  worker.make(end_operator);
  worker.make(begin_operator);
  EXPECT_TRUE(epoch.over());
  worker.make(end_operator);
}

TEST(EpochTest, DoesNotWaitForTheCallersOwnOperator) {
  begin_operator(*this_thread());
  auto epoch = Epoch::now(this_thread());
  EXPECT_TRUE(epoch.over());
  end_operator(*this_thread());
}

TEST(EpochTest, IsOverWhenTheThreadHasEnded) {
  auto epoch = [] {
    Worker worker;
    worker.make(begin_operator);
    auto taken = Epoch::now(this_thread());
    EXPECT_FALSE(taken.over());
    return taken;
  }();
  EXPECT_TRUE(epoch.over());
}

TEST(EpochTest, WaitsForEachOfSeveralThreads) {
  Worker first;
  Worker second;
  first.make(begin_operator);
  second.make(begin_operator);
  auto epoch = Epoch::now(this_thread());
  first.make(end_operator);
  EXPECT_FALSE(epoch.over());
  second.make(end_operator);
  EXPECT_TRUE(epoch.over());
}

} // namespace
