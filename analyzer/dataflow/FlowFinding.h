// SPDX-License-Identifier: Apache-2.0
//
// One result of the analysis as data; the words are the checks'.
#ifndef TENSORSCOPE_DATAFLOW_FLOWFINDING_H
#define TENSORSCOPE_DATAFLOW_FLOWFINDING_H

#include "dataflow/GradientCondition.h"
#include "clang/Basic/SourceLocation.h"
#include <optional>
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
  LoopBegan,
  SessionBegan,
  Left,
  Thrown,
  StoppedElsewhere,

  // Of memory that is borrowed.
  Borrowed,
  Viewed,
  Destroyed,
  StatementEnded,
  Freed,
  Reallocated,
  Resized,
  Rebound,
  Used,
  Returned,
  Declared,
  Acquired,
  Lost,
  Overwritten,
  GivenBack,
  MayThrow,

  GraphMade,
  WalkedBack,
  AddedThere, ///< in the callee Through
  ThreadStarted,
  CalledInLoop,

  // Of streams of a device.
  WorkBegan,
  CopyBegan,
  WrittenThere,
};

struct FlowStep {
  FlowStepKind Kind;
  clang::SourceLocation Loc;
  /// The callee in which it happened, if not here.
  std::string Through;
};

/// What a mechanical fix writes in place of a range of the text.
struct FlowEdit {
  clang::CharSourceRange Range;
  std::string Text;
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

  /// Which of the check's kinds of mistakes it is.
  unsigned Form = 0;
  /// The function runs on a thread, and that is the mistake.
  bool IsOnThread = false;
  /// Not below this level.
  unsigned Level = 0;
  /// What it depends on, which is known when all functions are.
  std::optional<GradientCondition> Condition;
  std::vector<FlowStep> Steps;
  /// All or nothing.
  std::vector<FlowEdit> Edits;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_FLOWFINDING_H
