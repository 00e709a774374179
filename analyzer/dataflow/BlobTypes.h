// SPDX-License-Identifier: Apache-2.0
//
// LibTorch's element types, and which of them the options of a call name.
#ifndef TENSORSCOPE_DATAFLOW_BLOBTYPES_H
#define TENSORSCOPE_DATAFLOW_BLOBTYPES_H

#include "dataflow/BlobBuffers.h"

namespace tensorscope {

struct DTypeInfo {
  llvm::StringLiteral Name; ///< in `c10::ScalarType`
  unsigned Bytes;
  char Class; ///< integer, float, half, bfloat, complex
};

/// Null for a type that has none.
const DTypeInfo *dtypeNamed(llvm::StringRef Name);
const DTypeInfo *dtypeWith(char Class, unsigned Bytes);

/// Of a class whose objects are one number each: half, bfloat, complex; else 0.
char numberClass(clang::QualType T);
/// The one kind of numbers that an object of \p T is made of, without a gap;
/// else \p T.
clang::QualType numbersIn(clang::QualType T, const clang::ASTContext &Ctx);

/// A class or an enumeration of that name.
bool isTypeNamed(clang::QualType T, llvm::StringRef Name);

/// What the options of a call say of the type.
struct DTypeChoice {
  const DTypeInfo *Type = nullptr; ///< null where that is not known
  /// None is said.
  bool IsDefault = false;
  /// The constant, if it is written as one.
  const clang::Expr *Written = nullptr;
};

class DTypeReader {
public:
  DTypeReader(BlobBuffers &Buffers, const clang::ASTContext &Ctx)
      : Buffers(Buffers), Ctx(Ctx) {}
  /// \p Options: a `TensorOptions`, a `ScalarType`, or what becomes one.
  DTypeChoice in(const clang::Expr *Options, unsigned Depth = 0);

private:
  DTypeChoice inCall(const clang::CallExpr *Call, unsigned Depth);
  DTypeChoice constant(const clang::Expr *E);

  BlobBuffers &Buffers;
  const clang::ASTContext &Ctx;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_BLOBTYPES_H
