// SPDX-License-Identifier: Apache-2.0
// What the library knows of each thread. Records are made at a thread's first need, linked into one list that
// only grows, and used again by a later thread when theirs has ended. No lock: fields that other threads read
// are atomics that only the owner writes.
#pragma once

#include "core/growth.h"
#include "core/ledger.h"
#include "core/region.h"
#include "core/timeline.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tensorscope::core {

/// A figure that one thread writes and all may read.
class Counter {
 public:
  void add(std::uint64_t amount) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  void raise_to(std::uint64_t value) {
    if (value > get()) {
      value_.store(value, std::memory_order_relaxed);
    }
  }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Kinds of device that have figures of their own; what is beyond counts as the last.
inline constexpr std::size_t kDeviceKinds = 24; // LibTorch has at most 21
/// Each thread's allocations bear one of these marks, so that bytes tell which thread they came from.
inline constexpr std::size_t kColours = 32; // threads beyond share them

struct DeviceCounters {
  Counter created, released, retained, returned, adopted, graph, graph_bytes, escaped;
};

/// A function's static variable that is being initialised inside a region.
struct StaticInitialisation {
  const void* guard = nullptr;
  const Region* region = nullptr;
  std::uint64_t region_number = 0;
};

struct ThreadRecord {
  // How far the thread is: odd while it is in an outermost operator, and another number for each.
  std::atomic<std::uint64_t> operator_stamp{0};
  std::atomic<bool> observed{false}; ///< an operator's beginning was seen since the observer is there
  std::uint32_t operators_in_flight = 0;

  // Ownership.
  Depths depths;
  Births births;
  bool observers_off = false; ///< a library call has switched this thread's observers off
  Region* innermost = nullptr;
  Region* session = nullptr;
  const OperatorInfo* current_operator = nullptr; ///< the outermost one that runs
  std::vector<StaticInitialisation> statics; ///< that run now, the innermost last
  std::vector<std::unique_ptr<Region>> spare; ///< closed regions, for the next opening
  std::size_t region_count = 0;               ///< open and spare

  /// Which operator a name pointer of LibTorch's stands for; see hooks/operator_lookup.h.
  struct KnownOperator {
    const char* name = nullptr;
    const OperatorInfo* info = nullptr;
  };
  static constexpr std::size_t kKnownOperators = 1024; // a training step runs some dozens; found in sets of four
  std::array<KnownOperator, kKnownOperators> known_operators;

  // The ledger, at level `full`.
  LedgerLock ledger_lock;
  std::unique_ptr<Survivors> survivors;
  std::unique_ptr<SiteCaches> sites;
  std::unique_ptr<GrowthLog> growth;
  std::int32_t last_pass = -1; ///< autograd's number of the last backward pass that ran nodes here

  // Figures.
  std::array<DeviceCounters, kDeviceKinds> devices;
  Counter allocations, allocated_bytes, peak_bytes, unobserved, refused_nodes;
  Counter failed_stacks;    ///< walks of this thread's stack that came to nothing
  Counter unseen_births;    ///< most allocations in a row between operators that were seen, at level `full`
  Counter backward_passes; ///< without those that make a graph themselves
  std::array<Counter, kColours> frees, freed_bytes; ///< by this thread, of each colour

  Timeline timeline; ///< of what its allocations and frees leave; at level `full`

  std::uint32_t slot = 0; ///< its place in the list; also its name in figures
  std::uint32_t colour = 0;
  std::atomic<std::int32_t> system_id{0};
  std::atomic<bool> in_use{false};
  ThreadRecord* next = nullptr;

  WorkClock work_done() const { return static_cast<WorkClock>(frees[colour].get()); }

  std::uint64_t live_bytes_by_own_frees() const {
    return allocated_bytes.get() - freed_bytes[colour].get();
  }
};

/// Keeps reporters out while the owner of `thread` changes its lists. Does nothing below level `full`.
class LedgerGuard {
 public:
  explicit LedgerGuard(ThreadRecord& thread) noexcept : thread_(ledger_is_kept ? &thread : nullptr) {
    if (thread_ != nullptr) {
      thread_->ledger_lock.lock_as_owner();
    }
  }
  ~LedgerGuard() {
    if (thread_ != nullptr) {
      thread_->ledger_lock.unlock_as_owner();
    }
  }
  LedgerGuard(const LedgerGuard&) = delete;
  LedgerGuard& operator=(const LedgerGuard&) = delete;

 private:
  ThreadRecord* thread_;
};

/// Keeps the owner of `thread` from changing its lists while a reporter, who may be the owner, reads them.
class LedgerReading {
 public:
  explicit LedgerReading(ThreadRecord& thread);
  /// Gives up at `deadline`, of the monotonic clock in nanoseconds.
  LedgerReading(ThreadRecord& thread, std::int64_t deadline);
  ~LedgerReading() {
    if (locked_) {
      own_ ? lock_.unlock_as_owner() : lock_.unlock_as_reader();
    }
  }
  explicit operator bool() const { return locked_; }
  LedgerReading(const LedgerReading&) = delete;
  LedgerReading& operator=(const LedgerReading&) = delete;

 private:
  LedgerLock& lock_;
  bool own_; ///< the thread is this one
  bool locked_ = true;
};

/// Adds to the survivors of `thread`, whose ledger the caller has locked. Takes over the weak references of `survivor`,
/// if it fails, too.
void add_survivor(ThreadRecord& thread, Survivor survivor, const Liveness& liveness);

/// What the ledger of `thread` knows of a storage that no open region owns; null if nothing. The caller has locked the
/// ledger, and the answer is good for as long.
const Survivor* find_survivor(ThreadRecord& thread, const void* storage);

/// The path of the innermost of these regions and those around it, interned; null for no region.
const ScopePath* path_of(const Region* innermost);

/// The calling thread's record, or null before it has one (and after it gave it back).
extern thread_local constinit ThreadRecord* current_record __attribute__((tls_model("initial-exec"), visibility("hidden")));

/// Makes or finds a record for the calling thread. Null when memory is short.
ThreadRecord* make_record() noexcept;

inline ThreadRecord* this_thread() noexcept {
  ThreadRecord* const record = current_record;
  return record != nullptr ? record : make_record();
}

/// The head of the list of all records; follow `next`.
ThreadRecord* all_records() noexcept;

/// Held while a record is added to the list.
std::mutex& mutex_of_new_records() noexcept;

/// Called with a thread's record when the thread ends, before the record is given to another.
void set_thread_end_hook(void (*hook)(ThreadRecord&) noexcept) noexcept;

} // namespace tensorscope::core
