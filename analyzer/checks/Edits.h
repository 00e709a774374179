// SPDX-License-Identifier: Apache-2.0
//
// What fix-its write.
#ifndef TENSORSCOPE_CHECKS_EDITS_H
#define TENSORSCOPE_CHECKS_EDITS_H

#include "dataflow/FlowFinding.h"
#include "clang/AST/Expr.h"

namespace tensorscope {

/// True for LibTorch's tensor, by value or by reference.
bool isTensor(clang::QualType T);

/// Calls the member function \p Call on \p E; none where \p E is no tensor, or
/// in a macro.
std::vector<FlowEdit> callEdit(const clang::Expr *E, llvm::StringRef Call,
                               const clang::ASTContext &Ctx);

/// Makes \p Statement the first one of the block that \p Loop repeats; none
/// where it repeats no block.
std::vector<FlowEdit> firstStatementEdit(const clang::Stmt *Loop,
                                         llvm::StringRef Statement,
                                         const clang::ASTContext &Ctx);

} // namespace tensorscope

#endif // TENSORSCOPE_CHECKS_EDITS_H
