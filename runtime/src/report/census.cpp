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

} // namespace

Census take_census() {
  constexpr std::int64_t kPatience = 300'000'000; // for all threads together
  const std::int64_t deadline = core::monotonic_now() + kPatience;
  Counting counting;
  for (auto* thread = core::all_records(); thread != nullptr; thread = thread->next) {
    if (const core::LedgerReading reading(*thread, deadline); reading) {
      counting.read(*thread);
    } else {
      ++counting.census.unread_threads;
    }
  }
  return std::move(counting.census);
}

} // namespace tensorscope::report
