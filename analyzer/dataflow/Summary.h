// SPDX-License-Identifier: Apache-2.0
//
// What a function does to the tensors of its caller, without its body. Made
// from the dataflow of the function, used at its calls.
#ifndef TENSORSCOPE_DATAFLOW_SUMMARY_H
#define TENSORSCOPE_DATAFLOW_SUMMARY_H

#include "dataflow/GradientSummary.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

namespace tensorscope {

/// One step of how something comes about in a callee, by text: its file may not
/// be part of the translation unit.
struct TraceStep {
  std::string File;
  unsigned Line = 0;
  unsigned Column = 0;
  std::string Through; ///< the function that is called there, if it is a call
  /// In a function of which this translation unit has no body.
  bool IsElsewhere = false;
};
/// From the outermost call inwards.
using Trace = std::vector<TraceStep>;

/// Assumed: returned by value by a function of which nothing is known.
enum class SourceKind { Unknown, Interface, New, Assumed, ScopeResult };

/// Where a storage that a call leaves behind comes from.
struct SummarySource {
  SourceKind Kind = SourceKind::Unknown;
  Path From;          ///< Interface
  unsigned Index = 0; ///< New, Assumed, ScopeResult: which one
  /// Made while a scope was open in the callee.
  bool IsMadeInScope = false;
  /// The callee retained it, on some path.
  bool IsRetained = false;
};

struct SummaryStore {
  Path To;
  bool IsWeak = false;
  std::vector<SummarySource> Sources;
};

/// What a function leaves of the session of its caller's thread. Unclear: it
/// depends on the path.
enum class SessionEffect { None, Starts, Stops, Replaces, Unclear };

/// An argument that goes on to a function of which nothing is known here.
struct SummaryForward {
  const clang::FunctionDecl *Callee = nullptr;
  Path Own;    ///< what is given
  Path Theirs; ///< as which argument
  bool IsAlways = false;
  TraceStep At;
};

struct Summary {
  std::vector<Path> Released;
  /// Of each of them.
  std::vector<Trace> ReleasedHow;
  std::vector<SummaryForward> Forwards;
  /// On some paths only: the caller can't know.
  std::vector<Path> MaybeReleased;
  std::vector<Path> Retained;
  /// Passed on to somebody unknown.
  std::vector<Path> Kept;
  /// Looked at before they are written.
  std::vector<Path> Used;
  std::vector<SummaryStore> Stores;
  /// Stores into the result.
  std::vector<SummaryStore> Result;
  /// It may end the scope of a guard that it did not open.
  bool MayEndScope = false;
  SessionEffect Sessions = SessionEffect::None;
  /// It makes or calls something in a loop that is not over a model's layers.
  bool WorksInLoop = false;
  /// Each call of it gives memory back that is kept for later use.
  bool CollectsGarbage = false;
  /// What a result by reference refers to, if that is always the same.
  std::optional<Path> Reference;
  /// It makes a tensor with no scope open that does not leave it, outside its
  /// own loops.
  bool MakesInside = false;

  GradientSummary Gradients;
};

/// What a function does to the raw pointers of its caller.
struct OwnershipSummary {
  enum class Fate { Lent, GivenBack, Unknown };
  /// Of what each parameter points to.
  llvm::SmallVector<Fate, 4> Params;
  /// Parameters that point to a pointer which it makes an owner.
  llvm::SmallVector<bool, 4> SetsOwner;
  /// The result is a new owner, or null.
  bool ReturnsOwner = false;
  /// That is memory a tensor may be put on.
  bool ReturnsMemory = false;
};

/// Answers for functions with a body in this translation unit, and for those
/// of others.
class SummaryProvider {
public:
  virtual ~SummaryProvider() = default;
  /// Null when nothing is known: no body, an error in it, over a budget.
  virtual const Summary *summary(const clang::FunctionDecl *F) = 0;
  /// Of a function without a body here; null when nothing is known.
  virtual const Summary *elsewhere(const clang::FunctionDecl * /*F*/) {
    return nullptr;
  }
  /// \p F is given tensors at \p Call, and nothing is known of it.
  virtual void noteUnknown(const clang::FunctionDecl * /*F*/,
                           const clang::Expr * /*Call*/) {}
  /// Null when nothing is known, or while \p F itself is looked at.
  virtual const OwnershipSummary *
  ownership(const clang::FunctionDecl *F) = 0;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_SUMMARY_H
