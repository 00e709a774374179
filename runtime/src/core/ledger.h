// SPDX-License-Identifier: Apache-2.0
// What is kept in mind of tensors that outlive their scope, or were made in none. Filled at level `full` only, by the
// thread that made them; read by whoever reports, on any thread: hence the lock, which no two working threads share.
#pragma once

#include "core/region.h"
#include "platform/barrier.h"

#include <atomic>

namespace tensorscope::core {

/// Why a storage is still there although the region that made it has ended.
enum class KeptAs : std::uint8_t {
  result,   ///< reachable from the scope's result
  retained, ///< taken out by retain
  adopted,  ///< a gradient, or reached by an adopted owner
  graph,    ///< needed by a backward pass
  escape,   ///< held by a handle elsewhere
  left_open, ///< its region's thread ended before the region
  unscoped, ///< made where no region was open
  library,  ///< made by LibTorch for itself: gradients, optimizer state
};

/// A storage in the ledger that no open region owns.
struct Survivor {
  OwnedStorage entry;
  const ScopePath* path = nullptr; ///< the region that made it and those around; null outside of any
  std::uint64_t region = 0;        ///< that region's number; 0 outside of any
  KeptAs kept_as = KeptAs::unscoped;
  WorkClock made_at = 0;           ///< set for `unscoped` and `library`
  std::uint32_t process = 0;       ///< the process that entered it; see core/fork_guard.h

  bool dead(const Liveness& liveness) const { return entry.dead(liveness); }
  void drop(const Liveness& liveness) { entry.drop(liveness); }
};

/// What one thread keeps in mind.
class Survivors : public WeakList<Survivor> {
 public:
  using WeakList::WeakList;

  /// The entry of a storage, the youngest if it has several; null if there is none. Good until something is added.
  const Survivor* find(const void* storage);

 private:
  AddressIndex index_; ///< made when an old one is asked for
};

/// Whether the ledger is kept for a report (level `full`). Set once, at load.
extern constinit bool ledger_is_kept;

/// A region whose thread ended while it was open.
struct LeftOpen {
  RegionPlace place;
  std::uint64_t region = 0; ///< its number
  std::uint32_t thread = 0;
  std::uint64_t replaced = 0; ///< so often the same line started a session while its last one was open
};
/// A session was closed because the line that had started it starts another.
void note_replaced_session(const std::source_location& where, std::uint64_t region, std::uint32_t thread);
void note_left_open(const RegionPlace& place, std::uint64_t region, std::uint32_t thread);
std::vector<LeftOpen> regions_left_open();

/// Held by a thread while it changes its own regions' lists or survivors, and by a reporter while it reads another's.
/// Its owner may take it again while it holds it. For the owner it is two plain stores and a look: the reporter has a
/// barrier put into all threads instead.
class LedgerLock {
 public:
  void lock_as_owner() noexcept {
    if (depth_++ == 0) {
      held_.store(true, std::memory_order_relaxed);
      platform::barrier_of_this_thread();
      if (wanted_.load(std::memory_order_acquire)) [[unlikely]] {
        let_reader_pass();
      }
    }
  }
  void unlock_as_owner() noexcept {
    if (--depth_ == 0) {
      held_.store(false, std::memory_order_release);
    }
  }
  void lock_as_reader() noexcept;
  /// Gives up at `deadline`, of the monotonic clock in nanoseconds: for a reader that may be what others wait for.
  bool try_lock_as_reader(std::int64_t deadline) noexcept;
  void unlock_as_reader() noexcept { wanted_.store(false, std::memory_order_release); }

 private:
  void let_reader_pass() noexcept;

  std::atomic<bool> held_{false};   ///< by the owner, who alone writes it
  std::atomic<bool> wanted_{false}; ///< by the one reader at a time
  std::uint32_t depth_ = 0; ///< the owner's only
};

/// The monotonic clock, in nanoseconds.
std::int64_t monotonic_now() noexcept;

} // namespace tensorscope::core
