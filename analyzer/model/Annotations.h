// SPDX-License-Identifier: Apache-2.0
//
// What the macros of tensorscope/annotations.h say of a declaration.
#ifndef TENSORSCOPE_MODEL_ANNOTATIONS_H
#define TENSORSCOPE_MODEL_ANNOTATIONS_H

#include "model/FunctionModel.h"
#include "clang/AST/DeclCXX.h"
#include <optional>

namespace tensorscope {

/// Of the function's visible declarations together; nothing where it has no
/// annotation that is understood.
std::optional<FunctionModel> annotationModel(const clang::FunctionDecl *F);

/// An object of the class opens a scope.
bool isAnnotatedScope(const clang::CXXRecordDecl *RD);

} // namespace tensorscope

#endif // TENSORSCOPE_MODEL_ANNOTATIONS_H
