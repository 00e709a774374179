// SPDX-License-Identifier: Apache-2.0
//
// What a function body's expressions stand in: loops, statements, calls. One
// walk per body; lambda bodies inside it have an index of their own.
#ifndef TENSORSCOPE_UTILS_BODYINDEX_H
#define TENSORSCOPE_UTILS_BODYINDEX_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace tensorscope {

/// An assignment, an increment or a decrement of a variable by its name.
struct ScalarWrite {
  const clang::Expr *At = nullptr;
  /// The innermost loop around it.
  const clang::Stmt *Loop = nullptr;
};

struct BodyIndex {
  const clang::FunctionDecl *Function = nullptr;
  /// Innermost loop around a call, a construction or a declaration.
  llvm::DenseMap<const clang::Stmt *, const clang::Stmt *> LoopOf;
  /// Innermost loop around a loop.
  llvm::DenseMap<const clang::Stmt *, const clang::Stmt *> OuterLoop;
  /// Innermost branch around a call, an increment, a declaration or a branch:
  /// an `if`, a `switch`, a conditional operator, a `&&` or `||`.
  llvm::DenseMap<const clang::Stmt *, const clang::Stmt *> BranchOf;
  /// Statements and expression statements (without wrappers).
  llvm::DenseSet<const clang::Stmt *> Statements;
  /// Expression statements whose value nobody takes, without a cast to void.
  llvm::DenseSet<const clang::Expr *> Discarded;
  /// The call or assignment whose object or left side a name is.
  llvm::DenseMap<const clang::DeclRefExpr *, const clang::Expr *> ObjectOf;
  /// The block that an expression statement stands in.
  llvm::DenseMap<const clang::Expr *, const clang::CompoundStmt *> BlockOf;
  /// Calls in exception handlers.
  llvm::DenseSet<const clang::Stmt *> Handled;
  /// The `if (...) continue;`, or `return`, that comes before a call in a block
  /// around it.
  llvm::DenseMap<const clang::Stmt *, const clang::IfStmt *> SkippedBy;
  /// Names of functions that are called there.
  llvm::DenseSet<const clang::DeclRefExpr *> CalledNames;
  /// The call that a variable is given to, itself, pointed to, or as its
  /// object.
  llvm::DenseMap<const clang::DeclRefExpr *, const clang::Expr *> GivenTo;
  /// Lambdas that a `std::thread`, `jthread` or `async` is given.
  llvm::DenseSet<const clang::Expr *> OnThread;
  /// Names of variables that a lambda refers to.
  llvm::DenseSet<const clang::DeclRefExpr *> Captured;
  /// Names of variables that a member is taken of.
  llvm::DenseSet<const clang::DeclRefExpr *> LookedAt;
  /// The conditional operator that an expression is an arm of.
  llvm::DenseMap<const clang::Expr *, const clang::Expr *> ArmOf;
  /// Pointers and positions that are assigned after their declaration.
  llvm::DenseSet<const clang::ValueDecl *> Reassigned;
  /// Variables whose address is taken, or that an exception handler names: they
  /// may be read where the graph of the body has no path to.
  llvm::DenseSet<const clang::ValueDecl *> Exposed;
  llvm::DenseMap<const clang::ValueDecl *, llvm::SmallVector<ScalarWrite, 2>>
      Writes;
  /// Variables that a pointer, a reference or a lambda may write to.
  llvm::DenseSet<const clang::ValueDecl *> WrittenElsewhere;
  /// End of the block around a declaration.
  llvm::DenseMap<const clang::Stmt *, clang::SourceLocation> BlockEnd;
  /// `new` and `delete` of objects.
  llvm::SmallVector<const clang::CXXNewExpr *, 2> News;
  bool HasDelete = false;
  bool HasTryOrThrow = false;

  /// Something in the body did not compile.
  bool HasErrors = false;
  /// Functions that the body calls directly, in order, and the destructors of
  /// its variables.
  llvm::SmallVector<const clang::FunctionDecl *, 8> Callees;
};

BodyIndex indexBody(const clang::FunctionDecl *F);

} // namespace tensorscope

#endif // TENSORSCOPE_UTILS_BODYINDEX_H
