// SPDX-License-Identifier: Apache-2.0
// Releasing storages: mark first, so that every later access throws, then free the bytes once no operator that
// began before can read them. Called by the closing of regions and by release().
#pragma once

#include "core/operator_names.h"
#include "core/thread_record.h"
#include "core/uses.h"

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>

#include <source_location>
#include <string>
#include <vector>

namespace tensorscope::hooks {

using core::ReleaseCause;

/// One storage to release.
struct Doomed {
  c10::intrusive_ptr<c10::StorageImpl> storage;
  std::vector<at::Tensor> tensors; ///< known tensors over it: their metadata operators throw too
  const core::OperatorInfo* made_by = nullptr;
  const core::Stack* made_at = nullptr;
};

/// Words for a stack, to be put into errors; set at level `full`.
using StackWords = std::string (*)(const core::Stack& stack);
void set_stack_words(StackWords words, bool stop_at_first_use) noexcept;

/// "\n  <title>\n" and the stack in words; empty for null, and below level `full`.
std::string paragraph_of(const char* title, const core::Stack* stack);

/// Releases all of `doomed`, and says how many were not released before. Where LibTorch's errors can't be
/// replaced by ours, a full text is left in each storage.
std::size_t release_storages(std::vector<Doomed>& doomed, const ReleaseCause& cause);

/// Whether `storage` was released by us.
bool is_released(const c10::StorageImpl& storage);

/// "float32 [4, 4] on cpu"; what can be said of the storage alone if `tensor` is undefined.
std::string describe(const at::Tensor& tensor, const c10::StorageImpl& storage);

/// Throws UseAfterRelease if `storage` was released by us.
void throw_if_released(const c10::StorageImpl* storage, const char* used_by = nullptr);

/// Frees what waits, as far as epochs are over. Never throws.
void free_waiting() noexcept;

} // namespace tensorscope::hooks
