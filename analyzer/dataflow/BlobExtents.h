// SPDX-License-Identifier: Apache-2.0
//
// Tensors over memory that is too small for them, or that holds values of
// another type.
#ifndef TENSORSCOPE_DATAFLOW_BLOBEXTENTS_H
#define TENSORSCOPE_DATAFLOW_BLOBEXTENTS_H

#include "dataflow/BorrowTypes.h"
#include "utils/BodyIndex.h"
#include "clang/AST/Expr.h"
#include <string>

namespace tensorscope {

struct BlobExtentFinding {
  const clang::Expr *Call = nullptr;
  /// The memory, as the user wrote it.
  std::string Buffer;
  /// `float`, and LibTorch's word for the type that the tensor is given.
  std::string ElementType;
  std::string DType;
  /// The word for the type that the memory holds; empty if there is none.
  std::string RightDType;
  /// No type was written.
  bool IsDefault = false;
  /// Bytes; both 0 where only the types differ.
  uint64_t BufferBytes = 0;
  uint64_t TensorBytes = 0;
  /// Where the type is written, or the end of the last argument.
  clang::CharSourceRange DTypeRange;
  const clang::Decl *Declared = nullptr;
};

/// Looks at each call in \p F that makes a tensor over memory; what is not
/// known when the code is compiled is left alone. Nor is the type of tensors
/// that say none, unless \p IsDefaultKnown.
void findBlobExtents(const clang::FunctionDecl *F, const BodyIndex &Body,
                     BorrowTypes &Types, const clang::ASTContext &Ctx,
                     bool IsDefaultKnown,
                     std::vector<BlobExtentFinding> &Findings);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_BLOBEXTENTS_H
