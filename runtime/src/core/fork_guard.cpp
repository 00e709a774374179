// SPDX-License-Identifier: Apache-2.0
// Handlers for fork.
#include "core/fork_guard.h"

#include "core/epochs.h"
#include "core/thread_record.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <utility>

namespace tensorscope::core {
namespace {

constexpr std::size_t kMostMutexes = 32; // the library has about a dozen
constinit std::array<std::atomic<std::mutex*>, kMostMutexes> mutexes{};
constinit std::atomic<std::size_t> mutex_count{0};
constinit std::atomic<std::uint32_t> generation{0};

// Between the two handlers only the forking thread may change these.
constinit ThreadRecord* first_locked = nullptr;
constinit std::array<std::mutex*, kMostMutexes> locked{};

void before_fork() {
  mutex_of_new_records().lock(); // else a thread that starts now could leave its ledger locked in the child
  ThreadRecord* const first = all_records();
  for (ThreadRecord* record = first; record != nullptr; record = record->next) {
    record == current_record ? record->ledger_lock.lock_as_owner() : record->ledger_lock.lock_as_reader();
  }
  std::array<std::mutex*, kMostMutexes> now{};
  for (std::size_t i = 0; i < kMostMutexes; ++i) {
    now[i] = mutexes[i].load(std::memory_order_acquire);
    if (now[i] != nullptr) {
      now[i]->lock();
    }
  }
  first_locked = first;
  locked = now;
}

void after_fork() {
  ThreadRecord* const first = first_locked;
  for (std::mutex* const mutex : std::exchange(locked, {})) {
    if (mutex != nullptr) {
      mutex->unlock();
    }
  }
  for (ThreadRecord* record = first; record != nullptr; record = record->next) {
    record == current_record ? record->ledger_lock.unlock_as_owner() : record->ledger_lock.unlock_as_reader();
  }
  mutex_of_new_records().unlock();
}

void in_child() {
  generation.fetch_add(1);
  after_fork();
  forget_other_threads();
}

} // namespace

void hold_over_fork(std::mutex& mutex) noexcept {
  const std::size_t place = mutex_count.fetch_add(1);
  if (place < kMostMutexes) {
    mutexes[place].store(&mutex, std::memory_order_release);
  }
}

std::uint32_t process_generation() noexcept {
  return generation.load(std::memory_order_relaxed);
}

void guard_forks() {
  ::pthread_atfork(&before_fork, &after_fork, &in_child);
}

} // namespace tensorscope::core
