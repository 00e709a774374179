// SPDX-License-Identifier: Apache-2.0
// Other threads stand still while they are stopped, and go on as if nothing had been.
#include "stopping.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using tensorscope::report::StoppedThreads;

void pause_for(long milliseconds) {
  const ::timespec time{0, milliseconds * 1'000'000};
  ::nanosleep(&time, nullptr);
}

TEST(StoppedThreadsTest, ThereMayBeNoOthers) {
  StoppedThreads others;
  ASSERT_TRUE(others.stop());
  EXPECT_TRUE(others.threads().empty());
}

TEST(StoppedThreadsTest, ThoseThatRunStandStill) {
  SKIP_IF_THREADS_CANNOT_BE_STOPPED();
  std::atomic<std::uint64_t> rounds{0};
  std::atomic<bool> end{false};
  std::atomic<int> id{0};
  std::thread working([&] {
    id = static_cast<int>(::syscall(SYS_gettid));
    while (!end) {
      ++rounds;
    }
  });
  while (rounds == 0) {
  }
  StoppedThreads others;
  for (int i = 0; i < 3; ++i) {
    const bool stopped = others.stop();
    const std::uint64_t before = rounds;
    pause_for(20);
    const std::uint64_t after = rounds;
    ASSERT_EQ(others.threads().size(), stopped ? 1 : 0);
    others.go_on();
    EXPECT_TRUE(stopped);
    EXPECT_EQ(before, after);
    EXPECT_EQ(others.threads()[0].id, id);
    while (rounds == after) {
    }
  }
  end = true;
  working.join();
}

TEST(StoppedThreadsTest, ThoseThatWaitGoOnWaiting) {
  SKIP_IF_THREADS_CANNOT_BE_STOPPED();
  int slept = -1;
  int polled = -1;
  std::thread sleeping([&] {
    const ::timespec time{0, 200'000'000};
    slept = ::nanosleep(&time, nullptr);
  });
  std::thread polling([&] { polled = ::poll(nullptr, 0, 200); });
  pause_for(20);
  {
    StoppedThreads others;
    EXPECT_TRUE(others.stop());
    EXPECT_EQ(others.threads().size(), 2);
  }
  sleeping.join();
  polling.join();
  EXPECT_EQ(slept, 0);
  EXPECT_EQ(polled, 0);
}

TEST(StoppedThreadsTest, ManyThatComeAndGo) {
  SKIP_IF_THREADS_CANNOT_BE_STOPPED();
  std::atomic<bool> end{false};
  std::thread starting([&] {
    while (!end) {
      std::vector<std::thread> some;
      for (int i = 0; i < 8; ++i) {
        some.emplace_back([] {});
      }
      for (std::thread& one : some) {
        one.join();
      }
    }
  });
  StoppedThreads others;
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(others.stop());
    EXPECT_GE(others.threads().size(), 1);
    others.go_on();
  }
  end = true;
  starting.join();
}

std::atomic<int> signals{0};

TEST(StoppedThreadsTest, NoSignalIsLost) {
  SKIP_IF_THREADS_CANNOT_BE_STOPPED();
  ::signal(SIGUSR1, [](int) { ++signals; });
  std::atomic<bool> end{false};
  std::thread working([&] {
    while (!end) {
    }
  });
  StoppedThreads others;
  for (int i = 1; i <= 20; ++i) {
    ::pthread_kill(working.native_handle(), SIGUSR1);
    EXPECT_TRUE(others.stop());
    others.go_on();
    while (signals != i) {
    }
  }
  end = true;
  working.join();
  ::signal(SIGUSR1, SIG_DFL);
}

} // namespace
