// SPDX-License-Identifier: Apache-2.0
//
// What a call does to the tensors it is given and where its result comes
// from: one row of a model file, as data.
#ifndef TENSORSCOPE_MODEL_FUNCTIONMODEL_H
#define TENSORSCOPE_MODEL_FUNCTIONMODEL_H

#include <vector>

namespace tensorscope {

/// Index of an argument; `ThisArg` is the object of a member call.
inline constexpr int ThisArg = -1;

/// Of the effects that say who owns a raw pointer: the call's result, and the
/// last arguments, as long as each points to a pointer to a class.
inline constexpr int ResultArg = -2;
inline constexpr int LastArgs = -3;

/// Where the storages of a call's result come from.
enum class ResultKind {
  None,       ///< carries no tensor
  New,        ///< storages made by this call
  Alias,      ///< the same storages as an argument's
  MaybeAlias, ///< an argument's storages or new ones; not known which
  Element,    ///< an element of an argument, by reference
  Iterator,   ///< a position in an argument
  Collect,    ///< a carrier of all that the arguments reach
  Tuple,      ///< a tuple of the arguments
  References, ///< a tuple that refers to the arguments; assigning it writes them
  Call,       ///< whatever the callable argument returns
};

enum class EffectKind {
  Retain,       ///< leaves its scope; plain reference counting owns it
  Adopt,        ///< what it reaches, now or later, leaves its scope
  Release,      ///< freed now, for every alias
  Insert,       ///< every later argument is added to the elements of this one
  Clear,        ///< all elements are dropped
  Remove,       ///< some elements are dropped; not known which
  Reset,        ///< the handle becomes undefined
  Become,       ///< holds what the argument after it holds, or nothing
  Swap,         ///< it and the argument after it change places
  Exchange,     ///< becomes the argument after it; the result is what it was
  Forget,       ///< rewritten in a way that is not modelled
  Borrow,       ///< the result points into it without owning it
  Keep,         ///< may be kept by somebody who is not modelled
  RunInScope,   ///< the callable argument runs once, in a scope of its own
  RunOnce,      ///< the callable argument runs here, once
  RunInLoop,    ///< the callable argument runs once per element
  RunForward,   ///< runs the `forward` of the module that it holds
  BeginSession, ///< opens the thread's session
  EndSession,   ///< closes it and releases what it owns
  EndScope,     ///< ends the scope of this guard; what follows it is the result
  OneElement,   ///< its tensor has one element, whatever made it
  QueryDefined, ///< true when the handle holds a tensor
  QueryAlive,   ///< true when the storage has not been released
  QueryDevice,  ///< the same answer for as long as the program runs
  CollectGarbage, ///< gives memory back that is only kept for later use
  RunOnThread,    ///< the callable argument runs on a thread of its own
  RunInTest,      ///< a test runs the callable argument, many times
  Write,          ///< the elements of its tensors are written, in place

  Acquire,  ///< the caller owns what this pointer points to, or is set to
  Allocate, ///< the same, of memory that a tensor may be put on
  GiveBack, ///< frees what this pointer points to
  Take,     ///< an object owns what this pointer points to, and alone frees it
  Wrap,     ///< the result refers to this memory; only a deleter frees it
};

struct Effect {
  EffectKind Kind;
  int Arg = ThisArg;
};

struct FunctionModel {
  ResultKind Result = ResultKind::None;
  int ResultArg = ThisArg;
  std::vector<Effect> Effects;
  /// False when the call only looks at handles, never at their tensors, so it
  /// is legal after a release.
  bool UsesTensors = true;
  /// Bit i: no gradient flows through result i, so it keeps no autograd graph.
  unsigned NoGraph = 0;
  /// Nothing is known of the arguments that it does not name.
  bool IsPartial = false;

  bool mayCarryGraph(unsigned ResultNumber = 0) const {
    return (NoGraph >> ResultNumber & 1) == 0;
  }

  /// No row says it: what a library's function is taken to do.
  bool IsDefault = false;
};

/// What a type means to the analysis.
enum class TypeRole {
  None,    ///< carries no tensor, or none that is known
  Handle,  ///< holds one reference to one tensor
  Carrier, ///< holds tensors somewhere inside
  Borrower, ///< points into a tensor's memory without owning it
  Module,  ///< a carrier whose construction makes tensors
  Scope,   ///< opens a scope for its life
  Session, ///< opens a session for its life
  Adoption, ///< names a long-lived owner, for its life
};

} // namespace tensorscope

#endif // TENSORSCOPE_MODEL_FUNCTIONMODEL_H
