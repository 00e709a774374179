// SPDX-License-Identifier: Apache-2.0
// A dispatch key that LibTorch leaves free is put on known tensors of a released storage; the fallback for that key
// is reached first by every operator. Tensors that we never met throw at their first data access instead.
#include "hooks/released_operators.h"

#include "hooks/key_set.h"
#include "hooks/references.h"
#include "hooks/released.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

namespace tensorscope::hooks {
namespace {

/// LibTorch keeps this key for tests of its dispatcher; nothing else has a kernel for it.
constexpr auto kKey = c10::DispatchKey::TESTING_ONLY_GenericWrapper;

void check_argument(const c10::IValue& argument, const c10::OperatorHandle& op) {
  if (!argument.isTensor()) {
    return;
  }
  const at::Tensor& tensor = argument.toTensor();
  if (!tensor.defined() || !KeySet::has(*tensor.unsafeGetTensorImpl(), kKey)) {
    return;
  }
  for_each_storage(tensor, [&](c10::TensorImpl&, c10::StorageImpl& storage) {
    throw_if_released(&storage, op.schema().name().c_str());
  });
  // The tensor was given another storage since.
  KeySet::clear(*tensor.unsafeGetTensorImpl(), kKey);
}

void check_arguments(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const auto count = op.schema().arguments().size();
  for (auto argument = stack->end() - static_cast<std::ptrdiff_t>(count); argument != stack->end(); ++argument) {
    argument->visit([&](const c10::IValue& part) {
      check_argument(part, op);
      return false;
    });
  }
  op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kKey), stack);
}

} // namespace

void throw_in_operators(c10::TensorImpl& tensor) {
  KeySet::set(tensor, kKey);
}

} // namespace tensorscope::hooks

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericWrapper, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&tensorscope::hooks::check_arguments>());
}
