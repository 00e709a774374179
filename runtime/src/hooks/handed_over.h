// SPDX-License-Identifier: Apache-2.0
// Tensors that are handed to somebody whom no scope can ask: an older module that takes a late parameter, another library
// that takes a DLPack capsule. The interposers in interpose/library_state.cpp call these.
#pragma once

#include <tensorscope/detail/export.h>

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>

namespace tensorscope::core {
struct Stack;
}
namespace torch::nn {
class Module;
}

namespace tensorscope::hooks {

/// `module` is about to take `tensor` as a parameter or a buffer. Once the module is made, that is as its own weights:
/// the scope that owns the tensor keeps it at its end. While it is being made, or copied, it is a part of the making.
TENSORSCOPE_API void note_registration(torch::nn::Module& module, const at::Tensor& tensor) noexcept;

/// Takes that back: the tensor gets the data of another one, as in a module's copy.
void forget_registration(c10::TensorImpl& tensor) noexcept;

/// A capsule over `tensor` is about to be made: it leaves its scope as a retained tensor does, and its bytes are never
/// freed before the capsule's deleter ran.
TENSORSCOPE_API void note_export(const at::Tensor& tensor) noexcept;

/// Whether a capsule over `storage` was ever made.
bool is_exported(const c10::StorageImpl& storage) noexcept;

/// Where the latest was made, at level `full`; null where none was, or its stack was not taken.
const core::Stack* exported_at(const c10::StorageImpl& storage) noexcept;

} // namespace tensorscope::hooks
