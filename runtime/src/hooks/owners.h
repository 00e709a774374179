// SPDX-License-Identifier: Apache-2.0
// Adopted owners and foreign retains: what the end of any thread's region must ask besides its own lists.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>

#include <functional>
#include <memory>
#include <vector>

namespace tensorscope::hooks {

using OwnerTensors = std::function<std::vector<at::Tensor>()>;

/// Registers an owner until the token is dropped.
std::shared_ptr<void> add_owner(OwnerTensors tensors);
/// Registers an owner for as long as `alive` says so.
void add_lasting_owner(OwnerTensors tensors, std::function<bool()> alive);
/// What all owners reach now. An owner whose listing throws counts as reaching nothing.
std::vector<at::Tensor> tensors_of_owners();

/// Notes that a storage which no region of the calling thread owns is retained, whoever owns it.
void retain_from_elsewhere(const at::Tensor& tensor, c10::StorageImpl& storage);
bool any_retained_from_elsewhere() noexcept;
/// Whether the storage was so noted; `tensor` is set to the retained tensor if that lives.
bool retained_from_elsewhere(c10::StorageImpl& storage, at::Tensor& tensor);

} // namespace tensorscope::hooks
