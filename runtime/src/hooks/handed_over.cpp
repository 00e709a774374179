// SPDX-License-Identifier: Apache-2.0
// What is noted of late parameters stands in the region that owns them; exported storages stand in a table of the process.
#include "hooks/handed_over.h"

#include "core/fork_guard.h"
#include "core/region_stack.h"
#include "hooks/devices.h"
#include "hooks/making.h"
#include "hooks/owners.h"
#include "hooks/references.h"
#include "hooks/results.h"

#include <torch/nn/module.h>

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace tensorscope::hooks {
namespace {

using core::OwnedStorage;
using core::Region;

struct Exports {
  std::mutex mutex;
  /// By their keys, which are held weakly, so that no address is used again while it is here; with the latest stack.
  std::unordered_map<void*, const core::Stack*> storages;
  std::size_t sweep_at = next_sweep(0);
};

Exports& exports() {
  static auto* const all = core::make_fork_safe<Exports>(); // storages are freed after static destruction
  return *all;
}

constinit std::atomic<bool> any_exports{false};

bool forget_if_dead(void* storage) {
  if (liveness.alive(storage)) {
    return false;
  }
  liveness.drop(storage);
  return true;
}

void add_export(c10::StorageImpl& storage, const core::Stack* stack) {
  auto& all = exports();
  const std::lock_guard lock(all.mutex);
  if (all.storages.size() >= all.sweep_at) {
    std::erase_if(all.storages, [](const auto& entry) { return forget_if_dead(entry.first); });
    all.sweep_at = next_sweep(all.storages.size());
  }
  if (all.storages.insert_or_assign(key_of(&storage), stack).second) {
    hold_weakly(&storage);
  }
  any_exports.store(true, std::memory_order_release);
}

/// Takes the storage out of this thread's regions, or has those of other threads let go of it.
void retain_exported(core::ThreadRecord& thread, const at::Tensor& tensor, c10::StorageImpl& storage) {
  const core::LedgerGuard guard(thread);
  Region* const owner = core::owner_of(thread, key_of(&storage));
  OwnedStorage entry{};
  if (owner == nullptr || !owner->owned.take_out(key_of(&storage), entry)) {
    retain_from_elsewhere(tensor, storage);
    return;
  }
  thread.innermost->retained.add(entry);
  thread.devices[figures_index(storage)].retained.add(1);
}

} // namespace

void note_registration(torch::nn::Module& module, const at::Tensor& tensor) noexcept {
  auto* const thread = core::current_record;
  if (thread == nullptr || thread->innermost == nullptr || !tensor.defined() || !tensor.has_storage() ||
      module.weak_from_this().expired()) { // no shared pointer to it yet: its constructor runs
    return;
  }
  Region* const owner = core::owner_of(*thread, key_of(tensor.storage().unsafeGetStorageImpl()));
  if (owner == nullptr) {
    return;
  }
  try {
    const core::LedgerGuard guard(*thread);
    owner->registered.add({hold_weakly(tensor.unsafeGetTensorImpl())});
  } catch (...) {
    // Memory is short: it is taken for an escape.
  }
}

void forget_registration(c10::TensorImpl& tensor) noexcept {
  auto* const thread = core::current_record;
  for (Region* region = thread != nullptr ? thread->innermost : nullptr; region != nullptr; region = region->outer) {
    if (!region->registered.empty()) {
      const core::LedgerGuard guard(*thread);
      region->registered.remove(key_of(&tensor));
    }
  }
}

void note_export(const at::Tensor& tensor) noexcept {
  if (core::all_records() == nullptr) {
    return; // no scope was ever opened, and nothing is watched
  }
  try {
    auto* const thread = core::this_thread();
    const core::Stack* const stack = thread != nullptr && core::ledger_is_kept ? stack_here(*thread) : nullptr;
    for_each_storage(tensor, [&](c10::TensorImpl&, c10::StorageImpl& storage) {
      add_export(storage, stack);
      if (thread != nullptr) {
        retain_exported(*thread, tensor, storage);
      }
    });
  } catch (...) {
    // Memory is short: the capsule is a handle like any other.
  }
}

bool is_exported(const c10::StorageImpl& storage) noexcept {
  if (!any_exports.load(std::memory_order_acquire)) {
    return false;
  }
  auto& all = exports();
  const std::lock_guard lock(all.mutex);
  return all.storages.contains(key_of(&storage));
}

const core::Stack* exported_at(const c10::StorageImpl& storage) noexcept {
  if (!any_exports.load(std::memory_order_acquire)) {
    return nullptr;
  }
  auto& all = exports();
  const std::lock_guard lock(all.mutex);
  const auto found = all.storages.find(key_of(&storage));
  return found != all.storages.end() ? found->second : nullptr;
}

} // namespace tensorscope::hooks
