// SPDX-License-Identifier: Apache-2.0
// Copies the ledgers.
#include "report/census.h"

#include "hooks/references.h"
#include "hooks/released.h"

namespace tensorscope::report {
namespace {

Role role_of(core::KeptAs kept_as) {
  switch (kept_as) {
    case core::KeptAs::result:
      return Role::result;
    case core::KeptAs::retained:
      return Role::retained;
    case core::KeptAs::adopted:
      return Role::adopted;
    case core::KeptAs::graph:
      return Role::graph;
    case core::KeptAs::escape:
      return Role::escape;
    case core::KeptAs::left_open:
      return Role::left_open;
    case core::KeptAs::unscoped:
      return Role::unscoped;
    case core::KeptAs::library:
      return Role::library;
  }
  return Role::unscoped;
}

class Counting {
 public:
  /// Reads the ledger of one thread, whose lock is held.
  void read(const core::ThreadRecord& thread) {
    for (const core::Region* region = thread.innermost; region != nullptr; region = region->outer) {
      const core::RegionPlace place{region->kind, region->where};
      const Role owner = region->kind == core::RegionKind::scope ? Role::open_scope : Role::open_session;
      for (const auto& entry : region->owned.items()) {
        add(entry, owner, &place);
      }
      for (const auto& entry : region->retained.items()) {
        add(entry, Role::retained, &place);
      }
    }
    if (thread.survivors == nullptr) {
      return;
    }
    for (const core::Survivor& survivor : thread.survivors->items()) {
      const bool known = survivor.path != nullptr && !survivor.path->regions.empty();
      add(survivor.entry, role_of(survivor.kept_as), known ? &survivor.path->regions.front() : nullptr);
    }
  }

  Census census;

 private:
  void add(const core::OwnedStorage& entry, Role role, const core::RegionPlace* region) {
    auto storage = hooks::lock_storage(entry.storage);
    if (!storage || hooks::is_released(*storage)) {
      return;
    }
    LivingStorage living{entry.made_by, entry.stack, entry.shape, storage->nbytes(), storage->device(), role,
                         region != nullptr, {}};
    if (region != nullptr) {
      living.region = *region;
    }
    census.storages.push_back(living);
    held_.push_back(std::move(storage));
  }

  /// Dropped when no lock is held any more: what dies with it may run the program's own deleters.
  std::vector<c10::intrusive_ptr<c10::StorageImpl>> held_;
};

/// Holds one thread's ledger, if it can be had until the deadline.
class Reading {
 public:
  Reading(core::ThreadRecord& thread, std::int64_t deadline)
      : lock_(thread.ledger_lock), own_(&thread == core::current_record) {
    if (own_) {
      lock_.lock_as_owner();
    }
    locked_ = own_ || lock_.try_lock_as_reader(deadline);
  }
  ~Reading() {
    if (locked_) {
      own_ ? lock_.unlock_as_owner() : lock_.unlock_as_reader();
    }
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  explicit operator bool() const { return locked_; }

 private:
  core::LedgerLock& lock_;
  bool own_;
  bool locked_ = false;
};

} // namespace

Census take_census() {
  constexpr std::int64_t kPatience = 300'000'000; // for all threads together
  const std::int64_t deadline = core::monotonic_now() + kPatience;
  Counting counting;
  for (auto* thread = core::all_records(); thread != nullptr; thread = thread->next) {
    if (const Reading reading(*thread, deadline); reading) {
      counting.read(*thread);
    } else {
      ++counting.census.unread_threads;
    }
  }
  return std::move(counting.census);
}

} // namespace tensorscope::report
