// SPDX-License-Identifier: Apache-2.0
// Follows what each place keeps while the program works. Called for an operator's results, with the ledger of the thread
// locked; reads tensors and graphs of this thread only. See core/growth.h.
#pragma once

#include "core/growth.h"
#include "core/thread_record.h"

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>

namespace tensorscope::hooks {

/// A tensor was entered in the ledger. Nothing without a stack.
void follow_made(core::ThreadRecord& thread, c10::TensorImpl& tensor, const core::OwnedStorage& entry,
                 std::uint32_t part) noexcept;

/// An operator wrote to a tensor that has a graph.
void follow_update(core::ThreadRecord& thread, c10::TensorImpl& tensor, const core::OperatorInfo& info,
                   std::uint32_t part) noexcept;

/// An operator gave a tensor over a storage that is older.
void follow_view(core::ThreadRecord& thread, c10::TensorImpl& view, const core::OperatorInfo& info,
                 std::uint32_t part) noexcept;

/// Takes the samples that are due. To be called when all results of the operator are noted, and live.
void take_due_samples(core::ThreadRecord& thread) noexcept;

/// Whether graphs that `root` ends lead to the node of this thread's with that number.
bool graph_leads_to(const c10::TensorImpl& root, std::uint64_t node);

/// The number of the node that the tensor is the end of, if this thread made it; else 0.
std::uint64_t own_node_of(const c10::TensorImpl& tensor);

/// What the graph of `root` keeps of what was made since `since`, by place.
std::vector<core::KeptPerRepeat> kept_by_graph(core::ThreadRecord& thread, const core::GrowthPlace& keeper,
                                               const at::Tensor& root, const core::EarlierResult& since);

/// Looks at all places: how much of each is alive.
void look_at_all_places(core::ThreadRecord& thread, core::GrowthLog& log);

/// Backward passes that have run in the process, without those that make a graph themselves.
std::uint64_t backward_passes();

} // namespace tensorscope::hooks
