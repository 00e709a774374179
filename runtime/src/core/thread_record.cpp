// SPDX-License-Identifier: Apache-2.0
// The list of thread records. It is never taken apart: deleters run after static destruction.
#include "core/thread_record.h"

#include "core/fork_guard.h"

#include <mutex>
#include <new>

#include <sys/syscall.h>
#include <unistd.h>

namespace tensorscope::core {

thread_local constinit ThreadRecord* current_record = nullptr;

namespace {

constinit std::atomic<ThreadRecord*> head{nullptr};
constinit std::mutex adding_mutex;
constinit std::uint32_t record_count = 0;
constinit std::atomic<void (*)(ThreadRecord&) noexcept> thread_end_hook{nullptr};

/// Gives the record back when its thread ends.
struct ThreadEnd {
  ThreadRecord* record = nullptr;
  ~ThreadEnd() {
    if (record == nullptr) {
      return;
    }
    if (const auto hook = thread_end_hook.load(std::memory_order_acquire)) {
      hook(*record);
    }
    current_record = nullptr;
    record->operators_in_flight = 0;
    record->operator_stamp.fetch_add(record->operator_stamp.load() & 1);
    record->depths = {};
    record->observers_off = false;
    record->births.clear();
    record->statics.clear();
    record->in_use.store(false, std::memory_order_release);
    record = nullptr;
    ended = true;
  }
  static thread_local constinit bool ended;
};
thread_local constinit bool ThreadEnd::ended = false;
thread_local ThreadEnd thread_end;

ThreadRecord* reuse_record() noexcept {
  for (ThreadRecord* record = all_records(); record != nullptr; record = record->next) {
    bool free = false;
    if (!record->in_use.load(std::memory_order_relaxed) &&
        record->in_use.compare_exchange_strong(free, true, std::memory_order_acquire)) {
      return record;
    }
  }
  return nullptr;
}

ThreadRecord* add_record() noexcept {
  auto* const record = new (std::nothrow) ThreadRecord;
  if (record == nullptr) {
    return nullptr;
  }
  const std::lock_guard lock(adding_mutex);
  record->in_use.store(true, std::memory_order_relaxed);
  record->slot = record_count++;
  record->colour = record->slot % kColours;
  record->next = head.load(std::memory_order_relaxed);
  head.store(record, std::memory_order_release);
  return record;
}

} // namespace

LedgerReading::LedgerReading(ThreadRecord& thread) : lock_(thread.ledger_lock), own_(&thread == current_record) {
  own_ ? lock_.lock_as_owner() : lock_.lock_as_reader();
}

LedgerReading::LedgerReading(ThreadRecord& thread, std::int64_t deadline)
    : lock_(thread.ledger_lock), own_(&thread == current_record) {
  if (own_) {
    lock_.lock_as_owner();
  } else {
    locked_ = lock_.try_lock_as_reader(deadline);
  }
}

void add_survivor(ThreadRecord& thread, Survivor survivor, const Liveness& liveness) {
  if (thread.survivors == nullptr) {
    try {
      thread.survivors = std::make_unique<Survivors>(liveness);
    } catch (...) {
      survivor.drop(liveness);
      throw;
    }
  }
  survivor.process = process_generation();
  thread.survivors->add(survivor);
}

const Survivor* find_survivor(ThreadRecord& thread, const void* storage) {
  return thread.survivors != nullptr ? thread.survivors->find(storage) : nullptr;
}

const ScopePath* path_of(const Region* innermost) {
  if (innermost == nullptr) {
    return nullptr;
  }
  ScopePath path;
  for (const Region* region = innermost; region != nullptr; region = region->outer) {
    path.regions.push_back({region->kind, region->where});
  }
  return site_tables().paths.intern(path);
}

std::mutex& mutex_of_new_records() noexcept {
  return adding_mutex;
}

ThreadRecord* all_records() noexcept {
  return head.load(std::memory_order_acquire);
}

void set_thread_end_hook(void (*hook)(ThreadRecord&) noexcept) noexcept {
  thread_end_hook.store(hook, std::memory_order_release);
}

ThreadRecord* make_record() noexcept {
  ThreadRecord* record = reuse_record();
  if (record == nullptr && (record = add_record()) == nullptr) {
    return nullptr;
  }
  record->observed.store(false, std::memory_order_relaxed);
  record->system_id.store(static_cast<std::int32_t>(::syscall(SYS_gettid)), std::memory_order_release);
  current_record = record;
  // After the thread's own destructors have run there is nobody left to give the record back.
  if (!ThreadEnd::ended) {
    thread_end.record = record;
  }
  return record;
}

} // namespace tensorscope::core
