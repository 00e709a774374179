// SPDX-License-Identifier: Apache-2.0
// Records of threads: one each, used again, counted without locks.
#include "core/thread_record.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace {

using namespace tensorscope::core;

std::size_t record_count() {
  std::size_t count = 0;
  for (const ThreadRecord* record = all_records(); record != nullptr; record = record->next) {
    ++count;
  }
  return count;
}

TEST(ThreadRecordTest, AThreadKeepsItsRecord) {
  ThreadRecord* const mine = this_thread();
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(this_thread(), mine);
  EXPECT_EQ(current_record, mine);
}

TEST(ThreadRecordTest, ThreadsThatRunTogetherHaveRecordsOfTheirOwn) {
  constexpr int kThreads = 8;
  std::atomic<int> ready{0};
  std::vector<ThreadRecord*> records(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      records[i] = this_thread();
      ++ready;
      while (ready != kThreads) {
        std::this_thread::yield();
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(std::set<ThreadRecord*>(records.begin(), records.end()).size(), static_cast<std::size_t>(kThreads));
}

TEST(ThreadRecordTest, RecordsOfEndedThreadsAreUsedAgain) {
  std::thread([] { this_thread(); }).join();
  const auto before = record_count();
  for (int i = 0; i < 50; ++i) {
    std::thread([] { this_thread(); }).join();
  }
  EXPECT_EQ(record_count(), before);
}

TEST(ThreadRecordTest, AnEndedThreadLeavesNoOperatorUnderWay) {
  ThreadRecord* record = nullptr;
  std::thread([&] {
    record = this_thread();
    record->operator_stamp.fetch_add(1);
    record->depths = {4, 2};
  }).join();
  EXPECT_EQ(record->operator_stamp.load() % 2, 0u);
  EXPECT_EQ(record->depths.operators, 0u);
  EXPECT_FALSE(record->in_use.load());
}

TEST(ThreadRecordTest, TheEndHookSeesTheRecordBeforeItIsGivenAway) {
  static std::atomic<int> seen{0};
  set_thread_end_hook([](ThreadRecord& record) noexcept { seen += record.in_use.load() ? 1 : 100; });
  std::thread([] { this_thread(); }).join();
  set_thread_end_hook(nullptr);
  EXPECT_EQ(seen.load(), 1);
}

TEST(CounterTest, AddsAndRaises) {
  Counter counter;
  counter.add(5);
  counter.raise_to(3);
  EXPECT_EQ(counter.get(), 5u);
  counter.raise_to(9);
  EXPECT_EQ(counter.get(), 9u);
}

} // namespace
