// SPDX-License-Identifier: Apache-2.0
#include "dataflow/ModuleParameters.h"

#include "utils/AstUtils.h"
#include "clang/AST/DeclTemplate.h"

using namespace clang;

namespace tensorscope {

/// Modules in containers in modules: what lies deeper is not looked at.
static constexpr unsigned MaxDepth = 8;

bool ModuleParameters::isModule(const CXXRecordDecl *RD) const {
  if (!RD || !RD->hasDefinition())
    return false;
  if (qualifiedName(RD) == "torch::nn::Module")
    return true;
  return llvm::any_of(RD->getDefinition()->bases(),
                      [&](const CXXBaseSpecifier &Base) {
                        return isModule(Base.getType()->getAsCXXRecordDecl());
                      });
}

bool ModuleParameters::has(QualType T, unsigned Depth) {
  if (T.isNull() || Depth > MaxDepth)
    return false;
  T = T.getCanonicalType().getNonReferenceType();
  while (T->isPointerType() || T->isArrayType())
    T = T->isPointerType() ? T->getPointeeType()
                           : QualType(T->getArrayElementTypeNoTypeQual(), 0);
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  if (!RD)
    return false;
  RD = RD->getCanonicalDecl();
  // A class that is asked about while it is looked at adds nothing.
  auto [It, IsNew] = Cache.try_emplace(RD, false);
  if (!IsNew)
    return It->second;
  bool Has = recordHas(RD, Depth);
  return Cache[RD] = Has;
}

bool ModuleParameters::recordHas(const CXXRecordDecl *RD, unsigned Depth) {
  if (Api.gradients(RD) == GradientRole::Parameters)
    return true;
  if (const auto *Spec = dyn_cast<ClassTemplateSpecializationDecl>(RD))
    for (const TemplateArgument &A : Spec->getTemplateArgs().asArray())
      if (A.getKind() == TemplateArgument::Type && has(A.getAsType(), Depth + 1))
        return true;
  RD = RD->getDefinition();
  if (!RD)
    return false;
  for (const CXXBaseSpecifier &Base : RD->bases())
    if (has(Base.getType(), Depth + 1))
      return true;
  if (isLibraryDecl(RD, SM))
    return false;
  for (const FieldDecl *Field : RD->fields())
    if (has(Field->getType(), Depth + 1))
      return true;
  if (!isModule(RD))
    return false;
  bool HidesConstructor =
      llvm::any_of(RD->ctors(), [](const CXXConstructorDecl *Ctor) {
        return Ctor->isUserProvided() && !definitionOf(Ctor);
      });
  return HidesConstructor || registered(RD).Any;
}

/// The call of register_parameter beneath \p S, if it is one.
static const Expr *registration(const Stmt *S) {
  const auto *E = dyn_cast_or_null<Expr>(S);
  const auto *Call = E ? dyn_cast<CallExpr>(stripWrappers(E)) : nullptr;
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  bool Is = F && F->getDeclName().isIdentifier() &&
            F->getName() == "register_parameter";
  return Is ? Call : nullptr;
}

const ModuleParameters::Registered &
ModuleParameters::registered(const CXXRecordDecl *RD) {
  std::unique_ptr<Registered> &Found = Registrations[RD];
  if (Found)
    return *Found;
  Found = std::make_unique<Registered>();
  llvm::SmallVector<const Stmt *, 32> Todo;
  for (const CXXMethodDecl *Method : RD->methods()) {
    const FunctionDecl *Body = definitionOf(Method);
    if (!Body)
      continue;
    Todo.push_back(Body->getBody());
    const auto *Ctor = dyn_cast<CXXConstructorDecl>(Body);
    for (const CXXCtorInitializer *Init :
         Ctor ? Ctor->inits() : CXXConstructorDecl::init_const_range(nullptr, nullptr)) {
      Todo.push_back(Init->getInit());
      if (Init->getMember() && registration(Init->getInit()))
        Found->Parameters.insert(Init->getMember());
    }
  }
  while (!Todo.empty()) {
    const Stmt *S = Todo.pop_back_val();
    if (!S)
      continue;
    Found->Any |= registration(S) != nullptr;
    const auto *Assignment = dyn_cast<CXXOperatorCallExpr>(S);
    if (Assignment && Assignment->getOperator() == OO_Equal &&
        registration(Assignment->getArg(1)))
      if (const auto *Member = dyn_cast<MemberExpr>(
              stripWrappers(Assignment->getArg(0))))
        if (const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl()))
          Found->Parameters.insert(Field);
    Todo.append(S->child_begin(), S->child_end());
  }
  return *Found;
}

bool ModuleParameters::isParameter(const FieldDecl *F) {
  const auto *RD = dyn_cast<CXXRecordDecl>(F->getParent());
  if (!RD || !isModule(RD))
    return false;
  if (!isLibraryDecl(RD, SM))
    return registered(RD->getDefinition()).Parameters.contains(F);
  // `weight`, `bias`, `weight_ih` and their kind.
  return Api.gradients(RD->getCanonicalDecl()) == GradientRole::Parameters &&
         (F->getName().starts_with("weight") || F->getName().starts_with("bias"));
}

} // namespace tensorscope
