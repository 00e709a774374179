// SPDX-License-Identifier: Apache-2.0
//
// What a function does to autograd's graphs of its caller, as part of its
// summary.
#ifndef TENSORSCOPE_DATAFLOW_GRADIENTSUMMARY_H
#define TENSORSCOPE_DATAFLOW_GRADIENTSUMMARY_H

#include "dataflow/Path.h"

namespace tensorscope {

/// What a place holds when the function has ended.
struct GradientStore {
  Path To;
  /// What the caller gave, as it is.
  std::vector<Path> Passed;
  /// What the caller gave, with a step of a graph in between.
  std::vector<Path> Derived;
  /// Has a graph in any case, with gradients on.
  bool HasGraph = false;
  bool HasLeaf = false;
  bool HasPlain = false;
  bool HasUnknown = false;
  bool IsWeak = false;
  /// One more element each time.
  bool IsInsertion = false;
  const clang::Stmt *At = nullptr;
};

struct GradientSummary {
  std::vector<GradientStore> Result;
  std::vector<GradientStore> Stores;
  /// Backward runs from what the caller gave.
  std::vector<Path> Backward;
  /// What the caller gave may be walked back by somebody unknown.
  std::vector<Path> Consumed;
  bool ResetsGradients = false;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_GRADIENTSUMMARY_H
