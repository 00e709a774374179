// SPDX-License-Identifier: Apache-2.0
#include "model/TypeModel.h"

#include "utils/AstUtils.h"
#include "clang/AST/DeclTemplate.h"

using namespace clang;

namespace tensorscope {

TypeRole TypeModel::role(QualType T) {
  if (T.isNull())
    return TypeRole::None;
  T = T.getCanonicalType().getNonReferenceType();
  while (T->isPointerType() || T->isArrayType())
    T = T->isPointerType() ? T->getPointeeType()
                           : QualType(T->getArrayElementTypeNoTypeQual(), 0);
  return recordRole(T->getAsCXXRecordDecl());
}

TypeRole TypeModel::recordRole(const CXXRecordDecl *RD) {
  if (!RD)
    return TypeRole::None;
  RD = RD->getCanonicalDecl();
  // An entry made first answers for a class that contains itself.
  auto [It, IsNew] = Cache.try_emplace(RD, TypeRole::None);
  if (!IsNew)
    return It->second;
  TypeRole Role = computeRecordRole(RD);
  Cache[RD] = Role;
  return Role;
}

TypeRole TypeModel::computeRecordRole(const CXXRecordDecl *RD) {
  if (RD->getIdentifier()) {
    TypeRole Named = Models.type(qualifiedName(RD));
    if (Named != TypeRole::None)
      return Named;
  }
  if (RD->hasDefinition())
    for (const CXXBaseSpecifier &Base : RD->getDefinition()->bases()) {
      TypeRole R = role(Base.getType());
      if (R != TypeRole::None)
        return R;
    }
  if (isLibraryDecl(RD, SM))
    return templateArgumentsRole(RD);
  return membersRole(RD);
}

static TypeRole asContainer(TypeRole R) {
  return R == TypeRole::Handle || R == TypeRole::Module ? TypeRole::Carrier : R;
}

TypeRole TypeModel::templateArgumentsRole(const CXXRecordDecl *RD) {
  const auto *Spec = dyn_cast<ClassTemplateSpecializationDecl>(RD);
  if (!Spec)
    return TypeRole::None;
  auto ArgumentRole = [&](const TemplateArgument &A) {
    TypeRole R = A.getKind() == TemplateArgument::Type ? role(A.getAsType())
                                                       : TypeRole::None;
    // A guard inside `optional` or `unique_ptr` may or may not be open.
    return R == TypeRole::Scope || R == TypeRole::Session ? TypeRole::None
                                                          : asContainer(R);
  };
  for (const TemplateArgument &A : Spec->getTemplateArgs().asArray()) {
    if (A.getKind() == TemplateArgument::Pack) {
      for (const TemplateArgument &P : A.pack_elements())
        if (TypeRole R = ArgumentRole(P); R != TypeRole::None)
          return R;
    } else if (TypeRole R = ArgumentRole(A); R != TypeRole::None) {
      return R;
    }
  }
  return TypeRole::None;
}

TypeRole TypeModel::membersRole(const CXXRecordDecl *RD) {
  if (!RD->hasDefinition())
    return TypeRole::None;
  for (const FieldDecl *Field : RD->getDefinition()->fields()) {
    QualType T = Field->getType();
    // A raw pointer or a reference does not hold a tensor.
    if (T->isPointerType() || T->isReferenceType())
      continue;
    if (TypeRole R = role(T); R != TypeRole::None)
      return asContainer(R);
  }
  return TypeRole::None;
}

} // namespace tensorscope
