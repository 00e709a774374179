// SPDX-License-Identifier: Apache-2.0
// Which tensors are only there because the backward pass of another one needs them: a lost loss is one leak, whatever its
// graph keeps.
#pragma once

#include "report/living.h"

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tensorscope::report {

/// Whether a living tensor is a leak by itself.
using IsLeak = std::function<bool(const Living&)>;

/// What graphs keep.
struct Graphs {
  /// For each storage that a graph needs, the living tensor at whose end the graph hangs.
  std::unordered_map<const c10::StorageImpl*, const Living*> keepers;
  std::unordered_set<const c10::StorageImpl*> held_alone; ///< of these, those that the program has no handle to
  std::unordered_map<const Living*, std::string> own_nodes; ///< of those that their own graphs keep, the node that does
};

/// Walks the graphs of all living tensors whose threads do not run, unless none of these can have been kept by one.
Graphs read_graphs(const std::vector<Ledger>& ledgers, const IsLeak& is_leak);

/// The living tensor at whose end the graph hangs that keeps the storage, or null. A graph may keep another's end.
const Living* keeper_of(const Living& living, const Graphs& graphs);

/// The node of its own graph that keeps it; empty where none does.
std::string own_node_of(const Living& living, const Graphs& graphs);

/// Whether what is no leak by itself, or one of its own, is only there for the backward pass of a leak.
bool is_indirect(const Living& living, const Living* keeper, const Graphs& graphs, const IsLeak& is_leak);

} // namespace tensorscope::report
