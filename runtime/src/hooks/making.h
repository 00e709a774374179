// SPDX-License-Identifier: Apache-2.0
// Where a tensor is being made, and as what: the stack and the shape that the ledger keeps at level `full`.
#pragma once

#include "core/thread_record.h"

#include <c10/core/TensorImpl.h>

#include <vector>

namespace tensorscope::hooks {

/// How stacks are taken. Set once, at load.
struct StackOptions {
  std::size_t depth = 30;    ///< frames kept
  std::uint64_t sample = 1;  ///< of so many tensors one gets a stack; 0: none does
};
extern constinit StackOptions stack_options;

/// Called whenever the number of tensors that a thread made has doubled.
void set_doubling_hook(void (*hook)() noexcept) noexcept;

/// Return addresses of the calling thread, `thread`, the innermost first and at most `depth`.
std::vector<void*> walk_stack(core::ThreadRecord& thread, std::size_t depth);

/// The calling thread's stack, interned. Null when it can't be walked.
const core::Stack* stack_here(core::ThreadRecord& thread) noexcept;

/// What `tensor` is now; the view is good while the tensor stays as it is.
core::ShapeView view_of_shape(const c10::TensorImpl& tensor);
core::TensorShape shape_of(const c10::TensorImpl& tensor);

/// The shape for the ledger, interned; without its sizes when the table is full.
const core::TensorShape* intern_shape(core::ThreadRecord& thread, core::ShapeView shape);

/// Completes the entry of `tensor`, which the running operator has just made, as far as memory allows.
void note_making(core::ThreadRecord& thread, const c10::TensorImpl& tensor, core::OwnedStorage& entry) noexcept;

} // namespace tensorscope::hooks
