// SPDX-License-Identifier: Apache-2.0
//
// Facts of values that change places, moved, swapped or exchanged, and of
// objects that refer to them.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

/// A handle or a container that was moved from is empty; what a class of the
/// user's leaves behind is its own affair.
void FactsBuilder::leaveMoved(const Expr *Source, const CXXMethodDecl *By,
                              const Stmt *At) {
  const auto *Ctor = dyn_cast<CXXConstructorDecl>(By);
  bool IsMove = Ctor ? Ctor->isMoveConstructor() : By->isMoveAssignmentOperator();
  PlaceID P = valueOf(Source);
  if (!IsMove || !Source->isXValue() || P == NoPlace ||
      Out.Places.isElementPath(P))
    return;
  bool IsOwnAffair = By->isUserProvided() &&
                     !isLibraryDecl(By, Unit.Ctx.getSourceManager());
  emit(IsOwnAffair ? FactKind::Forget : FactKind::Null, At).Dst = P;
}

/// What is given as `T &&` may be empty afterwards.
void FactsBuilder::forgetMoved(const CallSite &C) {
  unsigned Count = std::min<unsigned>(C.Args.size(), C.Callee->getNumParams());
  for (unsigned I = 0; I < Count; ++I) {
    PlaceID P = argPlace(C, I);
    if (C.Args[I]->isXValue() && P != NoPlace && carries(C.Args[I]->getType()) &&
        C.Callee->getParamDecl(I)->getType()->isRValueReferenceType() &&
        !Out.Places.isElementPath(P))
      emit(FactKind::Forget, C.E).Dst = P;
  }
}

/// Values that change places; one that is not known leaves the other unknown.
void FactsBuilder::exchange(const CallSite &C, const Effect &E) {
  PlaceID P = argPlace(C, E.Arg);
  PlaceID Next = argPlace(C, E.Arg + 1);
  auto Give = [&](PlaceID To, PlaceID From, const Expr *Written) {
    if (From != NoPlace && To != NoPlace) {
      assign(To, From, C.E, /*IsWeak=*/false, writesThrough(To, Written));
    } else {
      clear(FactKind::Forget, To, Written, C.E);
    }
  };
  bool IsGiven = unsigned(E.Arg + 1) < C.Args.size();
  const Expr *Given = IsGiven ? stripWrappers(C.Args[E.Arg + 1]) : nullptr;
  const Expr *Object = E.Arg == ThisArg               ? C.Object
                       : unsigned(E.Arg) < C.Args.size() ? C.Args[E.Arg]
                                                         : nullptr;
  if (E.Kind == EffectKind::Become && P != NoPlace &&
      (!Given || isa<CXXDefaultArgExpr, CXXNullPtrLiteralExpr>(Given))) {
    clear(FactKind::Null, P, Object, C.E);
    return;
  }
  PlaceID Old = NoPlace;
  if (P != NoPlace && E.Kind != EffectKind::Become) {
    Old = temporary(C.E);
    assign(Old, P, C.E);
  }
  Give(P, Next, Object);
  if (E.Kind == EffectKind::Swap)
    Give(Next, Old, Given);
  else if (E.Kind == EffectKind::Exchange && Old != NoPlace)
    setValue(C.E, Old);
}

/// An object that refers to a variable may look at it whenever it is used.
void FactsBuilder::noteReferences(const Expr *Object,
                                  llvm::ArrayRef<const Expr *> Given) {
  if (!mayRefer(Object->getType()))
    return;
  for (const Expr *E : Given)
    if (PlaceID P = E->isLValue() ? valueOf(E) : NoPlace) {
      Fact &F = emit(FactKind::Read, Object);
      F.Src = Out.Places.root(P);
      F.Value = true;
    }
}

} // namespace tensorscope
