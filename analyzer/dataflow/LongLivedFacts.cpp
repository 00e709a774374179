// SPDX-License-Identifier: Apache-2.0
//
// Facts of objects that a program makes once: models, optimizers, data sets,
// data loaders.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

static bool isNamed(const FunctionDecl *F,
                    llvm::ArrayRef<llvm::StringRef> Names) {
  return F && F->getDeclName().isIdentifier() &&
         llvm::is_contained(Names, F->getName());
}

/// \p E makes the object, and does not name one that is there.
bool FactsBuilder::makesLongLived(const Expr *E) {
  E = E ? stripWrappers(E) : nullptr;
  if (isa_and_nonnull<CXXNewExpr>(E))
    return true;
  if (const auto *Call = dyn_cast_or_null<CallExpr>(E)) {
    const FunctionDecl *F = Call->getDirectCallee();
    if (!F || !isLibraryDecl(F, Unit.Ctx.getSourceManager()))
      return false;
    if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call))
      return makesLongLived(Member->getImplicitObjectArgument());
    return isNamed(F, {"make_unique", "make_shared", "make_data_loader"}) ||
           qualifiedName(F) == "torch::jit::load";
  }
  const auto *Made = dyn_cast_or_null<CXXConstructExpr>(E);
  if (!Made)
    return false;
  const CXXConstructorDecl *Ctor = Made->getConstructor();
  bool IsPointer = qualifiedName(Ctor->getParent()) == "std::unique_ptr" ||
                   qualifiedName(Ctor->getParent()) == "std::shared_ptr";
  const Expr *First =
      Made->getNumArgs() ? stripWrappers(Made->getArg(0)) : nullptr;
  if (IsPointer || Ctor->isCopyOrMoveConstructor())
    return First && makesLongLived(First);
  // A holder of a module that is there, or of none.
  bool IsHolder = Made->getNumArgs() == 1 &&
                  Unit.Types.role(E->getType()) == TypeRole::Module;
  return !IsHolder || (!isa<CXXNullPtrLiteralExpr>(First) &&
                       (!Unit.Types.holdsModules(First->getType()) ||
                        makesLongLived(First)));
}

/// Somewhere in \p S a module with parameters is named or made, or comes from a
/// function that is not LibTorch's.
bool FactsBuilder::hasLongLivedPart(const Stmt *S) {
  const auto *E = dyn_cast_or_null<Expr>(S);
  if (E && !Unit.Types.longLived(E->getType()).empty()) {
    const auto *Call = dyn_cast<CallExpr>(E);
    const FunctionDecl *By = Call ? Call->getDirectCallee() : nullptr;
    bool IsGiven =
        isa<DeclRefExpr, MemberExpr>(E) ||
        (Call && (!By || !isLibraryDecl(By, Unit.Ctx.getSourceManager())));
    if (IsGiven || !Unit.Types.isMadeOfParts(E->getType()))
      return true;
  }
  return S && llvm::any_of(S->children(), [&](const Stmt *Child) {
           return hasLongLivedPart(Child);
         });
}

void FactsBuilder::noteLongLived(const VarDecl *V, const Stmt *At) {
  if (V->getType()->isReferenceType() || V->isStaticLocal())
    return;
  llvm::StringRef Kind = Unit.Types.longLived(V->getType());
  if (Kind.empty() || !makesLongLived(V->getInit()))
    return;
  LoopID Loop = loopOf(At);
  Out.LongLived[V] = Kind.str();
  Fact &F = emit(FactKind::MakeLongLived, At);
  F.Variable = V;
  F.Loop = Loop;
  F.Value = Unit.Types.isMadeOfParts(V->getType()) &&
            !hasLongLivedPart(V->getInit());
}

/// A call by which the object may live on, or which may work with it for as
/// long as a whole training takes.
bool FactsBuilder::maySettle(const Expr *Given) {
  const auto *Made = dyn_cast<CXXConstructExpr>(Given);
  const auto *Call = dyn_cast<CallExpr>(Given);
  const FunctionDecl *F =
      Made ? Made->getConstructor() : Call->getDirectCallee();
  if (!F)
    return true;
  if (const FunctionModel *M = Unit.Api.find(F))
    return qualifiedName(F) == "std::move" ||
           llvm::any_of(M->Effects, [](const Effect &E) {
             return E.Kind == EffectKind::Insert ||
                    E.Kind == EffectKind::Retain ||
                    E.Kind == EffectKind::Adopt ||
                    E.Kind == EffectKind::Become ||
                    E.Kind == EffectKind::Swap ||
                    E.Kind == EffectKind::Exchange;
           });
  if (Made)
    return !isLibraryDecl(F, Unit.Ctx.getSourceManager());
  const FunctionDecl *Body = definitionOf(F);
  const Summary *S = Body ? Unit.Summaries.summary(Body) : nullptr;
  return S ? S->WorksInLoop : !carries(F->getReturnType());
}

static bool contains(const Stmt *Outer, const Stmt *Inner) {
  return Outer && (Outer == Inner ||
                   llvm::any_of(Outer->children(), [&](const Stmt *Child) {
                     return contains(Child, Inner);
                   }));
}

/// A mention of such an object: to look at it and to call it is to use it.
void FactsBuilder::giveLongLived(const DeclRefExpr *E) {
  const auto *V = dyn_cast<VarDecl>(E->getDecl());
  if (!V || !Out.LongLived.count(V))
    return;
  const Expr *Given = Top->Body->GivenTo.lookup(E);
  const auto *Filled = dyn_cast_or_null<CXXMemberCallExpr>(Given);
  if (Filled && Unit.Types.isMadeOfParts(Filled->getObjectType()) &&
      contains(Filled->getImplicitObjectArgument(), E)) {
    if (llvm::any_of(Filled->arguments(), [&](const Expr *Part) {
          return hasLongLivedPart(Part);
        }))
      emit(FactKind::FillLongLived, E).Variable = V;
    return;
  }
  bool IsLookedAt =
      Top->Body->LookedAt.contains(E) || Top->Body->Captured.contains(E);
  if (Given ? maySettle(Given) : !IsLookedAt)
    emit(FactKind::GiveLongLived, E).Variable = V;
}

} // namespace tensorscope
