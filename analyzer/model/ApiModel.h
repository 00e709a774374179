// SPDX-License-Identifier: Apache-2.0
//
// What a called function does: the model files' row, or the default for a
// library's function. One per translation unit.
#ifndef TENSORSCOPE_MODEL_APIMODEL_H
#define TENSORSCOPE_MODEL_APIMODEL_H

#include "model/TypeModel.h"

namespace tensorscope {

class ApiModel {
public:
  ApiModel(const ModelSet &Models, TypeModel &Types,
           const clang::SourceManager &SM)
      : Models(Models), Types(Types), SM(SM) {}

  /// Null for a user's function without a row: its body or nothing is known.
  const FunctionModel *find(const clang::FunctionDecl *F);
  /// The row of a member that is a pointer to a function, or null.
  const FunctionModel *find(const clang::FieldDecl *F) const;

  /// What annotations say of a function; null where there is none. Of use where
  /// its body is not known.
  const FunctionModel *annotated(const clang::FunctionDecl *F);

  /// What a user says of a function of theirs, to be held against its body;
  /// null where nobody says anything.
  const FunctionModel *claim(const clang::FunctionDecl *F);

  /// What a function is to autograd: a row, or Operator for what LibTorch has
  /// none for; Other for a user's function or the standard library's.
  GradientRole gradients(const clang::FunctionDecl *F);
  GradientRole gradients(const clang::CXXRecordDecl *RD);

  /// What a function or a class is to the streams of a device.
  StreamModel streams(const clang::NamedDecl *D);

private:
  FunctionModel libraryDefault(const clang::FunctionDecl *F);

  const ModelSet &Models;
  TypeModel &Types;
  const clang::SourceManager &SM;
  llvm::DenseMap<const clang::FunctionDecl *, const FunctionModel *> Cache;
  llvm::DenseMap<const clang::FunctionDecl *, const FunctionModel *>
      Annotated;
  llvm::DenseMap<const clang::Decl *, GradientRole> Roles;
  llvm::DenseMap<const clang::Decl *, StreamModel> StreamRoles;
  std::vector<std::unique_ptr<FunctionModel>> Defaults;
};

} // namespace tensorscope

#endif // TENSORSCOPE_MODEL_APIMODEL_H
