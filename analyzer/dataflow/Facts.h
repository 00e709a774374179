// SPDX-License-Identifier: Apache-2.0
//
// The events of a function that matter to tensors, as a graph of blocks. After
// the generator nothing looks at the AST but to name and to locate things.
#ifndef TENSORSCOPE_DATAFLOW_FACTS_H
#define TENSORSCOPE_DATAFLOW_FACTS_H

#include "dataflow/GradientEvent.h"
#include "dataflow/Places.h"
#include "dataflow/StreamEvent.h"
#include "dataflow/Summary.h"
#include "model/FunctionModel.h"
#include "clang/AST/Expr.h"
#include <map>
#include <set>

namespace tensorscope {

using BlockID = unsigned;
using GuardID = unsigned;

enum class FactKind {
  Create,       ///< Dst holds the new storage Storage
  CreateInside, ///< a callee makes tensors and drops them
  Assign,       ///< Dst holds what one of Sources holds
  Null,         ///< Dst holds nothing
  Forget,       ///< Dst holds something unknown
  Remove,       ///< some of what Src holds is dropped; not known which
  Keep,         ///< somebody unknown may keep what Src reaches
  Kill,         ///< Dst is gone
  Use,          ///< the tensors that Src holds are looked at
  UseDeep,      ///< the same for all that Src reaches
  Read,         ///< the variable Src is named, other than to write it
  Release,      ///< all that Src reaches is freed
  Unrelease,    ///< all that Src reaches may have been freed; not known
  Retain,       ///< all that Src reaches leaves its scope
  ScopeBegin,
  ScopeEnd,    ///< Src is the result, if any
  ScopeForget, ///< the scope of a guard (none: of any guard) may have ended
  OneElement,  ///< the tensor that Src holds has one element
  Discard,     ///< nobody takes the value Src
  AssumeDefined,
  AssumeAlive,
  AssumeGuard,
  SetGuard,
  DropGuards,     ///< guards that read Variable (null: any member) are unknown
  Note,           ///< Variable (null: some member) is set to something
  Ask,            ///< a branch depends on Variable (null: some member)
  LoopBack,       ///< the next iteration of Loop begins
  Call,           ///< a user's function is called
  CollectGarbage, ///< memory that is kept for later use is given back
  SessionForget,  ///< the session may have ended, or may be another
  StopElsewhere,  ///< another thread is made to stop a session
  Leave,          ///< the function ends, but for destructors
  MakeLongLived,  ///< Variable is made, which a program makes once
  GiveLongLived,  ///< Variable lives on elsewhere, or is worked with at length
  FillLongLived,  ///< Variable is given a part that is long-lived itself

  // Raw pointers that own; only OwnershipFlow.h looks at these.
  Acquire,       ///< Dst, a pointer, is the owner of Storage
  GiveBack,      ///< what the pointer Src owns is freed; not known if NoPlace
  GiveAway,      ///< somebody else may own what Src owns
  PointAt,       ///< Dst points to what Src points to; not known if NoPlace
  PointNowhere,  ///< Dst is a null pointer
  LookInto,      ///< what Src points to is looked at
  WrapMemory,    ///< a tensor is put on (Value: a copy made of) the memory Src
  ReturnOwner,   ///< Src is the result; not known if NoPlace
  StoreOwner,    ///< what the parameter Dst points to is set to Src
  NoteOutcome,   ///< Variable is set (Value: not set) where the call At failed
  AssumeOutcome, ///< At, or the call of Variable, failed (IsWeak: perhaps)
  AssumeNull,    ///< Src is null (IsWeak: perhaps)
  CatchFrom,     ///< an exception that the call At threw is caught

  Gradient, ///< what autograd does: Event says it
  Stream,   ///< what happens on a device's streams: Event says it
};

struct Fact {
  FactKind Kind;
  PlaceID Dst = NoPlace;
  PlaceID Src = NoPlace;
  StorageID Storage = UnknownStorage;
  ScopeID Scope = NoScope;
  LoopID Loop = NoLoop;
  GuardID Guard = 0;
  /// Of an assumption. ScopeEnd: by a call, before the end of the block. Read:
  /// an object now refers to the variable. ScopeForget: one may have been
  /// opened. CollectGarbage: not in each iteration. MakeLongLived: only if it
  /// is given parts that are.
  /// Call: the callee works in a loop.
  bool Value = false;
  /// Assign: adds to what Dst holds.
  bool IsWeak = false;
  /// Of a write: not to the pointer Dst, but to what it names.
  bool IsThrough = false;
  /// Create: a callee made it while a scope was open there.
  bool IsMadeInScope = false;

  /// Gradient, Stream: which of the function's events.
  unsigned Event = 0;

  const clang::Stmt *At = nullptr;
  /// Call, and what a callee did: which one.
  const clang::FunctionDecl *Callee = nullptr;
  const clang::ValueDecl *Variable = nullptr;
  /// Keep: as which of Callee's arguments it is given, if to a known function.
  static constexpr int NotGiven = ThisArg - 1;
  int GivenAs = NotGiven;
  /// Release by a callee: how that does it.
  const Trace *How = nullptr;
  /// Number of the full statement it belongs to, in order of generation.
  unsigned Statement = 0;
  llvm::SmallVector<PlaceID, 2> Sources;
};

/// What a guard says of an integer, where it compares one with a constant.
struct GuardComparison {
  static constexpr unsigned NoSubject = ~0U;
  unsigned Subject = NoSubject; ///< number of the expression that is compared
  clang::BinaryOperatorKind Operator = clang::BO_EQ; ///< ==, < or >
  int64_t Constant = 0;
};

struct FactBlock {
  std::vector<Fact> Facts;
  llvm::SmallVector<BlockID, 2> Successors;
};

enum class ScopeForm { Body, Guard, Session };

struct ScopeInfo {
  ScopeForm Form = ScopeForm::Body;
  const clang::Stmt *Begin = nullptr;
  /// The variable whose life it is, if it has one.
  const clang::VarDecl *Guard = nullptr;
  clang::SourceLocation EndLoc;
  /// How many scopes were open around it in the text.
  unsigned Depth = 0;
  LoopID Loop = NoLoop;
  /// A session that is started by a call: of which function.
  const clang::FunctionDecl *Starter = nullptr;
};

struct LoopInfo {
  clang::SourceLocation Loc;
  LoopID Outer = NoLoop;

  /// The statement; none for a loop in a call.
  const clang::Stmt *Text = nullptr;

  /// Runs a small constant number of times, or once for each layer.
  bool IsSmall = false;
  bool IsOverModules = false;
  /// A test runs its body again and again.
  bool IsInTest = false;
};

/// Everything known of one function before its dataflow runs.
struct FunctionFacts {
  const clang::FunctionDecl *Function = nullptr;
  PlaceTable Places;
  StorageTable Storages;
  std::vector<ScopeInfo> Scopes = std::vector<ScopeInfo>(1);
  std::vector<LoopInfo> Loops = std::vector<LoopInfo>(1);
  std::vector<FactBlock> Blocks;
  /// Variables (and members, as null) that each guard reads.
  std::vector<llvm::SmallVector<const clang::ValueDecl *, 2>> GuardVariables;
  /// Of each guard.
  std::vector<GuardComparison> GuardComparisons;
  BlockID Entry = 0;
  BlockID Exit = 0;
  PlaceID Return = NoPlace;
  /// The places that the return statements name.
  std::set<PlaceID> Returned;
  PlaceID This = NoPlace;
  llvm::SmallVector<PlaceID, 4> Params;
  /// Lambdas that run where they are made, and nowhere else.
  std::set<const clang::Stmt *> RunInPlace;
  /// What a start or a stop of a session depends on, where the branches around
  /// it ask what is not understood.
  std::map<const clang::Stmt *, std::set<const clang::Decl *>> DependsOn;
  /// The block in which a start or a stop of a session is a statement.
  std::map<const clang::Stmt *, const clang::CompoundStmt *> BlockOf;
  /// What an object is that MakeLongLived makes.
  std::map<const clang::ValueDecl *, std::string> LongLived;
  /// What a model or an annotation says of this function.
  const FunctionModel *Claim = nullptr;
  /// Arguments that carry tensors and are no raw pointers, if it has a claim.
  std::set<int> ClaimedCarriers;
  /// Pointers that something unknown may set, or free through.
  std::set<PlaceID> Unfollowed;
  /// The innermost branch or loop around a statement or an expression; only
  /// where owning pointers are followed.
  llvm::DenseMap<const clang::Stmt *, const clang::Stmt *> ConditionOf;
  /// It has facts of owning pointers.
  bool HasOwners = false;
  /// It throws or catches.
  bool HasExceptions = false;

  /// An object's end may stop a session.
  bool HasStoppers = false;

  /// What autograd does; the first one is none.
  std::vector<GradientEvent> Gradients = std::vector<GradientEvent>(1);

  /// What happens on a device's streams, where that is followed; the first one
  /// is none.
  std::vector<StreamEvent> Streams = std::vector<StreamEvent>(1);

  /// Over a budget, or built on code with errors: no result.
  bool IsIncomplete = false;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_FACTS_H
