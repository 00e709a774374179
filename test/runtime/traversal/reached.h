// SPDX-License-Identifier: Apache-2.0
// What the traversal tests ask: which of these tensors does a value lead to?
#pragma once

#include "torch_test.h"

#include <tensorscope/traversal.h>

#include <set>

namespace tensorscope_test {

using TensorSet = std::set<const c10::TensorImpl*>;

/// The tensors that the traversal reaches from `value`.
template <class T>
TensorSet reached(const T& value) {
  TensorSet impls;
  tensorscope::detail::for_each_tensor(
      value, [&](const at::Tensor& tensor) { impls.insert(tensor.unsafeGetTensorImpl()); });
  return impls;
}

/// How often the traversal calls its visitor.
template <class T>
int visits(const T& value) {
  int count = 0;
  tensorscope::detail::for_each_tensor(value, [&](const at::Tensor&) { ++count; });
  return count;
}

template <class... Tensors>
TensorSet these(const Tensors&... tensors) {
  return {tensors.unsafeGetTensorImpl()...};
}

inline TensorSet these(const std::vector<at::Tensor>& tensors) {
  TensorSet impls;
  for (const auto& tensor : tensors)
    impls.insert(tensor.unsafeGetTensorImpl());
  return impls;
}

} // namespace tensorscope_test
