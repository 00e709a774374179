// SPDX-License-Identifier: Apache-2.0
//
// How large the memory behind a pointer is, and what it holds, where that is
// known when the code is compiled.
#ifndef TENSORSCOPE_DATAFLOW_BLOBBUFFERS_H
#define TENSORSCOPE_DATAFLOW_BLOBBUFFERS_H

#include "dataflow/BorrowTypes.h"
#include "utils/BodyIndex.h"
#include <optional>
#include <string>

namespace tensorscope {

struct BlobBuffer {
  /// As the user wrote it.
  std::string Name;
  /// What the pointer points to, and the numbers that this is made of; null
  /// where the pointer does not say it.
  clang::QualType Whole;
  clang::QualType Element;
  std::optional<uint64_t> Bytes;
  const clang::Decl *Declared = nullptr;
};

class BlobBuffers {
public:
  BlobBuffers(const clang::FunctionDecl *F, const BodyIndex &Body,
              BorrowTypes &Types, const clang::ASTContext &Ctx)
      : Function(F), Body(Body), Types(Types), Ctx(Ctx) {}

  BlobBuffer find(const clang::Expr *Pointer);
  /// The value of an integer, through variables that are never written again.
  std::optional<uint64_t> constant(const clang::Expr *E, unsigned Depth = 0);
  /// A variable that has its first value for good.
  bool isUnchanged(const clang::VarDecl *V);

private:
  std::optional<uint64_t> bytesAt(const clang::Expr *E, unsigned Depth);
  std::optional<uint64_t> bytesFrom(const clang::ArraySubscriptExpr *E,
                                    unsigned Depth);
  std::optional<uint64_t> bytesFromObject(const clang::Expr *Object,
                                          unsigned Depth);
  std::optional<uint64_t> bytesOfOwner(const clang::Expr *Object);
  std::optional<uint64_t> bytesOf(const clang::Expr *Object);
  std::optional<uint64_t> allocated(const clang::Expr *E, unsigned Depth);
  std::optional<uint64_t> madeUnique(const clang::CallExpr *E);
  std::optional<uint64_t> vectorBytes(const clang::VarDecl *V);
  std::optional<uint64_t> uniqueBytes(const clang::VarDecl *V);
  uint64_t sizeOf(clang::QualType T) const;
  bool keepsSize(const clang::VarDecl *V);

  const clang::FunctionDecl *Function;
  const BodyIndex &Body;
  BorrowTypes &Types;
  const clang::ASTContext &Ctx;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_BLOBBUFFERS_H
