// SPDX-License-Identifier: Apache-2.0
// retain, promote, ignore, track, release, alive and adopt, once their tensors are collected.
#include "api/install.h"
#include "core/region_stack.h"
#include "hooks/devices.h"
#include "hooks/owners.h"
#include "hooks/references.h"
#include "hooks/released.h"
#include "hooks/results.h"

#include <tensorscope/detail/runtime.h>

namespace tensorscope::detail {
namespace {

using core::OwnedStorage;
using core::Region;
using core::ThreadRecord;

template <class Visit>
void for_each_storage_of(const Tensors& tensors, Visit visit) {
  for (const auto& tensor : tensors) {
    hooks::for_each_storage(tensor, [&](c10::TensorImpl& part, c10::StorageImpl& storage) { visit(tensor, part, storage); });
  }
}

/// The same with what the data of a tensor can't be read without.
template <class Visit>
void for_each_needed_storage_of(const Tensors& tensors, Visit visit) {
  for (const auto& tensor : tensors) {
    hooks::for_each_needed_storage(
        tensor, [&](c10::TensorImpl& part, c10::StorageImpl& storage) { visit(tensor, part, storage); });
  }
}

/// Takes a storage out of the region of this thread that owns it; the entry is the caller's then.
bool take_out(ThreadRecord& thread, const c10::StorageImpl& storage, OwnedStorage& entry) {
  Region* const owner = core::owner_of(thread, hooks::key_of(&storage));
  return owner != nullptr && owner->owned.take_out(hooks::key_of(&storage), entry);
}

void keep_graph_of(ThreadRecord& thread, const at::Tensor& tensor) {
  if (thread.innermost != nullptr && hooks::may_have_graph(*tensor.unsafeGetTensorImpl())) {
    hooks::see_tensor(*thread.innermost, *tensor.unsafeGetTensorImpl());
  }
}

/// Views over `storage` that this thread's regions have seen.
void add_seen_views(const ThreadRecord& thread, const c10::StorageImpl& storage, std::vector<at::Tensor>& tensors) {
  for (Region* region = thread.innermost; region != nullptr; region = region->outer) {
    region->seen.visit_over(hooks::key_of(&storage), [&](void* object) {
      auto tensor = hooks::lock_tensor(object);
      if (tensor.defined() && tensor.has_storage() && tensor.storage().unsafeGetStorageImpl() == &storage) {
        tensors.push_back(std::move(tensor));
      }
    });
  }
}

/// Takes the storages out of the regions of this thread that own them, whose entries `taken` gets, and has other threads'
/// regions let go of theirs.
template <class Taken>
void take_out_of_regions(const Tensors& tensors, Taken taken) {
  if (tensors.empty() || !api::ready()) {
    return;
  }
  auto& thread = api::record_of_this_thread();
  for_each_needed_storage_of(tensors, [&](const at::Tensor& tensor, c10::TensorImpl&, c10::StorageImpl& storage) {
    const core::LedgerGuard guard(thread);
    OwnedStorage entry{};
    if (take_out(thread, storage, entry)) {
      taken(thread, entry, storage);
    } else {
      hooks::retain_from_elsewhere(tensor, storage);
    }
    keep_graph_of(thread, tensor);
  });
}

} // namespace

void retain_tensors(const Tensors& tensors) {
  take_out_of_regions(tensors, [](ThreadRecord& thread, const OwnedStorage& entry, c10::StorageImpl& storage) {
    thread.innermost->retained.add(entry);
    thread.devices[hooks::figures_index(storage)].retained.add(1);
  });
}

void ignore_tensors(const Tensors& tensors) {
  take_out_of_regions(tensors, [](ThreadRecord&, OwnedStorage entry, c10::StorageImpl&) { entry.drop(hooks::liveness); });
}

void promote_tensors(const Tensors& tensors) {
  if (tensors.empty() || !api::ready()) {
    return;
  }
  auto& thread = api::record_of_this_thread();
  if (thread.innermost == nullptr) {
    return;
  }
  if (thread.innermost->outer == nullptr) {
    retain_tensors(tensors);
    return;
  }
  for_each_needed_storage_of(tensors, [&](const at::Tensor& tensor, c10::TensorImpl&, c10::StorageImpl& storage) {
    const core::LedgerGuard guard(thread);
    OwnedStorage entry{};
    if (thread.innermost->owned.take_out(hooks::key_of(&storage), entry)) {
      thread.innermost->outer->owned.add(entry);
      keep_graph_of(thread, tensor);
    }
  });
}

void track_tensors(const Tensors& tensors) {
  if (tensors.empty() || !api::ready()) {
    return;
  }
  auto& thread = api::record_of_this_thread();
  if (thread.innermost == nullptr) {
    return;
  }
  static const auto& tracked = core::intern_operator({"a tracked tensor", true, {}}, "");
  for_each_storage_of(tensors, [&](const at::Tensor&, c10::TensorImpl& part, c10::StorageImpl& storage) {
    if (core::owner_of(thread, hooks::key_of(&storage)) == nullptr && !hooks::is_released(storage)) {
      hooks::own_storage(thread, *thread.innermost, part, storage, tracked);
    }
  });
}

void release_tensors(const Tensors& tensors, const std::source_location& where) {
  if (tensors.empty() || !api::ready()) {
    return;
  }
  auto& thread = api::record_of_this_thread();
  std::vector<hooks::Doomed> doomed;
  for_each_storage_of(tensors, [&](const at::Tensor& tensor, c10::TensorImpl&, c10::StorageImpl& storage) {
    hooks::Doomed one{c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(&storage), {tensor}, nullptr};
    const core::LedgerGuard guard(thread);
    OwnedStorage entry{};
    if (take_out(thread, storage, entry)) {
      one.made_by = entry.made_by;
      one.made_at = entry.stack;
      if (auto first = hooks::lock_tensor(entry.tensor); first.defined()) {
        one.tensors.push_back(std::move(first));
      }
      entry.drop(hooks::liveness);
    } else if (const auto* const survivor = core::find_survivor(thread, hooks::key_of(&storage))) {
      one.made_by = survivor->entry.made_by;
      one.made_at = survivor->entry.stack;
    }
    add_seen_views(thread, storage, one.tensors);
    doomed.push_back(std::move(one));
  });
  for (auto& one : doomed) {
    if (!hooks::is_released(*one.storage)) {
      thread.devices[hooks::figures_index(*one.storage)].released.add(1);
    }
  }
  hooks::release_storages(doomed, {hooks::ReleaseCause::Kind::call, where, {}});
  hooks::free_waiting();
}

bool all_alive(const Tensors& tensors) {
  if (!api::was_ready()) {
    return true; // nothing was ever released
  }
  bool alive = true;
  for_each_storage_of(tensors, [&](const at::Tensor&, c10::TensorImpl&, c10::StorageImpl& storage) {
    alive = alive && !hooks::is_released(storage);
  });
  return alive;
}

std::shared_ptr<void> register_owner(OwnerTensors tensors) {
  return api::ready() ? hooks::add_owner(std::move(tensors)) : nullptr;
}

void keep_until_region_ends(std::shared_ptr<void> token) {
  auto* const thread = core::current_record;
  if (thread != nullptr && thread->innermost != nullptr) {
    thread->innermost->adoptions.push_back(std::move(token));
  }
}

void register_lasting_owner(OwnerTensors tensors, std::function<bool()> alive) {
  if (api::ready()) {
    hooks::add_lasting_owner(std::move(tensors), std::move(alive));
  }
}

} // namespace tensorscope::detail
