// SPDX-License-Identifier: Apache-2.0
//
// One result of the analysis as data; the words are the checks'.
#ifndef TENSORSCOPE_DATAFLOW_FLOWFINDING_H
#define TENSORSCOPE_DATAFLOW_FLOWFINDING_H

#include "clang/Basic/SourceLocation.h"
#include <string>
#include <vector>

namespace tensorscope {

enum class FlowStepKind {
  Created,
  Released,
  ScopeBegan,
  ScopeEnded,
  SessionEnded,
  Stored,
};

struct FlowStep {
  FlowStepKind Kind;
  clang::SourceLocation Loc;
  /// The callee in which it happened, if not here.
  std::string Through;
};

struct FlowFinding {
  clang::SourceLocation Loc;
  /// The variable, as the user wrote it.
  std::string Subject;
  /// What holds it, where that matters.
  std::string Holder;
  /// What to write instead, where the place alone does not say it.
  std::string Remedy;
  bool IsMaybe = false;
  bool IsInLoop = false;
  std::vector<FlowStep> Steps;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_FLOWFINDING_H
