// SPDX-License-Identifier: Apache-2.0
//
// What a fact does to autograd's graphs. Made by GradientFacts.cpp and its
// kind, read by GradientFlow.
#ifndef TENSORSCOPE_DATAFLOW_GRADIENTEVENT_H
#define TENSORSCOPE_DATAFLOW_GRADIENTEVENT_H

#include "dataflow/Places.h"

namespace tensorscope {

enum class GradientKind {
  None,
  Derive,  ///< Dst is computed from Operands
  TakeIn,  ///< the tensor of Dst is changed in place: Operands go into it
  Cut,     ///< Dst has no graph
  Leaf,    ///< Dst records what is done to it
  Forget,  ///< whether Dst has a graph is not known
  Insert,  ///< Operands become elements of Dst, which has one more each time
  Backward, ///< a graph of Operands is walked back
  Consume, ///< what Operands reach may be walked back by somebody unknown
  ResetGradients,
  Mode,    ///< a guard begins, or (no Guard) the mode of the thread is set
  ModeEnd, ///< the mode is again what it was before Guard
  Evaluate, ///< the module Module is to be evaluated
  Train,
  Thread, ///< the fact's Callee runs on another thread
  Call,   ///< the fact's Callee is called on Module, with the modules Operands
};

/// Of a thread, at a point. Inherited: as the caller has it.
enum class GradientMode { On, Off, Inherited, Unknown };

struct GradientEvent {
  GradientKind Kind = GradientKind::None;
  llvm::SmallVector<PlaceID, 4> Operands;
  /// Derive: what Dst may be as it is, without a step in between.
  llvm::SmallVector<PlaceID, 2> Passed;
  /// Derive, Insert: Dst holds this, too, as a callee left it.
  bool HasPlain = false;
  bool HasLeaf = false;
  /// One of the operands is unknown; what Dst holds may be.
  bool HasUnknown = false;
  bool MayBeUnknown = false;
  /// Derive: parameters are among what it is computed from.
  bool HasParameters = false;
  /// Derive: by running the module Module.
  bool IsForward = false;
  /// The module, or what it was given, holds graphs of that run, too.
  bool MayKeepGraph = false;
  /// What the module does is not seen: it may keep them.
  bool IsUnseen = false;
  /// TakeIn: by an assignment to `std::move(x)`, which copies into a tensor that
  /// others have.
  bool IsCopiedInto = false;
  bool IsWeak = false;
  PlaceID Module = NoPlace;
  const clang::VarDecl *Guard = nullptr;
  GradientMode Mode = GradientMode::Unknown;
  /// Backward: the graph is kept, and the gradients get one.
  bool RetainsGraph = false;
  /// That it is kept is said by a constant.
  bool AsksToRetain = false;
  bool CreatesGraph = false;
  /// Backward: gradients go to the leaves, not to a result.
  bool IsAccumulating = false;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_GRADIENTEVENT_H
