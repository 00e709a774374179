// SPDX-License-Identifier: Apache-2.0
// The rule of ownership: what becomes of an outermost operator's results. Called by the observer.
#pragma once

#include "core/thread_record.h"

#include <ATen/core/ivalue.h>

#include <vector>

namespace tensorscope::hooks {

/// Gives to the thread's innermost region each storage whose bytes were born in this very operator and that the
/// schema does not declare as a written argument; notes the other results as seen. At level `full` the ledger is told
/// of what no region owns, too; below it there must be a region.
void note_results(core::ThreadRecord& thread, const core::OperatorInfo& info,
                  const std::vector<c10::IValue>& results);

/// An operator that runs inside of another has set tensors to storages. If these were born in the outer operator, and
/// others than its result hold them at its end, they belong to those: as the block into which it moves older weights.
void note_rebound_inside(core::ThreadRecord& thread, const std::vector<c10::IValue>& results) noexcept;

/// Puts a storage into `region`, with `tensor` as the one that brought it.
void own_storage(core::ThreadRecord& thread, core::Region& region, c10::TensorImpl& tensor,
                 c10::StorageImpl& storage, const core::OperatorInfo& made_by, std::uint32_t part = 0);

/// Notes a tensor that `region` does not own: its graph, if it has one, is kept at the region's end.
void see_tensor(core::Region& region, c10::TensorImpl& tensor);

/// Whether autograd may know where the tensor comes from; false only if it surely does not.
bool may_have_graph(const c10::TensorImpl& tensor);

/// Index of the figures for a kind of device.
std::size_t device_index(c10::DeviceType type);

} // namespace tensorscope::hooks
