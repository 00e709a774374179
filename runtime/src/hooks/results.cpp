// SPDX-License-Identifier: Apache-2.0
// The strict birth rule.
#include "hooks/results.h"

#include "hooks/cpu_allocator.h"
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

/// Whether `storage` was born in the operator that ends now.
bool born_here(ThreadRecord& thread, const at::Tensor& tensor, c10::StorageImpl& storage, ResultKind kind) {
  const auto& bytes = storage._mutable_data_ptr_no_checks();
  if (!bytes.device().is_cpu()) {
    return false;
  }
  if (bytes.get() != nullptr) {
    return thread.births.take(bytes.get()) && allocated_by(thread, bytes.get_deleter());
  }
  // Without bytes there is no address to go by. Fresh by the schema, made by our allocator on this thread, an
  // empty allocation in this operator, and nobody else holds it: the tensor has the caller's handle and the
  // copies that observers get.
  return kind == ResultKind::fresh && storage.nbytes() == 0 && allocated_by(thread, bytes.get_deleter()) &&
      c10::raw::intrusive_ptr::use_count(&storage) == 1 && tensor.use_count() <= 2 && thread.births.take_empty();
}

void note_result(ThreadRecord& thread, Region& region, const OperatorInfo& info, const at::Tensor& tensor,
                 ResultKind kind) {
  if (!tensor.defined()) {
    return;
  }
  c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  if (kind == ResultKind::written) {
    if (may_have_graph(*impl)) {
      see_tensor(region, *impl);
      if (tensor.is_view()) {
        see_tensor(region, *tensor._base().unsafeGetTensorImpl());
      }
    }
    return;
  }
  if (impl->layout() == c10::kStrided && impl->has_storage()) [[likely]] {
    auto* const storage = impl->unsafe_storage().unsafeGetStorageImpl();
    if (storage != nullptr && born_here(thread, tensor, *storage, kind)) {
      own_storage(thread, region, *impl, *storage, info);
    } else {
      see_tensor(region, *impl);
    }
    return;
  }
  for_each_storage(tensor, [&](c10::TensorImpl& part, c10::StorageImpl& storage) {
    if (storage._mutable_data_ptr_no_checks().get() != nullptr && born_here(thread, tensor, storage, kind)) {
      own_storage(thread, region, part, storage, info);
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
                 const OperatorInfo& made_by) {
  region.owned.add({hold_weakly(&storage), hold_weakly(&tensor), &made_by});
  thread.devices[device_index(storage.device_type())].created.add(1);
}

void see_tensor(Region& region, c10::TensorImpl& tensor) {
  region.seen.add({hold_weakly(&tensor)});
}

void note_results(ThreadRecord& thread, const OperatorInfo& info, const std::vector<c10::IValue>& results) {
  Region& region = *thread.innermost;
  if (thread.depths.library != 0) {
    note_gradients(region, results);
    return;
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto kind = info.result(i);
    const c10::IValue& result = results[i];
    if (result.isTensor()) [[likely]] {
      note_result(thread, region, info, result.toTensor(), kind);
    } else if (result.isTensorList()) {
      for (const at::Tensor& tensor : result.toTensorList()) {
        note_result(thread, region, info, tensor, kind);
      }
    } else if (result.isList() || result.isTuple() || result.isGenericDict() || result.isObject()) {
      result.visit([&](const c10::IValue& part) {
        if (part.isTensor()) {
          note_result(thread, region, info, part.toTensor(), kind);
        }
        return false;
      });
    }
  }
}

} // namespace tensorscope::hooks
