// SPDX-License-Identifier: Apache-2.0
//
// Facts of constructions.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

void FactsBuilder::VisitCXXConstructExpr(const CXXConstructExpr *E) {
  CallSite C;
  C.E = E;
  C.Callee = E->getConstructor();
  C.Args.assign(E->arg_begin(), E->arg_end());
  noteReferences(E, C.Args);
  if (!carries(E->getType())) {
    forgetGuards(C, /*MayEnd=*/false);
    for (const Expr *Arg : C.Args)
      giveToUnknown(Arg, QualType(C.Callee->getType()), E);
    constructPlain(C);
    return;
  }
  if (visitSpecialConstruction(C, E->getConstructor()))
    return;
  C.ObjectPlace = temporary(E);
  setValue(E, C.ObjectPlace);
  emit(FactKind::Null, E).Dst = C.ObjectPlace;
  if (isLibraryDecl(C.Callee, Unit.Ctx.getSourceManager())) {
    if (!fillTuple(C, C.ObjectPlace))
      insertArguments(C, C.ObjectPlace);
    return;
  }
  const FunctionDecl *Body = definitionOf(C.Callee);
  const Summary *S = Body ? Unit.Summaries.summary(Body)
                          : Unit.Summaries.elsewhere(C.Callee);
  if (!S && !Body && !C.Callee->isImplicit() && !FollowsStreams)
    Unit.Summaries.noteUnknown(C.Callee, passesTensors(C) ? E : nullptr);
  if (S)
    applySummary(*S, C);
  else if (!C.Callee->isImplicit() && !C.Callee->isDefaulted()) {
    forgetGuards(C, /*MayEnd=*/false);
    for (unsigned I = 0; I < C.Args.size(); ++I)
      giveToUnknown(
          C.Args[I],
          C.Callee->getParamDecl(std::min(I, C.Callee->getNumParams() - 1))
              ->getType(),
          E);
    emit(FactKind::Forget, E).Dst = C.ObjectPlace;
  }
}

/// An object that carries no tensor: a thread, or a guard of the user's.
void FactsBuilder::constructPlain(const CallSite &C) {
  const FunctionModel *M = isLibraryDecl(C.Callee, Unit.Ctx.getSourceManager())
                               ? Unit.Api.find(C.Callee)
                               : nullptr;
  for (const Effect &E :
       M ? llvm::ArrayRef<Effect>(M->Effects) : llvm::ArrayRef<Effect>())
    if (E.Kind == EffectKind::RunOnThread) {
      runOnThread(C.Args);
      noteThread(C);
    }
  const FunctionDecl *Body = definitionOf(C.Callee);
  if (isLibraryDecl(Body ? Body : C.Callee, Unit.Ctx.getSourceManager()))
    return;
  if (const Summary *S = Body ? Unit.Summaries.summary(Body)
                              : Unit.Summaries.elsewhere(C.Callee))
    applySessions(*S, C, C.E);
  else if (!Body && !C.Callee->isImplicit() && !FollowsStreams)
    Unit.Summaries.noteUnknown(C.Callee, passesTensors(C) ? C.E : nullptr);
}

bool FactsBuilder::visitSpecialConstruction(const CallSite &C,
                                            const CXXConstructorDecl *Ctor) {
  if (Ctor->isCopyOrMoveConstructor() && !C.Args.empty()) {
    PlaceID Temp = temporary(C.E);
    assign(Temp, valueOf(C.Args[0]), C.E);
    leaveMoved(C.Args[0], Ctor, C.E);
    setValue(C.E, Temp);
    return true;
  }
  if (Unit.Types.role(C.E->getType()) != TypeRole::Module)
    return false;
  constructModule(C);
  return true;
}

/// A module makes its parameters when it is constructed; a holder may also be
/// empty or take a module that is there.
void FactsBuilder::constructModule(const CallSite &C) {
  bool TakesTensors = llvm::any_of(
      C.Args, [&](const Expr *Arg) { return carries(Arg->getType()); });
  bool IsEmpty = C.Args.size() == 1 &&
                 isa<CXXNullPtrLiteralExpr>(stripWrappers(C.Args[0]));
  bool IsLibrary = isLibraryDecl(C.Callee, Unit.Ctx.getSourceManager());
  if (TakesTensors || IsEmpty || (IsLibrary && C.Args.empty())) {
    PlaceID Temp = temporary(C.E);
    setValue(C.E, Temp);
    emit(FactKind::Null, C.E).Dst = Temp;
    insertArguments(C, Temp);
  } else {
    createResult(C, /*IsAssumed=*/false);
  }
}

} // namespace tensorscope
