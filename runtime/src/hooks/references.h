// SPDX-License-Identifier: Apache-2.0
// Weak references to LibTorch's storages and tensors in the form that the ledger keeps: bare addresses. Used by
// all hooks.
#pragma once

#include "core/region.h"

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <algorithm>
#include <cstdint>
#include <functional>

namespace tensorscope::hooks {

/// Turns addresses into the ledger's keys and back. At level `full` a key is not the address itself, so that a search
/// of the memory for handles does not find the ledger. Set at load, before there is any key.
extern constinit std::uintptr_t key_mask;

/// The key under which the ledger knows an object.
inline void* key_of(const c10::intrusive_ptr_target* object) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(object) ^ key_mask);
}

inline c10::intrusive_ptr_target* target_at(void* key) {
  return reinterpret_cast<c10::intrusive_ptr_target*>(reinterpret_cast<std::uintptr_t>(key) ^ key_mask);
}

/// A weak reference for the ledger.
inline void* hold_weakly(c10::intrusive_ptr_target* object) {
  c10::raw::weak_intrusive_ptr::incref(object);
  return key_of(object);
}

/// How the ledger asks about what it holds.
extern const core::Liveness liveness;

/// The storage or tensor behind an address that the ledger holds; null if it is dead.
inline c10::intrusive_ptr<c10::StorageImpl> lock_storage(void* address) {
  if (address == nullptr) {
    return {};
  }
  auto* const storage = static_cast<c10::StorageImpl*>(target_at(address));
  return c10::intrusive_ptr<c10::StorageImpl>::reclaim(c10::raw::weak_intrusive_ptr::lock(storage));
}

inline at::Tensor lock_tensor(void* address) {
  if (address == nullptr) {
    return {};
  }
  auto* const tensor = static_cast<c10::TensorImpl*>(target_at(address));
  auto* const locked = c10::raw::weak_intrusive_ptr::lock(tensor);
  if (locked == nullptr) {
    return {};
  }
  return at::Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim(locked));
}

/// Calls `visit(c10::TensorImpl&, c10::StorageImpl&)` for each storage that holds data of `tensor`: one for
/// dense tensors, those of the parts for sparse ones, none for tensors without storage.
void for_each_storage(const at::Tensor& tensor,
                      const std::function<void(c10::TensorImpl&, c10::StorageImpl&)>& visit);

/// The same, and for each storage that says what the data mean: the scales of a quantized tensor, the sizes of a nested
/// one. Whoever keeps the tensor needs them; whoever releases it leaves them alone, as others may share them.
void for_each_needed_storage(const at::Tensor& tensor,
                             const std::function<void(c10::TensorImpl&, c10::StorageImpl&)>& visit);

/// Calls `visit` for each tensor in the attributes of the scripted module behind `address`, at any depth; for none if
/// it is dead.
void for_each_attribute(void* address, const std::function<void(const at::Tensor&)>& visit);

/// The size at which a table of weak references, which has `size` entries after it was swept of the dead, is swept
/// again: when it has doubled, and never while it is small.
inline std::size_t next_sweep(std::size_t size) {
  constexpr std::size_t kSmallTable = 256;
  return std::max(kSmallTable, 2 * size);
}

} // namespace tensorscope::hooks
