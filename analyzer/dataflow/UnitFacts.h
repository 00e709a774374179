// SPDX-License-Identifier: Apache-2.0
//
// What a whole translation unit says, that no path through a function does:
// which objects live as long as the program and may be on a device, which
// containers only grow, which callbacks own what owns them. One walk over the
// functions that the user wrote.
#ifndef TENSORSCOPE_DATAFLOW_UNITFACTS_H
#define TENSORSCOPE_DATAFLOW_UNITFACTS_H

#include "dataflow/FactsGenerator.h"
#include "clang/AST/ExprCXX.h"

namespace tensorscope {

/// A variable of static storage is given what may be on a device.
struct StaticOnDevice {
  const clang::VarDecl *Variable = nullptr;
  /// Null for its initializer.
  const clang::Expr *At = nullptr;
  /// What says so.
  const clang::Expr *Device = nullptr;
  const clang::FunctionDecl *In = nullptr;
};

/// Something is added to a container.
struct ContainerGrowth {
  const clang::ValueDecl *Container = nullptr;
  const clang::Expr *At = nullptr;
  const clang::FunctionDecl *In = nullptr;
  /// In a lambda that is called whenever a gradient is there.
  bool IsInHook = false;
};

enum class CycleForm { Hook, Member, SavedOutput, SavedView };

/// A callback, or a context, owns what owns it.
struct OwnershipCycle {
  CycleForm Form = CycleForm::Hook;
  const clang::Expr *At = nullptr;
  /// As the user wrote it.
  std::string Owner;
  /// The member that holds it, if it may be emptied by its name; the variable
  /// that a hook was put on.
  const clang::ValueDecl *Slot = nullptr;
  const clang::FunctionDecl *In = nullptr;
};

/// A view is put where it lives longer than what it is a view of, or is a
/// scope's result.
struct KeptView {
  const clang::Expr *View = nullptr;
  const clang::VarDecl *Source = nullptr;
  unsigned Share = 1; ///< it uses one part of so many
  bool IsScopeResult = false;
  clang::SourceLocation End; ///< of its text
  const clang::FunctionDecl *In = nullptr;
};

/// A pointer is saved as a number in the context of an autograd function.
struct SavedPointer {
  const clang::Expr *At = nullptr;
  const clang::CXXRecordDecl *Class = nullptr;
  const clang::FunctionDecl *In = nullptr;
};

struct UnitFacts {
  std::vector<SavedPointer> SavedPointers;
  /// Of each autograd function: where its `backward` deletes what it made of
  /// such a number.
  llvm::DenseMap<const clang::CXXRecordDecl *, const clang::CXXDeleteExpr *>
      DeletedInBackward;
  std::vector<KeptView> KeptViews;
  /// Local tensors that are kept themselves.
  llvm::DenseSet<const clang::VarDecl *> StoredWhole;
  std::vector<StaticOnDevice> OnDevice;
  std::vector<ContainerGrowth> Growths;
  std::vector<OwnershipCycle> Cycles;
  /// Variables and members of which a branch compares the size, or to which
  /// something unknown is done.
  llvm::DenseSet<const clang::ValueDecl *> Bounded;
  /// Those that are set to nothing, emptied, swapped, or moved from.
  llvm::DenseSet<const clang::ValueDecl *> Emptied;
  /// Variables, and members, that a hook is removed from.
  llvm::DenseSet<const clang::ValueDecl *> Unhooked;
};

/// \p Functions: those with a body, without lambdas. \p Variables: of
/// namespaces and classes.
UnitFacts
collectUnitFacts(UnitContext &Unit,
                 llvm::ArrayRef<const clang::FunctionDecl *> Functions,
                 llvm::ArrayRef<const clang::VarDecl *> Variables);

/// What in \p Value says that the tensors of it may be on a device; null if
/// nothing does.
const clang::Expr *mayBeOnDevice(const clang::Expr *Value, UnitContext &Unit);

/// One part of how many of its storage \p View uses, if it is cut out of
/// \p Source, a local variable that is made with constant sizes.
std::optional<unsigned> shareOfStorage(const clang::Expr *View,
                                       const clang::VarDecl *&Source,
                                       const clang::ASTContext &Ctx);

/// The variable that \p E is, or is a part of, or is reached through; null for
/// another one. \p IsMember: it is `this`, or a member of it.
const clang::VarDecl *rootOf(const clang::Expr *E, bool *IsMember = nullptr);

/// \p Callable owns \p Owner, a variable (null: the object of the function), by
/// a capture or by what `std::bind` is given. A tensor that was computed from
/// another owns that, unless \p Unit is null.
bool ownsByCapture(const clang::Expr *Callable, const clang::VarDecl *Owner,
                   const BodyIndex &Body, UnitContext *Unit = nullptr);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_UNITFACTS_H
