// SPDX-License-Identifier: Apache-2.0
//
// Names of declarations that hold in other translation units, and back.
#ifndef TENSORSCOPE_UTILS_DECLNAMES_H
#define TENSORSCOPE_UTILS_DECLNAMES_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include <string>

namespace tensorscope {

/// Clang's unified symbol resolution name; empty if there is none.
std::string usrOf(const clang::Decl *D);

/// The member \p Name of the class \p Class (qualified, without template
/// arguments) whose USR is \p Usr; null where this unit does not see it.
const clang::FieldDecl *findField(clang::ASTContext &Ctx, llvm::StringRef Class,
                                  llvm::StringRef Name, llvm::StringRef Usr);

/// The variable with that qualified name and USR; null as above.
const clang::ValueDecl *findVariable(clang::ASTContext &Ctx,
                                     llvm::StringRef Name, llvm::StringRef Usr);

/// The place \p Line, \p Column of a file, which is read for it; invalid if
/// that is not there.
clang::SourceLocation locationIn(clang::SourceManager &SM, llvm::StringRef File,
                                 unsigned Line, unsigned Column);

} // namespace tensorscope

#endif // TENSORSCOPE_UTILS_DECLNAMES_H
