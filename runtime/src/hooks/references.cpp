// SPDX-License-Identifier: Apache-2.0
// Weak references and the storages of a tensor.
#include "hooks/references.h"

#include "hooks/key_set.h"

#include <ATen/NestedTensorImpl.h>
#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>
#include <ATen/core/ivalue.h>
#include <ATen/quantized/QTensorImpl.h>
#include <ATen/quantized/Quantizer.h>

namespace tensorscope::hooks {

constinit std::uintptr_t key_mask = 0;

const core::Liveness liveness{
    [](const void* object) noexcept {
      return object != nullptr &&
          c10::raw::weak_intrusive_ptr::use_count(target_at(const_cast<void*>(object))) != 0;
    },
    [](void* object) noexcept {
      if (object != nullptr) {
        c10::raw::weak_intrusive_ptr::decref(target_at(object));
      }
    }};

void for_each_storage(const at::Tensor& tensor,
                      const std::function<void(c10::TensorImpl&, c10::StorageImpl&)>& visit) {
  if (!tensor.defined()) {
    return;
  }
  c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  // Parts of sparse tensors are read from the objects, not by operators: this runs inside observers.
  if (!is_strided(*impl)) {
    if (auto* const sparse = dynamic_cast<at::SparseTensorImpl*>(impl)) {
      for_each_storage(sparse->indices(), visit);
      for_each_storage(sparse->values(), visit);
      return;
    }
    if (auto* const compressed = dynamic_cast<at::SparseCsrTensorImpl*>(impl)) {
      for_each_storage(compressed->compressed_indices(), visit);
      for_each_storage(compressed->plain_indices(), visit);
      for_each_storage(compressed->values(), visit);
      return;
    }
  }
  if (impl->has_storage()) {
    if (auto* const storage = impl->unsafe_storage().unsafeGetStorageImpl()) {
      visit(*impl, *storage);
    }
  }
}

void for_each_needed_storage(const at::Tensor& tensor,
                             const std::function<void(c10::TensorImpl&, c10::StorageImpl&)>& visit) {
  for_each_storage(tensor, visit);
  constexpr c10::DispatchKeySet kDescribed({c10::DispatchKey::Quantized, c10::DispatchKey::NestedTensor});
  if (!tensor.defined() || !KeySet::of(*tensor.unsafeGetTensorImpl()).has_any(kDescribed)) {
    return;
  }
  c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  if (auto* const quantized = dynamic_cast<at::QTensorImpl*>(impl)) {
    const auto quantizer = quantized->quantizer();
    if (const auto* const by_channel = dynamic_cast<at::PerChannelAffineQuantizer*>(quantizer.get())) {
      for_each_storage(by_channel->scales(), visit);
      for_each_storage(by_channel->zero_points(), visit);
    }
  } else if (auto* const nested = dynamic_cast<at::native::NestedTensorImpl*>(impl)) {
    for_each_storage(nested->get_nested_sizes(), visit);
    for_each_storage(nested->get_nested_strides(), visit);
    for_each_storage(nested->get_storage_offsets(), visit);
  }
}

void for_each_attribute(void* address, const std::function<void(const at::Tensor&)>& visit) {
  auto* const object = static_cast<c10::ivalue::Object*>(target_at(address));
  auto* const locked = c10::raw::weak_intrusive_ptr::lock(object);
  if (locked == nullptr) {
    return;
  }
  const c10::IValue module(c10::intrusive_ptr<c10::ivalue::Object>::reclaim(locked));
  module.visit([&](const c10::IValue& part) {
    if (part.isTensor() && part.toTensor().defined()) {
      visit(part.toTensor());
    }
    return false;
  });
}

} // namespace tensorscope::hooks
