// SPDX-License-Identifier: Apache-2.0
#include "model/ApiModel.h"

#include "model/Annotations.h"
#include "model/OperatorTable.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

const FunctionModel *ApiModel::find(const FunctionDecl *F) {
  F = F->getCanonicalDecl();
  auto [It, IsNew] = Cache.try_emplace(F, nullptr);
  if (!IsNew)
    return It->second;
  std::string Name = qualifiedName(F);
  const FunctionModel *Model = Models.function(Name, F->getNumParams());
  if (!Model && isLibraryDecl(F, SM)) {
    std::optional<FunctionModel> Operator =
        operatorModel(Name, F->getNumParams());
    Defaults.push_back(std::make_unique<FunctionModel>(
        Operator ? std::move(*Operator) : libraryDefault(F)));
    Model = Defaults.back().get();
  }
  Cache[F] = Model;
  return Model;
}

const FunctionModel *ApiModel::annotated(const FunctionDecl *F) {
  // Most functions have no attribute at all.
  if (!F->getMostRecentDecl()->hasAttrs())
    return nullptr;
  F = F->getCanonicalDecl();
  auto [It, IsNew] = Annotated.try_emplace(F, nullptr);
  if (IsNew)
    if (std::optional<FunctionModel> Said = annotationModel(F)) {
      Defaults.push_back(std::make_unique<FunctionModel>(std::move(*Said)));
      It->second = Defaults.back().get();
    }
  return It->second;
}

const FunctionModel *ApiModel::claim(const FunctionDecl *F) {
  if (isLibraryDecl(F, SM))
    return nullptr;
  const FunctionModel *Row = find(F);
  return Row ? Row : annotated(F);
}

const FunctionModel *ApiModel::find(const FieldDecl *F) const {
  return Models.function(qualifiedName(F), /*Parameters=*/0);
}

GradientRole ApiModel::gradients(const FunctionDecl *F) {
  F = F->getCanonicalDecl();
  auto [It, IsNew] = Roles.try_emplace(F, GradientRole::Other);
  if (!IsNew)
    return It->second;
  std::string Name = qualifiedName(F);
  GradientRole Role = Models.gradients(Name);
  bool IsTorch = llvm::StringRef(Name).starts_with("at::") ||
                 llvm::StringRef(Name).starts_with("torch::");
  if (Role == GradientRole::Other && IsTorch && isLibraryDecl(F, SM))
    Role = GradientRole::Operator;
  return Roles[F] = Role;
}

GradientRole ApiModel::gradients(const CXXRecordDecl *RD) {
  auto [It, IsNew] =
      Roles.try_emplace(RD->getCanonicalDecl(), GradientRole::Other);
  if (IsNew)
    It->second = Models.gradients(qualifiedName(RD));
  return It->second;
}

StreamModel ApiModel::streams(const NamedDecl *D) {
  auto [It, IsNew] = StreamRoles.try_emplace(D->getCanonicalDecl());
  if (IsNew)
    It->second = Models.streams(qualifiedName(D));
  return It->second;
}

FunctionModel ApiModel::libraryDefault(const FunctionDecl *F) {
  FunctionModel Model;
  Model.IsDefault = true;
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  bool HasObject = Method && Method->isInstance();
  std::string Name = qualifiedName(F);
  bool IsStandard = llvm::StringRef(Name).starts_with("std::") ||
                    llvm::StringRef(Name).starts_with("__gnu_cxx::");
  Model.UsesTensors = !IsStandard;
  QualType Result = F->getReturnType();
  if (!Types.carriesTensors(Result))
    return Model;

  Model.ResultArg = HasObject ? ThisArg : 0;
  // What an iterator, a pointer or a proxy gives out was there before, also by
  // value.
  OverloadedOperatorKind Operator = F->getOverloadedOperator();
  bool IsUnary = F->getNumParams() + HasObject == 1;
  bool IsConversion = isa<CXXConversionDecl>(F);
  if (IsConversion || Operator == OO_Arrow ||
      (Operator == OO_Star && IsUnary)) {
    Model.Result = IsConversion ? ResultKind::Alias : ResultKind::Element;
    Model.UsesTensors = false;
    return Model;
  }
  if (IsStandard)
    Model.Result = Result->isReferenceType() || Result->isPointerType()
                       ? ResultKind::Element
                       : ResultKind::Collect;
  else
    Model.Result = Result->isReferenceType() || Result->isPointerType()
                       ? ResultKind::Alias
                       : ResultKind::New;
  return Model;
}

} // namespace tensorscope
