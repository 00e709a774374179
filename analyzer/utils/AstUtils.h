// SPDX-License-Identifier: Apache-2.0
//
// AST helpers that know nothing of tensors: names, libraries, callables,
// expressions without their wrappers.
#ifndef TENSORSCOPE_UTILS_ASTUTILS_H
#define TENSORSCOPE_UTILS_ASTUTILS_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace tensorscope {

/// `ns::Class::name`; inline and unnamed namespaces and template arguments are
/// left out, so `std::__cxx11::list` is `std::list`.
std::string qualifiedName(const clang::NamedDecl *D);

/// True for what the user did not write: system headers, and the namespaces of
/// LibTorch, the standard library and the runtime outside the main file.
bool isLibraryDecl(const clang::Decl *D, const clang::SourceManager &SM);

/// Whether \p D is a namespace of a library, opened in a header: nothing in it
/// is the user's, wherever the header was found.
bool opensLibrary(const clang::Decl *D, const clang::SourceManager &SM);

/// The expression under parentheses, casts that construct nothing, temporaries'
/// materialization and cleanups: what names or makes the value.
const clang::Expr *stripWrappers(const clang::Expr *E);
/// The same for the outermost of them alone, for who stops at other places.
const clang::Expr *stripOneWrapper(const clang::Expr *E);

/// The function a callable argument runs when it is called: a lambda's or a
/// functor's only call operator, or the named function. Null when it is not
/// known from the type alone (`std::function`, function pointers).
const clang::FunctionDecl *resolveCallable(const clang::Expr *E);

/// The call operator of a closure or functor class with exactly one; for a
/// generic lambda its only instantiation. Null otherwise.
const clang::CXXMethodDecl *callOperator(const clang::CXXRecordDecl *RD);

/// \p F or its instantiation pattern's definition with a body, else null.
const clang::FunctionDecl *definitionOf(const clang::FunctionDecl *F);

/// A class of the user's with a member that is a reference or a pointer.
bool mayRefer(clang::QualType T);

/// Whether an override of \p F may run at \p Call, since the class of
/// \p Object is not known.
bool mayRunOverride(const clang::FunctionDecl *F, const clang::Expr *Object,
                    const clang::Expr *Call);

/// The types of the values in a `std::pair` or `std::tuple`; none for another
/// type. References are looked through.
llvm::SmallVector<clang::QualType, 4> tuplePartTypes(clang::QualType T);

/// The member `first` or `second` of a `std::pair`; null for another type.
const clang::FieldDecl *pairField(clang::QualType T, unsigned Number);

/// `ns::f(int, const T &)`, for fingerprints and for messages.
std::string functionSignature(const clang::FunctionDecl *F);

/// Source text of \p E on one line, cut to a readable length.
std::string sourceText(const clang::Expr *E, const clang::ASTContext &Ctx);

} // namespace tensorscope

#endif // TENSORSCOPE_UTILS_ASTUTILS_H
