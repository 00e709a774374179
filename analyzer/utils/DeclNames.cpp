// SPDX-License-Identifier: Apache-2.0
#include "utils/DeclNames.h"

#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Index/USRGeneration.h"

using namespace clang;

namespace tensorscope {

std::string usrOf(const Decl *D) {
  llvm::SmallString<128> Usr;
  // True: it has none.
  if (index::generateUSRForDecl(D, Usr))
    return "";
  return Usr.str().str();
}

/// Calls \p Visit for each declaration with a qualified name, specializations
/// of a class template each for itself, until it says to stop.
static bool forEachNamed(ASTContext &Ctx, const DeclContext *In,
                         llvm::StringRef Name,
                         llvm::function_ref<bool(const NamedDecl *)> Visit) {
  auto [First, Rest] = Name.split("::");
  auto GoOn = [&](const NamedDecl *D) {
    if (Rest.empty())
      return Visit(D);
    const auto *Inner = dyn_cast<DeclContext>(D);
    return Inner && forEachNamed(Ctx, Inner, Rest, Visit);
  };
  for (const NamedDecl *D : In->lookup(&Ctx.Idents.get(First))) {
    if (const auto *Template = dyn_cast<ClassTemplateDecl>(D)) {
      for (const ClassTemplateSpecializationDecl *Spec :
           Template->specializations())
        if (GoOn(Spec))
          return true;
    } else if (GoOn(D)) {
      return true;
    }
  }
  return false;
}

const FieldDecl *findField(ASTContext &Ctx, llvm::StringRef Class,
                           llvm::StringRef Name, llvm::StringRef Usr) {
  const FieldDecl *Found = nullptr;
  forEachNamed(Ctx, Ctx.getTranslationUnitDecl(), Class,
               [&](const NamedDecl *D) {
                 const auto *RD = dyn_cast<CXXRecordDecl>(D);
                 if (!RD || !RD->hasDefinition())
                   return false;
                 for (const FieldDecl *Field : RD->getDefinition()->fields())
                   if (Field->getName() == Name && usrOf(Field) == Usr)
                     Found = Field;
                 return Found != nullptr;
               });
  return Found;
}

const ValueDecl *findVariable(ASTContext &Ctx, llvm::StringRef Name,
                              llvm::StringRef Usr) {
  const ValueDecl *Found = nullptr;
  forEachNamed(Ctx, Ctx.getTranslationUnitDecl(), Name,
               [&](const NamedDecl *D) {
                 const auto *V = dyn_cast<VarDecl>(D);
                 if (V && usrOf(V) == Usr)
                   Found = V->getCanonicalDecl();
                 return Found != nullptr;
               });
  return Found;
}

SourceLocation locationIn(SourceManager &SM, llvm::StringRef File,
                          unsigned Line, unsigned Column) {
  auto Entry = SM.getFileManager().getOptionalFileRef(File);
  if (!Entry)
    return SourceLocation();
  FileID ID = SM.getOrCreateFileID(*Entry, SrcMgr::C_User);
  return ID.isValid() ? SM.translateLineCol(ID, Line, Column)
                      : SourceLocation();
}

} // namespace tensorscope
