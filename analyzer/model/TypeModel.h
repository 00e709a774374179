// SPDX-License-Identifier: Apache-2.0
//
// Which types carry tensors, and which open scopes. One per translation unit.
#ifndef TENSORSCOPE_MODEL_TYPEMODEL_H
#define TENSORSCOPE_MODEL_TYPEMODEL_H

#include "model/ModelSet.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/DenseMap.h"

namespace tensorscope {

class TypeModel {
public:
  TypeModel(const ModelSet &Models, const clang::SourceManager &SM)
      : Models(Models), SM(SM) {}

  /// The role of a type behind references and raw pointers. A user's class has
  /// the strongest role of its bases and fields; a library's template that of
  /// its arguments; another library class none, unless a model names it.
  TypeRole role(clang::QualType T);
  /// True for what may open a scope and end it later: an `optional` or a
  /// `unique_ptr` of a scope.
  bool mayHoldScope(clang::QualType T);
  /// True for a class that keeps an adoption, which is of its other members.
  bool holdsAdoption(const clang::CXXRecordDecl *RD);

  bool isHandle(clang::QualType T) { return role(T) == TypeRole::Handle; }

  /// True for a handle and for whatever holds one at any depth.
  bool carriesTensors(clang::QualType T) {
    TypeRole R = role(T);
    return R == TypeRole::Handle || R == TypeRole::Carrier ||
           R == TypeRole::Module;
  }

  /// True for a module, a holder or a pointer to one, and for what has nothing
  /// but those in it: a container of them, a pair, a block of layers.
  bool holdsModules(clang::QualType T);

  /// What an object is that a program makes once and keeps: "model",
  /// "optimizer", "data set", "data loader"; behind a holder or a smart
  /// pointer, too. Empty for anything else.
  llvm::StringRef longLived(clang::QualType T);
  /// True for what is long-lived only if a part that it is given is: a list of
  /// layers. Behind a holder or a smart pointer, too.
  bool isMadeOfParts(clang::QualType T);

  /// True where others may look at what an object of that type leads to: a
  /// pointer, a reference, a view or an iterator, and what has one. A handle is
  /// none: the tensor that it is given is its own.
  bool sharesContents(clang::QualType T);
  /// True for a container of such.
  bool sharesElements(clang::QualType T);

private:
  TypeRole recordRole(const clang::CXXRecordDecl *RD);
  TypeRole computeRecordRole(const clang::CXXRecordDecl *RD);
  TypeRole templateArgumentsRole(const clang::CXXRecordDecl *RD);
  bool holdsModules(clang::QualType T, unsigned Depth);
  bool hasAdoptionAsMember(const clang::CXXRecordDecl *RD) const;
  TypeRole membersRole(const clang::CXXRecordDecl *RD);
  bool heldArgumentsShare(const clang::CXXRecordDecl *RD);
  bool argumentsShare(const clang::CXXRecordDecl *RD);
  bool membersShare(const clang::CXXRecordDecl *RD);

  const ModelSet &Models;
  const clang::SourceManager &SM;
  llvm::DenseMap<const clang::CXXRecordDecl *, TypeRole> Cache;
  llvm::DenseMap<const clang::CXXRecordDecl *, bool> Sharing;
  llvm::DenseMap<const clang::CXXRecordDecl *, bool> Adopting;
};

} // namespace tensorscope

#endif // TENSORSCOPE_MODEL_TYPEMODEL_H
