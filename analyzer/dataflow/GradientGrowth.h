// SPDX-License-Identifier: Apache-2.0
//
// Graphs that are kept: those that grow with each iteration of a loop or each
// call of a function, and those that a container collects.
#ifndef TENSORSCOPE_DATAFLOW_GRADIENTGROWTH_H
#define TENSORSCOPE_DATAFLOW_GRADIENTGROWTH_H

#include "dataflow/GradientFlow.h"
#include "dataflow/Repetition.h"

namespace tensorscope {

enum class GrowthKind {
  Chain,   ///< Target is computed from itself in each iteration
  Carried, ///< the same, and backward runs through it in each iteration
  Stored,  ///< Target has one more element with a graph after each iteration
  Across,  ///< the member Target is computed from itself in each call
  Created, ///< backward gives the gradients a graph
  Kept,    ///< backward keeps the graph, and nobody walks it again
  Copied,  ///< the graph is copied into the tensor Target, on top of its own
};

struct Growth {
  GrowthKind Kind = GrowthKind::Chain;
  PlaceID Target = NoPlace;
  /// What makes the graph, or the last step of it.
  const Fact *Graph = nullptr;
  /// What puts it where it stays.
  const Fact *At = nullptr;
  LoopID Loop = NoLoop;
  /// Backward has run on what is kept: it can't be walked again.
  const Fact *Walk = nullptr;
};

std::vector<Growth> findGrowth(GradientFlow &Flow,
                               const clang::SourceManager &SM);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_GRADIENTGROWTH_H
