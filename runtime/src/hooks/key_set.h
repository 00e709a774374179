// SPDX-License-Identifier: Apache-2.0
// A tensor's key set, read and changed as one word: a thread may release a tensor while another looks at it.
#pragma once

#include <c10/core/TensorImpl.h>

#include <cstdint>

namespace tensorscope::hooks {

/// Reaches the key set of any tensor.
struct KeySet : c10::TensorImpl {
  static c10::DispatchKeySet of(const c10::TensorImpl& tensor) {
    return {c10::DispatchKeySet::RAW, __atomic_load_n(bits(const_cast<c10::TensorImpl&>(tensor)), __ATOMIC_ACQUIRE)};
  }
  static bool has(const c10::TensorImpl& tensor, c10::DispatchKey key) { return of(tensor).has(key); }
  static void set(c10::TensorImpl& tensor, c10::DispatchKey key) {
    __atomic_fetch_or(bits(tensor), c10::DispatchKeySet(key).raw_repr(), __ATOMIC_RELEASE);
  }
  static void clear(c10::TensorImpl& tensor, c10::DispatchKey key) {
    __atomic_fetch_and(bits(tensor), ~c10::DispatchKeySet(key).raw_repr(), __ATOMIC_RELEASE);
  }

 private:
  static std::uint64_t* bits(c10::TensorImpl& tensor) {
    static_assert(sizeof(c10::DispatchKeySet) == sizeof(std::uint64_t));
    return reinterpret_cast<std::uint64_t*>(&(tensor.*(&KeySet::key_set_)));
  }
};

/// Whether `layout()` is `kStrided`, without a look at the key set that a release on another thread could race with, but
/// for tensors that are no plain ones.
inline bool is_strided(const c10::TensorImpl& tensor) {
  const c10::DispatchKeySet unusual = c10::sparse_ks | c10::sparse_csr_ks | c10::mkldnn_ks |
      c10::DispatchKeySet({c10::DispatchKey::FuncTorchBatched, c10::DispatchKey::FuncTorchGradWrapper,
                           c10::DispatchKey::Python});
  return !KeySet::of(tensor).has_any(unusual) || tensor.layout() == c10::kStrided;
}

} // namespace tensorscope::hooks
