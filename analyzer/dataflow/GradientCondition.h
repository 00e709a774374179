// SPDX-License-Identifier: Apache-2.0
//
// What a finding about autograd takes for granted of the rest of its
// translation unit.
#ifndef TENSORSCOPE_DATAFLOW_GRADIENTCONDITION_H
#define TENSORSCOPE_DATAFLOW_GRADIENTCONDITION_H

#include "clang/AST/Decl.h"
#include <vector>

namespace tensorscope {

enum class Verdict { No, Maybe, Sure };

struct GradientCondition {
  /// Runs with gradients on.
  const clang::FunctionDecl *Runs = nullptr;
  /// Nobody walks back, gives away or returns what these hold; nobody removes
  /// anything from them, and all functions of their classes are seen.
  std::vector<const clang::ValueDecl *> Left;
  /// Nobody but Runs writes to it or walks it back.
  const clang::ValueDecl *OwnOf = nullptr;
  bool NeedsNoTraining = false;
  bool NeedsNoFreezing = false;
  bool NeedsLoopAround = false;
  /// The module is to be evaluated: it is, or callers or others say so, or the
  /// function runs on a thread that somebody else's guard does not cover.
  bool NeedsEvaluation = false;
  bool IsEvaluated = false;
  int EvaluatedParam = -1;
  std::vector<const clang::ValueDecl *> EvaluatedMembers;
  /// It runs on a thread of its own.
  const clang::FunctionDecl *OnThread = nullptr;
  /// Tensors that it makes in no scope leave it.
  const clang::FunctionDecl *GivesOut = nullptr;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_GRADIENTCONDITION_H
