// SPDX-License-Identifier: Apache-2.0
#include "dataflow/BorrowTypes.h"

#include "utils/AstUtils.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

MemoryRole BorrowTypes::role(QualType T) {
  if (T.isNull())
    return MemoryRole::None;
  T = T.getNonReferenceType();
  if (T->isConstantArrayType() || T->isVariableArrayType())
    return MemoryRole::Inline;
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  if (!RD)
    return MemoryRole::None;
  auto [It, IsNew] = Roles.try_emplace(RD, MemoryRole::None);
  if (!IsNew)
    return It->second;
  MemoryRole Role = Models.memoryRole(qualifiedName(RD));
  if (Role == MemoryRole::None && RD->hasDefinition())
    for (const CXXBaseSpecifier &Base : RD->getDefinition()->bases())
      if (Role == MemoryRole::None)
        Role = role(Base.getType());
  return Roles[RD] = Role;
}

bool BorrowTypes::isArrayRef(QualType T) {
  if (T.isNull())
    return false;
  const CXXRecordDecl *RD = T.getNonReferenceType()->getAsCXXRecordDecl();
  if (!RD || role(T) != MemoryRole::View)
    return false;
  llvm::StringRef Name = RD->getName();
  return Name == "ArrayRef" || Name == "OptionalArrayRef" ||
         Name == "HeaderOnlyArrayRef";
}

bool BorrowTypes::mayBorrow(QualType T) {
  if (T.isNull())
    return false;
  T = T.getNonReferenceType();
  if (T->isPointerType())
    return !T->isFunctionPointerType();
  if (const Type *Element = T->getArrayElementTypeNoTypeQual())
    return mayBorrow(QualType(Element, 0));
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  if (!RD)
    return false;
  auto [It, IsNew] = Borrowing.try_emplace(RD, false);
  if (!IsNew)
    return It->second;
  bool May = recordMayBorrow(RD, T);
  return Borrowing[RD] = May;
}

bool BorrowTypes::recordMayBorrow(const CXXRecordDecl *RD, QualType T) {
  MemoryRole Role = role(T);
  if (Role == MemoryRole::View || Role == MemoryRole::Shared ||
      Types.carriesTensors(T))
    return true;
  if (RD->isLambda())
    return true;
  auto MayArgument = [&](const TemplateArgument &A) {
    return A.getKind() == TemplateArgument::Type && mayBorrow(A.getAsType());
  };
  const auto *Spec = dyn_cast<ClassTemplateSpecializationDecl>(RD);
  if (isLibraryDecl(RD, RD->getASTContext().getSourceManager())) {
    if (!Spec)
      return false;
    for (const TemplateArgument &A : Spec->getTemplateArgs().asArray())
      if (A.getKind() == TemplateArgument::Pack
              ? llvm::any_of(A.pack_elements(), MayArgument)
              : MayArgument(A))
        return true;
    return false;
  }
  if (!RD->hasDefinition())
    return false;
  RD = RD->getDefinition();
  return llvm::any_of(RD->fields(),
                      [&](const FieldDecl *F) {
                        return F->getType()->isReferenceType() ||
                               mayBorrow(F->getType());
                      }) ||
         llvm::any_of(RD->bases(), [&](const CXXBaseSpecifier &Base) {
           return mayBorrow(Base.getType());
         });
}

bool BorrowTypes::mayKeepView(QualType T) {
  if (T.isNull())
    return true;
  T = T.getNonReferenceType();
  if (const Type *Element = T->getArrayElementTypeNoTypeQual())
    return mayKeepView(QualType(Element, 0));
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  if (!RD)
    return mayBorrow(T);
  MemoryRole Role = role(T);
  if (Role == MemoryRole::View || RD->isLambda())
    return true;
  if (Role == MemoryRole::Shared)
    return false;
  if (!isLibraryDecl(RD, RD->getASTContext().getSourceManager()))
    return mayBorrow(T);
  auto MayArgument = [&](const TemplateArgument &A) {
    return A.getKind() == TemplateArgument::Type && mayKeepView(A.getAsType());
  };
  const auto *Spec = dyn_cast<ClassTemplateSpecializationDecl>(RD);
  return Spec && llvm::any_of(Spec->getTemplateArgs().asArray(),
                              [&](const TemplateArgument &A) {
                                return A.getKind() == TemplateArgument::Pack
                                           ? llvm::any_of(A.pack_elements(),
                                                          MayArgument)
                                           : MayArgument(A);
                              });
}

const MemoryModel *BorrowTypes::memory(const FunctionDecl *F) {
  F = F->getCanonicalDecl();
  auto [It, IsNew] = Functions.try_emplace(F, nullptr);
  if (IsNew)
    It->second = Models.memory(qualifiedName(F));
  return It->second;
}

} // namespace tensorscope
