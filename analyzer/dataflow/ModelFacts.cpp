// SPDX-License-Identifier: Apache-2.0
//
// Facts of calls that a model row describes.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

void FactsBuilder::applyModel(const FunctionModel &M, const CallSite &C) {
  if (M.UsesTensors)
    applyUses(C);
  bool RunsArgument = false;
  for (const Effect &E : M.Effects) {
    applyEffect(E, C);
    RunsArgument |=
        E.Kind == EffectKind::RunInScope || E.Kind == EffectKind::RunOnce ||
        E.Kind == EffectKind::RunInLoop || E.Kind == EffectKind::RunInTest;
  }
  if (!RunsArgument)
    for (const Expr *Arg : C.Args)
      forgetCaptures(Arg);
  applyResult(M, C);
  if (C.E->isPRValue())
    forgetMoved(C);
}

void FactsBuilder::useArgument(const Expr *Arg, PlaceID P, const Expr *At) {
  QualType T = Arg->getType().getNonReferenceType();
  if (isHandle(T) || (T->isPointerType() && !carries(T)) ||
      Unit.Types.role(T) == TypeRole::Borrower)
    on(FactKind::Use, P, At);
  else if (carries(T) && !T->isPointerType())
    on(FactKind::UseDeep, P, At);
}

void FactsBuilder::applyUses(const CallSite &C) {
  if (C.Object)
    useArgument(C.Object, C.ObjectPlace, C.E);
  for (const Expr *Arg : C.Args)
    useArgument(Arg, valueOf(Arg), C.E);
}

const FunctionDecl *heldForward(const Expr *Holder) {
  const CXXRecordDecl *RD =
      Holder ? Holder->getType()->getAsCXXRecordDecl() : nullptr;
  while (RD && !isa<ClassTemplateSpecializationDecl>(RD))
    RD = RD->hasDefinition() && RD->getNumBases() == 1
             ? RD->bases_begin()->getType()->getAsCXXRecordDecl()
             : nullptr;
  if (!RD)
    return nullptr;
  const TemplateArgument &Held =
      cast<ClassTemplateSpecializationDecl>(RD)->getTemplateArgs()[0];
  const CXXRecordDecl *Module = Held.getKind() == TemplateArgument::Type
                                    ? Held.getAsType()->getAsCXXRecordDecl()
                                    : nullptr;
  if (!Module || !Module->hasDefinition())
    return nullptr;
  for (const CXXMethodDecl *Method : Module->getDefinition()->methods())
    if (Method->getDeclName().isIdentifier() && Method->getName() == "forward")
      return Method;
  return nullptr;
}

static const Expr *objectArg(const CallSite &C, int Index) {
  if (Index == ThisArg)
    return C.Object;
  return unsigned(Index) < C.Args.size() ? C.Args[Index] : nullptr;
}

void FactsBuilder::applyEffect(const Effect &E, const CallSite &C) {
  PlaceID P = argPlace(C, E.Arg);
  switch (E.Kind) {
  case EffectKind::Retain:
    on(FactKind::Retain, P, C.E);
    break;
  case EffectKind::Adopt:
    if (P != NoPlace)
      Out.Places[P].IsAdopted = true;
    on(FactKind::Retain, P, C.E);
    break;
  case EffectKind::Release:
    on(FactKind::Release, P, C.E);
    noteBranches(C.E);
    break;
  case EffectKind::Keep:
    on(FactKind::Keep, P, C.E);
    break;
  case EffectKind::Insert:
    insertArguments(C, P);
    noteInsertion(C, P);
    break;
  case EffectKind::Clear:
  case EffectKind::Reset:
    clear(FactKind::Null, P, objectArg(C, E.Arg), C.E);
    break;
  case EffectKind::Remove:
    on(FactKind::Remove, P, C.E);
    break;
  case EffectKind::Become:
  case EffectKind::Swap:
  case EffectKind::Exchange:
    exchange(C, E);
    break;
  case EffectKind::Forget:
    clear(FactKind::Forget, P, objectArg(C, E.Arg), C.E);
    break;
  case EffectKind::RunInScope:
    runInScope(C, E);
    break;
  case EffectKind::RunInLoop:
  case EffectKind::RunInTest:
    runInLoop(C, E.Kind == EffectKind::RunInTest);
    break;
  case EffectKind::RunOnce:
    runOnce(C, E);
    break;
  case EffectKind::RunForward:
    if (const FunctionDecl *F = heldForward(C.Object)) {
      emit(FactKind::Call, C.E).Callee = F;
      noteCall(C, F);
    }
    break;
  case EffectKind::BeginSession:
    startSession(C.E, nullptr);
    break;
  case EffectKind::EndSession:
    stopSession(C.E);
    break;
  case EffectKind::CollectGarbage:
    collectGarbage(C);
    break;
  case EffectKind::RunOnThread:
    runOnThread(C.Args);
    noteThread(C);
    break;
  case EffectKind::EndScope:
    endScopeByCall(C, E);
    break;
  case EffectKind::OneElement:
    on(FactKind::OneElement, P, C.E);
    break;
  case EffectKind::Borrow:
  case EffectKind::QueryDefined:
  case EffectKind::QueryAlive:
  case EffectKind::QueryDevice:
  case EffectKind::Write:
    break; // in the result, in AssumptionFacts.cpp, and for who asks the model

  case EffectKind::Acquire:
  case EffectKind::Allocate:
  case EffectKind::GiveBack:
  case EffectKind::Take:
  case EffectKind::Wrap:
    break; // in OwnershipCalls.cpp
  }
}

void FactsBuilder::insertArguments(const CallSite &C, PlaceID Into) {
  for (const Expr *Arg : C.Args) {
    forgetCaptures(Arg);
    if (PlaceID Value = valueOf(Arg))
      if (carries(Arg->getType()))
        assign(C.Object && Into == C.ObjectPlace
                   ? Out.Places.element(Into, isHandle(Arg->getType()))
                   : Into,
               Value, C.E, /*IsWeak=*/true);
  }
}

const Expr *FactsBuilder::callableArg(const CallSite &C, int Index) const {
  if (Index != ThisArg)
    return unsigned(Index) < C.Args.size() ? C.Args[Index] : nullptr;
  for (const Expr *Arg : C.Args)
    if (resolveCallable(Arg))
      return Arg;
  return nullptr;
}

void FactsBuilder::runInScope(const CallSite &C, const Effect &E) {
  const Expr *Body = callableArg(C, E.Arg);
  const FunctionDecl *F = Body ? resolveCallable(Body) : nullptr;
  unsigned Depth = depthAt(C.E->getBeginLoc()) + 1;
  ScopeID Scope =
      beginScope(ScopeForm::Body, C.E, C.E->getEndLoc(), Depth);
  PlaceID Result = NoPlace;
  if (canWalkInPlace(F)) {
    runsInPlace(Body);
    Result = walkInPlace(F, valueOf(Body), {}, C.E, loopOf(C.E),
                         /*ExtraDepth=*/1);
  } else {
    if (Body)
      forgetCaptures(Body);
    if (carries(C.E->getType()) && C.E->isPRValue()) {
      createResult(C, /*IsAssumed=*/true);
      Result = valueOf(C.E);
    }
  }
  endScope(Scope, Result, C.E);
  if (carries(C.E->getType()))
    setValue(C.E, Result);
}

void FactsBuilder::runOnce(const CallSite &C, const Effect &E) {
  const Expr *Body = callableArg(C, E.Arg);
  const FunctionDecl *F = Body ? resolveCallable(Body) : nullptr;
  if (canWalkInPlace(F)) {
    runsInPlace(Body);
    walkInPlace(F, valueOf(Body), {}, C.E, loopOf(C.E));
  } else if (Body) {
    forgetCaptures(Body);
  }
}

void FactsBuilder::runInLoop(const CallSite &C, bool IsInTest) {
  const Expr *Body = callableArg(C, ThisArg);
  const FunctionDecl *F = Body ? resolveCallable(Body) : nullptr;
  if (!canWalkInPlace(F)) {
    for (const Expr *Arg : C.Args)
      forgetCaptures(Arg);
    return;
  }
  runsInPlace(Body);
  LoopInfo Info;
  Info.Loc = C.E->getBeginLoc();
  Info.Outer = loopOf(C.E);
  Info.IsInTest = IsInTest;
  Info.IsSmall = Info.IsOverModules =
      llvm::any_of(C.Args, [&](const Expr *Arg) {
        return Arg != Body && Unit.Types.holdsModules(Arg->getType());
      });
  Out.Loops.push_back(Info);
  LoopID Loop = Out.Loops.size() - 1;

  BlockID Head = newBlock();
  BlockID After = newBlock();
  link(Cur, Head);
  link(Head, After);
  BlockID Start = newBlock();
  link(Head, Start);
  Cur = Start;
  // One parameter takes an element of the range that the first argument is a
  // position in.
  llvm::SmallVector<PlaceID, 1> Args;
  if (F->getNumParams() == 1)
    Args.push_back(argPlace(C, 0));
  PlaceID Result = walkInPlace(F, valueOf(Body), Args, C.E, Loop);
  // What it returns goes to the last range that the call is given.
  if (carries(F->getReturnType()))
    for (const Expr *Arg : llvm::reverse(C.Args))
      if (PlaceID To = valueOf(Arg); To != NoPlace && Arg != Body) {
        assign(To, Result, C.E, /*IsWeak=*/true);
        break;
      }
  emit(FactKind::LoopBack, C.E).Loop = Loop;
  link(Cur, Head);
  Cur = After;
}

void FactsBuilder::borrowResult(const CallSite &C, PlaceID From) {
  if (From == NoPlace)
    return;
  PlaceID Pointer = temporary(C.E);
  assign(Pointer, From, C.E);
  setValue(C.E, Pointer);
}

void FactsBuilder::collectResult(const CallSite &C) {
  PlaceID Result = temporary(C.E);
  setValue(C.E, Result);
  emit(FactKind::Null, C.E).Dst = Result;
  bool HasArgument = false;
  auto Add = [&](const Expr *Arg, PlaceID P) {
    if (!Arg || !carries(Arg->getType()))
      return;
    HasArgument = true;
    assign(Result, P, C.E, /*IsWeak=*/true);
  };
  Add(C.Object, C.ObjectPlace);
  for (const Expr *Arg : C.Args)
    Add(Arg, valueOf(Arg));
  // `make_shared<Net>()` makes a module.
  const TemplateArgumentList *Made = C.Callee->getTemplateSpecializationArgs();
  if (!HasArgument && Made && Made->size() > 0 &&
      Made->get(0).getKind() == TemplateArgument::Type &&
      Unit.Types.role(Made->get(0).getAsType()) == TypeRole::Module)
    createResult(C, /*IsAssumed=*/false);
}

void FactsBuilder::applyResult(const FunctionModel &M, const CallSite &C) {
  PlaceID From = argPlace(C, M.ResultArg);
  bool IsCopy = C.E->isPRValue() && !C.E->getType()->isPointerType();
  bool Borrows = llvm::any_of(M.Effects, [](const Effect &E) {
    return E.Kind == EffectKind::Borrow;
  });
  if (Borrows) {
    borrowResult(C, From);
    return;
  }
  if (M.Result == ResultKind::Call || M.Result == ResultKind::None)
    return;
  if (M.Result == ResultKind::Iterator) {
    if (!C.Object && M.ResultArg == ThisArg)
      From = argPlace(C, 0);
    if (From != NoPlace)
      setValue(C.E, Out.Places[From].Kind == PlaceKind::Element
                        ? From
                        : Out.Places.element(From, false));
    return;
  }
  if (!carries(C.E->getType()))
    return;
  switch (M.Result) {
  case ResultKind::New:
    createResult(C, /*IsAssumed=*/false);
    return;
  case ResultKind::Collect:
    collectResult(C);
    return;
  case ResultKind::MaybeAlias: {
    createResult(C, /*IsAssumed=*/false);
    assign(valueOf(C.E), {valueOf(C.E), From}, C.E);
    return;
  }
  case ResultKind::References:
    collectReferences(C);
    makeTuple(C);
    return;
  case ResultKind::Tuple:
    makeTuple(C);
    return;
  case ResultKind::Element:
    if (PlaceID Part = partNamedBy(C, From))
      From = Part;
    else if (From != NoPlace && Out.Places[From].Kind != PlaceKind::Element)
      From = Out.Places.element(From, isHandle(C.E->getType()));
    break;
  default:
    break;
  }
  if (IsCopy) {
    PlaceID Copy = temporary(C.E);
    assign(Copy, From, C.E);
    setValue(C.E, Copy);
  } else {
    setValue(C.E, From);
  }
}

} // namespace tensorscope
