// SPDX-License-Identifier: Apache-2.0
//
// Which types own memory, and which may point into memory of others. One per
// translation unit.
#ifndef TENSORSCOPE_DATAFLOW_BORROWTYPES_H
#define TENSORSCOPE_DATAFLOW_BORROWTYPES_H

#include "model/ModelSet.h"
#include "model/TypeModel.h"

namespace tensorscope {

class BorrowTypes {
public:
  BorrowTypes(const ModelSet &Models, TypeModel &Types)
      : Models(Models), Types(Types) {}

  /// The role of a class, or of the base that has one; references are looked
  /// through, pointers are not.
  MemoryRole role(clang::QualType T);
  /// True for what may point into memory that it does not own, or share it: a
  /// pointer, a tensor, a view, and what has one of them in it.
  bool mayBorrow(clang::QualType T);
  /// True for what may keep a pointer or a view that it is made of: those, and
  /// what has one of them in it. What a library makes of array references keeps
  /// none, unless its type says so.
  bool mayKeepView(clang::QualType T);
  /// An array reference of LibTorch's.
  bool isArrayRef(clang::QualType T);

  const MemoryModel *memory(const clang::FunctionDecl *F);

private:
  bool recordMayBorrow(const clang::CXXRecordDecl *RD, clang::QualType T);

  const ModelSet &Models;
  TypeModel &Types;
  llvm::DenseMap<const clang::CXXRecordDecl *, MemoryRole> Roles;
  llvm::DenseMap<const clang::CXXRecordDecl *, bool> Borrowing;
  llvm::DenseMap<const clang::FunctionDecl *, const MemoryModel *> Functions;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_BORROWTYPES_H
