// SPDX-License-Identifier: Apache-2.0
//
// What a function does to the tensors of its caller, without its body. Made
// from the dataflow of the function, used at its calls.
#ifndef TENSORSCOPE_DATAFLOW_SUMMARY_H
#define TENSORSCOPE_DATAFLOW_SUMMARY_H

#include "dataflow/Places.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

namespace tensorscope {

/// One step from a place to what lies in it: Field, Part or Element.
struct PathStep {
  PlaceKind Kind = PlaceKind::Element;
  const clang::FieldDecl *Field = nullptr;
  unsigned Number = 0; ///< of a Part
  bool IsHandle = false;
};

enum class PathRoot { Param, This, Global, Result };

/// A place as a function's interface names it.
struct Path {
  PathRoot Root = PathRoot::Param;
  unsigned Param = 0;
  const clang::ValueDecl *Global = nullptr;
  llvm::SmallVector<PathStep, 2> Steps;
};

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

struct Summary {
  std::vector<Path> Released;
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
  /// First tensor made with no scope open that does not leave the function,
  /// outside its own loops.
  const clang::Expr *MakesInside = nullptr;
};

/// Answers for functions with a body in this translation unit.
class SummaryProvider {
public:
  virtual ~SummaryProvider() = default;
  /// Null when nothing is known: no body, an error in it, over a budget.
  virtual const Summary *summary(const clang::FunctionDecl *F) = 0;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_SUMMARY_H
