// SPDX-License-Identifier: Apache-2.0
#include "model/TypeModel.h"

#include "model/Annotations.h"
#include "utils/AstUtils.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

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
    if (Named == TypeRole::Adoption)
      return TypeRole::None;
    if (Named != TypeRole::None)
      return Named;
  }
  if (RD->hasAttrs() && isAnnotatedScope(RD))
    return TypeRole::Scope;
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

bool TypeModel::mayHoldScope(QualType T) {
  const auto *Spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      T->getAsCXXRecordDecl());
  return Spec && isLibraryDecl(Spec, SM) &&
         llvm::any_of(Spec->getTemplateArgs().asArray(),
                      [&](const TemplateArgument &A) {
                        if (A.getKind() != TemplateArgument::Type)
                          return false;
                        TypeRole R = role(A.getAsType());
                        return R == TypeRole::Scope || R == TypeRole::Session;
                      });
}

bool TypeModel::holdsAdoption(const CXXRecordDecl *RD) {
  if (!RD || !RD->hasDefinition())
    return false;
  auto [Known, IsNew] = Adopting.try_emplace(RD, false);
  if (IsNew)
    Known->second = hasAdoptionAsMember(RD);
  return Known->second;
}

bool TypeModel::hasAdoptionAsMember(const CXXRecordDecl *RD) const {
  return llvm::any_of(RD->fields(), [&](const FieldDecl *Field) {
    const auto *Type = Field->getType()->getAsCXXRecordDecl();
    return Type && Type->getIdentifier() &&
           Models.type(qualifiedName(Type)) == TypeRole::Adoption;
  });
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

bool TypeModel::holdsModules(QualType T) {
  constexpr unsigned MaxDepth = 5;
  return holdsModules(T, MaxDepth);
}

bool TypeModel::holdsModules(QualType T, unsigned Depth) {
  if (T.isNull() || Depth == 0)
    return false;
  T = T.getCanonicalType().getNonReferenceType();
  while (T->isPointerType() || T->isArrayType())
    T = T->isPointerType() ? T->getPointeeType()
                           : QualType(T->getArrayElementTypeNoTypeQual(), 0);
  if (role(T) == TypeRole::Module)
    return true;
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  if (!RD || !RD->hasDefinition() || role(T) == TypeRole::None)
    return false;
  bool HasModules = false, HasOther = false;
  auto Add = [&](QualType Part) {
    bool IsModule = holdsModules(Part, Depth - 1);
    HasModules |= IsModule;
    HasOther |= !IsModule && carriesTensors(Part);
  };
  if (!isLibraryDecl(RD, SM)) {
    for (const FieldDecl *Field : RD->getDefinition()->fields())
      Add(Field->getType());
  } else if (const auto *Spec = dyn_cast<ClassTemplateSpecializationDecl>(RD)) {
    for (const TemplateArgument &A : Spec->getTemplateArgs().asArray())
      if (A.getKind() == TemplateArgument::Type)
        Add(A.getAsType());
      else if (A.getKind() == TemplateArgument::Pack)
        for (const TemplateArgument &P : A.pack_elements())
          if (P.getKind() == TemplateArgument::Type)
            Add(P.getAsType());
  }
  return HasModules && !HasOther;
}

/// What a smart pointer or a module holder owns.
static QualType ownedType(const CXXRecordDecl *RD) {
  const auto *Spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(RD);
  std::string Name = Spec ? qualifiedName(RD) : "";
  bool Owns = Name == "std::unique_ptr" || Name == "std::shared_ptr" ||
              Name == "torch::nn::ModuleHolder";
  if (Owns && Spec &&
      Spec->getTemplateArgs()[0].getKind() == TemplateArgument::Type)
    return Spec->getTemplateArgs()[0].getAsType();
  return QualType();
}

bool TypeModel::isMadeOfParts(QualType T) {
  const CXXRecordDecl *RD =
      T.isNull() ? nullptr : T.getCanonicalType()->getAsCXXRecordDecl();
  if (!RD || !RD->hasDefinition())
    return false;
  if (QualType Owned = ownedType(RD); !Owned.isNull())
    return isMadeOfParts(Owned);
  if (RD->getIdentifier() && Models.longLived(qualifiedName(RD)) == "parts")
    return true;
  // A holder, which adds nothing to what it holds.
  RD = RD->getDefinition();
  return RD->field_empty() && RD->getNumBases() == 1 &&
         !ownedType(RD->bases_begin()->getType()->getAsCXXRecordDecl())
              .isNull() &&
         isMadeOfParts(RD->bases_begin()->getType());
}

llvm::StringRef TypeModel::longLived(QualType T) {
  const CXXRecordDecl *RD =
      T.isNull() ? nullptr : T.getCanonicalType()->getAsCXXRecordDecl();
  if (!RD || !RD->hasDefinition())
    return "";
  if (QualType Owned = ownedType(RD); !Owned.isNull())
    return longLived(Owned);
  llvm::StringRef Named =
      RD->getIdentifier() ? Models.longLived(qualifiedName(RD)) : "";
  if (!Named.empty())
    return Named == "no"      ? ""
           : Named == "parts" ? llvm::StringRef("model")
                              : Named;
  RD = RD->getDefinition();
  for (const CXXBaseSpecifier &Base : RD->bases())
    if (llvm::StringRef Kind = longLived(Base.getType()); !Kind.empty())
      return Kind;
  // Its parameters are members, or layers that are members.
  bool IsModule = role(T) == TypeRole::Module;
  return IsModule && llvm::any_of(RD->fields(),
                                  [&](const FieldDecl *Field) {
                                    return carriesTensors(Field->getType()) ||
                                           !longLived(Field->getType()).empty();
                                  })
             ? "model"
             : "";
}

bool TypeModel::sharesContents(QualType T) {
  T = T.getCanonicalType();
  if (T->isReferenceType() || T->isPointerType())
    return role(T) != TypeRole::None;
  if (T->isArrayType())
    return sharesContents(QualType(T->getArrayElementTypeNoTypeQual(), 0));
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  if (!RD || isHandle(T))
    return false;
  RD = RD->getCanonicalDecl();
  // An entry made first answers for a class that contains itself.
  auto [It, IsNew] = Sharing.try_emplace(RD, false);
  if (!IsNew)
    return It->second;
  bool Shares = isLibraryDecl(RD, SM) ? argumentsShare(RD) : membersShare(RD);
  return Sharing[RD] = Shares;
}

/// Of a library's template that holds its contents itself, how many of its
/// first arguments these are; zero for any other.
static unsigned heldArguments(const CXXRecordDecl *RD) {
  struct Template {
    llvm::StringLiteral Name;
    unsigned Held;
  };
  static constexpr unsigned All = ~0u;
  static constexpr Template Templates[] = {
      {"std::array", 1},
      {"std::deque", 1},
      {"std::forward_list", 1},
      {"std::list", 1},
      {"std::map", 2},
      {"std::multimap", 2},
      {"std::optional", 1},
      {"std::pair", All},
      {"std::priority_queue", 2},
      {"std::queue", 2},
      {"std::set", 1},
      {"std::stack", 2},
      {"std::tuple", All},
      {"std::unordered_map", 2},
      {"std::unordered_multimap", 2},
      {"std::variant", All},
      {"std::vector", 1},
  };
  const std::string Name = qualifiedName(RD);
  const auto *Found = llvm::find_if(
      Templates, [&](const Template &T) { return T.Name == Name; });
  return Found != std::end(Templates) ? Found->Held : 0;
}

bool TypeModel::argumentsShare(const CXXRecordDecl *RD) {
  if (recordRole(RD) == TypeRole::None)
    return false;
  return heldArguments(RD) == 0 || heldArgumentsShare(RD);
}

bool TypeModel::sharesElements(QualType T) {
  T = T.getCanonicalType().getNonReferenceType();
  if (T->isArrayType())
    return sharesContents(QualType(T->getArrayElementTypeNoTypeQual(), 0));
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  return RD && isLibraryDecl(RD, SM) && heldArgumentsShare(RD);
}

bool TypeModel::heldArgumentsShare(const CXXRecordDecl *RD) {
  const auto *Spec = dyn_cast<ClassTemplateSpecializationDecl>(RD);
  unsigned Held = Spec ? heldArguments(RD) : 0;
  if (Held == 0)
    return false;
  auto Shares = [&](const TemplateArgument &A) {
    return A.getKind() == TemplateArgument::Type &&
           sharesContents(A.getAsType());
  };
  return llvm::any_of(
      Spec->getTemplateArgs().asArray().take_front(Held),
      [&](const TemplateArgument &A) {
        return A.getKind() == TemplateArgument::Pack
                   ? llvm::any_of(A.pack_elements(), Shares)
                   : Shares(A);
      });
}

bool TypeModel::membersShare(const CXXRecordDecl *RD) {
  if (!RD->hasDefinition())
    return false;
  RD = RD->getDefinition();
  return llvm::any_of(RD->fields(),
                      [&](const FieldDecl *Field) {
                        return sharesContents(Field->getType());
                      }) ||
         llvm::any_of(RD->bases(), [&](const CXXBaseSpecifier &Base) {
           return sharesContents(Base.getType());
         });
}

} // namespace tensorscope
