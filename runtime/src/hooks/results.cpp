// SPDX-License-Identifier: Apache-2.0
// The strict birth rule.
#include "hooks/results.h"

#include "core/region_stack.h"
#include "hooks/cpu_allocator.h"
#include "hooks/devices.h"
#include "hooks/growth.h"
#include "hooks/key_set.h"
#include "hooks/making.h"
#include "hooks/pinned.h"
#include "hooks/references.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>

namespace tensorscope::hooks {
namespace {

using core::OperatorInfo;
using core::Region;
using core::ResultKind;
using core::ThreadRecord;

const c10::DataPtr& bytes_of(c10::StorageImpl& storage) {
  return storage._mutable_data_ptr_no_checks();
}

/// Whether other tensors were set to the storage in this very operator, and hold it.
bool is_others(const ThreadRecord& thread, const c10::StorageImpl& storage, const void* bytes) {
  return thread.births.was_rebound(bytes) &&
      c10::raw::intrusive_ptr::use_count(const_cast<c10::StorageImpl*>(&storage)) > 1;
}

/// Whether `storage` was born in the operator that ends now.
bool born_here(ThreadRecord& thread, const at::Tensor& tensor, c10::StorageImpl& storage, ResultKind kind) {
  const auto& bytes = bytes_of(storage);
  if (!bytes.device().is_cpu()) {
    return born_on_device(thread, bytes) && !is_others(thread, storage, bytes.get());
  }
  if (bytes.get() != nullptr) {
    return thread.births.take(bytes.get()) &&
        (allocated_by(thread, bytes.get_deleter()) || pinned_for(bytes.get_deleter())) &&
        !is_others(thread, storage, bytes.get());
  }
  // Without bytes there is no address to go by. Fresh by the schema, made by our allocator on this thread, an
  // empty allocation in this operator, and nobody else holds it: the tensor has the caller's handle and the
  // copies that observers get.
  return kind == ResultKind::fresh && storage.nbytes() == 0 && allocated_by(thread, bytes.get_deleter()) &&
      c10::raw::intrusive_ptr::use_count(&storage) == 1 && tensor.use_count() <= 2 && thread.births.take_empty();
}

/// Enters a storage that no region owns into the ledger.
void note_survivor(ThreadRecord& thread, c10::TensorImpl& tensor, c10::StorageImpl& storage, const OperatorInfo& made_by,
                   std::uint32_t part) {
  core::Survivor survivor{{hold_weakly(&storage), hold_weakly(&tensor), &made_by}};
  note_making(thread, tensor, survivor.entry);
  survivor.kept_as = thread.depths.library != 0 ? core::KeptAs::library : core::KeptAs::unscoped;
  survivor.made_at = thread.work_done();
  if (thread.innermost != nullptr) {
    survivor.path = core::path_of(thread.innermost);
    survivor.region = thread.innermost->number;
  }
  core::add_survivor(thread, survivor, liveness);
  follow_made(thread, tensor, survivor.entry, part);
}

/// The storage was born in this operator: the innermost region owns it, or the ledger alone knows it.
void note_born(ThreadRecord& thread, const OperatorInfo& info, c10::TensorImpl& tensor, c10::StorageImpl& storage,
               std::uint32_t part) {
  if (thread.innermost != nullptr && thread.depths.library == 0) {
    own_storage(thread, *thread.innermost, tensor, storage, info, part);
  } else {
    note_survivor(thread, tensor, storage, info, part);
  }
}

void note_seen(ThreadRecord& thread, c10::TensorImpl& tensor) {
  if (thread.innermost != nullptr && thread.depths.library == 0) {
    see_tensor(*thread.innermost, tensor);
  }
}

/// The tensor is over a storage that is older than the operator.
void note_alias(ThreadRecord& thread, const OperatorInfo& info, c10::TensorImpl& tensor, std::uint32_t part) {
  if (core::ledger_is_kept && thread.depths.library == 0) {
    follow_view(thread, tensor, info, part);
  }
  note_seen(thread, tensor);
}

/// The tensor was given a storage that a region may own: from now on it belongs to whoever owns the tensor.
void let_go_of(ThreadRecord& thread, c10::TensorImpl& tensor) {
  auto* const storage = tensor.has_storage() ? tensor.unsafe_storage().unsafeGetStorageImpl() : nullptr;
  Region* const owner = storage != nullptr ? core::owner_of(thread, key_of(storage)) : nullptr;
  core::OwnedStorage entry{};
  if (owner != nullptr && owner->owned.take_out(key_of(storage), entry)) {
    thread.devices[figures_index(*storage)].adopted.add(1);
    entry.drop(liveness);
  }
}

void note_result(ThreadRecord& thread, const OperatorInfo& info, const at::Tensor& tensor, std::uint32_t part) {
  const ResultKind kind = info.result(part);
  if (!tensor.defined()) {
    return;
  }
  c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  if (kind == ResultKind::written) {
    if (info.rebinds) {
      let_go_of(thread, *impl);
    }
    if (may_have_graph(*impl)) {
      note_seen(thread, *impl);
      if (tensor.is_view()) {
        note_seen(thread, *tensor._base().unsafeGetTensorImpl());
      }
      if (core::ledger_is_kept && thread.depths.library == 0) {
        follow_update(thread, *impl, info, part);
      }
    }
    return;
  }
  if (is_strided(*impl) && impl->has_storage()) [[likely]] {
    auto* const storage = impl->unsafe_storage().unsafeGetStorageImpl();
    if (storage != nullptr && born_here(thread, tensor, *storage, kind)) {
      note_born(thread, info, *impl, *storage, part);
    } else {
      note_alias(thread, info, *impl, part);
    }
    return;
  }
  for_each_storage(tensor, [&](c10::TensorImpl& half, c10::StorageImpl& storage) {
    if (storage._mutable_data_ptr_no_checks().get() != nullptr && born_here(thread, tensor, storage, kind)) {
      note_born(thread, info, half, storage, part);
    }
  });
}

/// In LibTorch's own calls nothing is owned, but a gradient with a graph (`create_graph`) is a root.
void note_gradients(Region& region, const std::vector<c10::IValue>& results) {
  if (!at::GradMode::is_enabled()) {
    return;
  }
  for (const auto& result : results) {
    if (result.isTensor() && result.toTensor().defined() && may_have_graph(*result.toTensor().unsafeGetTensorImpl())) {
      see_tensor(region, *result.toTensor().unsafeGetTensorImpl());
    }
  }
}

} // namespace

bool may_have_graph(const c10::TensorImpl& tensor) {
  const auto* const meta = static_cast<const torch::autograd::AutogradMeta*>(tensor.autograd_meta());
  return meta != nullptr && (meta->grad_fn_ || meta->is_view_);
}

std::size_t device_index(c10::DeviceType type) {
  return std::min<std::size_t>(static_cast<std::size_t>(type), core::kDeviceKinds - 1);
}

void own_storage(ThreadRecord& thread, Region& region, c10::TensorImpl& tensor, c10::StorageImpl& storage,
                 const OperatorInfo& made_by, std::uint32_t part) {
  core::OwnedStorage entry{hold_weakly(&storage), hold_weakly(&tensor), &made_by};
  if (core::ledger_is_kept) {
    note_making(thread, tensor, entry);
  }
  const core::LedgerGuard guard(thread);
  region.owned.add(entry);
  thread.devices[figures_index(storage)].created.add(1);
  if (core::ledger_is_kept) {
    follow_made(thread, tensor, entry, part);
  }
}

void see_tensor(Region& region, c10::TensorImpl& tensor) {
  const auto* const storage = tensor.has_storage() ? tensor.unsafe_storage().unsafeGetStorageImpl() : nullptr;
  region.seen.add({hold_weakly(&tensor), storage != nullptr ? key_of(storage) : nullptr});
}

void note_rebound_inside(ThreadRecord& thread, const std::vector<c10::IValue>& results) noexcept {
  try {
    for (const auto& result : results) {
      if (result.isTensor() && result.toTensor().defined() && result.toTensor().has_storage()) {
        thread.births.note_rebound(bytes_of(*result.toTensor().storage().unsafeGetStorageImpl()).get());
      }
    }
  } catch (...) {
    thread.births.clear(); // memory is short: the outer operator's results are nobody's
  }
}

void note_results(ThreadRecord& thread, const OperatorInfo& info, const std::vector<c10::IValue>& results) {
  const core::LedgerGuard guard(thread);
  if (thread.depths.library != 0) {
    if (thread.innermost != nullptr) {
      note_gradients(*thread.innermost, results);
    }
    if (!core::ledger_is_kept) {
      return;
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto part = static_cast<std::uint32_t>(i);
    const c10::IValue& result = results[i];
    if (result.isTensor()) [[likely]] {
      note_result(thread, info, result.toTensor(), part);
    } else if (result.isTensorList()) {
      for (const at::Tensor& tensor : result.toTensorList()) {
        note_result(thread, info, tensor, part);
      }
    } else if (result.isList() || result.isTuple() || result.isGenericDict() || result.isObject()) {
      result.visit([&](const c10::IValue& inside) {
        if (inside.isTensor()) {
          note_result(thread, info, inside.toTensor(), part);
        }
        return false;
      });
    }
  }
  if (core::ledger_is_kept) {
    take_due_samples(thread);
  }
}

} // namespace tensorscope::hooks
