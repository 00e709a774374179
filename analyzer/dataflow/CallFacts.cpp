// SPDX-License-Identifier: Apache-2.0
//
// Facts of calls and constructions: which of model, body and summary answers,
// and what each says.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

void FactsBuilder::VisitCallExpr(const CallExpr *E) {
  CallSite C;
  C.E = E;
  C.Callee = E->getDirectCallee();
  C.Args.assign(E->arg_begin(), E->arg_end());
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(E)) {
    C.Object = Member->getImplicitObjectArgument();
  } else if (isa<CXXOperatorCallExpr>(E) && C.Callee &&
             isa<CXXMethodDecl>(C.Callee) &&
             cast<CXXMethodDecl>(C.Callee)->isInstance()) {
    C.Object = C.Args.front();
    C.Args.erase(C.Args.begin());
  }
  C.ObjectPlace = valueOf(C.Object);
  visitCall(C);
}

PlaceID FactsBuilder::argPlace(const CallSite &C, int Index) const {
  if (Index == ThisArg)
    return C.ObjectPlace;
  return unsigned(Index) < C.Args.size() ? valueOf(C.Args[Index]) : NoPlace;
}

void FactsBuilder::visitCall(const CallSite &C) {
  if (!C.Callee) {
    walkForStreams(C, nullptr);
    applyUnknown(C);
    return;
  }
  dropWrittenGuards(C);
  const auto *Changed = dyn_cast<CXXMethodDecl>(C.Callee);
  if (C.Object && Changed && !Changed->isConst())
    noteWrite(C.Object, C.E);
  if (C.Object && C.Callee->getOverloadedOperator() == OO_Equal &&
      carries(C.Object->getType())) {
    visitHandleAssignment(C);
    noteElementStore(C);
    noteElementWrite(C);
    // What is assigned on, as in `a = b = value`, is looked at.
    if (C.ObjectPlace != NoPlace && !Top->Body->Discarded.contains(C.E))
      on(FactKind::Read, Out.Places.root(C.ObjectPlace), C.E);
    return;
  }
  const auto *Method = dyn_cast<CXXMethodDecl>(C.Callee);
  if (Method && Method->getParent()->isLambda()) {
    if (canWalkInPlace(C.Callee)) {
      runsInPlace(C.Object);
      giveStreams(C);
      walkCallee(C);
    } else {
      walkForStreams(C, nullptr);
      applyUnknown(C);
    }
    return;
  }
  if (const FunctionModel *M = Unit.Api.find(C.Callee)) {
    applyModel(*M, C);
    noteGradients(C, *M);
    noteStreams(C, *M);
  } else {
    visitUserCall(C);
  }
}

static bool opensScope(const FunctionModel &M) {
  return llvm::any_of(M.Effects, [](const Effect &E) {
    return E.Kind == EffectKind::RunInScope;
  });
}

void FactsBuilder::visitUserCall(const CallSite &C) {
  LoopID Loop = loopOf(C.E);
  size_t CallIndex = Out.Blocks[Cur].Facts.size();
  Fact &Call = emit(FactKind::Call, C.E);
  Call.Callee = C.Callee;
  Call.Loop = Loop;
  noteCall(C, C.Callee);
  if (Unit.Api.gradients(C.Callee) == GradientRole::Thread)
    noteThread(C);
  bool IsKnown = !mayRunOverride(C.Callee, C.Object, C.E);
  const FunctionDecl *Body = IsKnown ? definitionOf(C.Callee) : nullptr;
  const FunctionModel *Said = Unit.Api.annotated(C.Callee);
  if (Said && opensScope(*Said))
    return applyModel(*Said, C);
  if (Body && isGivenCallable(C) && canWalkInPlace(Body)) {
    giveStreams(C);
    walkCallee(C);
    return;
  }
  if (walkForStreams(C, Body))
    return;
  if (Body)
    if (const Summary *S = Unit.Summaries.summary(Body)) {
      Out.Blocks[Cur].Facts[CallIndex].Value = S->WorksInLoop;
      applySummary(*S, C);
      return;
    }
  if (!Said && !Body && IsKnown) {
    if (const Summary *S = Unit.Summaries.elsewhere(C.Callee)) {
      Out.Blocks[Cur].Facts.back().Value = S->WorksInLoop;
      applySummary(*S, C);
      return;
    }
    if (passesTensors(C) && !FollowsStreams) // it was noted once
      Unit.Summaries.noteUnknown(C.Callee, C.E);
  }
  applyUnknown(C, Said);
}

bool FactsBuilder::passesTensors(const CallSite &C) {
  auto Carries = [&](const Expr *E) { return E && carries(E->getType()); };
  return Carries(C.Object) || llvm::any_of(C.Args, Carries);
}

/// `handle = value` binds the handle anew; on a temporary or a moved handle it
/// copies into the tensor, as LibTorch's ref-qualified operators do.
void FactsBuilder::visitHandleAssignment(const CallSite &C) {
  if (assignReferences(C))
    return;
  PlaceID Value = argPlace(C, 0);
  setValue(C.E, C.ObjectPlace);
  if (isHandle(C.Object->getType()) && !C.Object->isLValue()) {
    on(FactKind::Use, C.ObjectPlace, C.E);
    on(FactKind::Use, Value, C.E);
    takeInMoved(C, Value);
    return;
  }
  bool IsReferred = C.ObjectPlace != NoPlace &&
                    Out.Places[C.ObjectPlace].Kind == PlaceKind::Temporary;
  if (C.ObjectPlace == NoPlace || IsReferred) {
    // Through a reference to something unknown.
    on(FactKind::Keep, Value, C.E);
    clear(FactKind::Forget, C.ObjectPlace, nullptr, C.E);
  } else if (Value == C.ObjectPlace) {
    // Nothing changes.
  } else if (Value != NoPlace &&
             pairField(C.Object->getType(), 0) !=
                 pairField(C.Args[0]->getType(), 0)) {
    // Pairs of other types, and a pair that is put in a tuple.
    assignTuple(C.ObjectPlace, C.Object->getType(), Value,
                C.Args[0]->getType(), C.E);
  } else if (Value != NoPlace) {
    assign(C.ObjectPlace, Value, C.E, /*IsWeak=*/false,
           writesThrough(C.ObjectPlace, C.Object));
    leaveMoved(C.Args[0], cast<CXXMethodDecl>(C.Callee), C.E);
  } else if (C.ObjectPlace != NoPlace) {
    const Expr *Source = C.Args.empty() ? nullptr : stripWrappers(C.Args[0]);
    bool IsEmpty = isa_and_nonnull<InitListExpr, CXXNullPtrLiteralExpr>(Source);
    clear(IsEmpty ? FactKind::Null : FactKind::Forget, C.ObjectPlace, C.Object,
          C.E);
  }
}

bool FactsBuilder::isGivenCallable(const CallSite &C) const {
  return llvm::any_of(C.Args, [](const Expr *Arg) {
    const auto *RD =
        Arg->getType().getNonReferenceType()->getAsCXXRecordDecl();
    return RD && RD->isLambda();
  });
}

/// \p Callable, if it is a lambda that has no name, runs here alone.
void FactsBuilder::runsInPlace(const Expr *Callable) {
  const Expr *Lambda = Callable ? stripWrappers(Callable) : nullptr;
  if (isa_and_nonnull<LambdaExpr>(Lambda))
    Out.RunInPlace.insert(Lambda);
}

void FactsBuilder::walkCallee(const CallSite &C) {
  llvm::SmallVector<PlaceID, 4> Args;
  for (unsigned I = 0; I < C.Args.size(); ++I)
    Args.push_back(argPlace(C, I));
  PlaceID Result =
      walkInPlace(C.Callee, C.ObjectPlace, Args, C.E, loopOf(C.E));
  if (carries(C.E->getType()))
    setValue(C.E, Result);
}

// --- Summaries ------------------------------------------------------------

PlaceID FactsBuilder::resolve(const Path &P, const CallSite &C,
                              PlaceID Result) {
  PlaceID Place = NoPlace;
  switch (P.Root) {
  case PathRoot::Param:
    Place = argPlace(C, P.Param);
    break;
  case PathRoot::This:
    Place = C.ObjectPlace;
    break;
  case PathRoot::Global:
    Place = placeOf(P.Global);
    break;
  case PathRoot::Result:
    Place = Result;
    break;
  }
  for (const PathStep &Step : P.Steps) {
    if (Place == NoPlace)
      break;
    Place = Step.Kind == PlaceKind::Field
                ? Out.Places.field(Place, Step.Field, Step.IsHandle)
            : Step.Kind == PlaceKind::Part
                ? Out.Places.part(Place, Step.Number, Step.IsHandle)
                : Out.Places.element(Place, Step.IsHandle);
  }
  return Place;
}

void FactsBuilder::onEach(llvm::ArrayRef<Path> Paths, FactKind Kind,
                          const CallSite &C, const Stmt *At) {
  for (const Path &P : Paths)
    if (PlaceID Place = resolve(P, C, NoPlace)) {
      Fact &F = emit(Kind, At);
      F.Src = Place;
      F.Callee = C.Callee;
    }
}

void FactsBuilder::releaseEach(const Summary &S, const CallSite &C,
                               const Stmt *At) {
  for (size_t I = 0; I < S.Released.size(); ++I)
    if (PlaceID Place = resolve(S.Released[I], C, NoPlace)) {
      Fact &F = emit(FactKind::Release, At);
      F.Src = Place;
      F.Callee = C.Callee;
      F.How = I < S.ReleasedHow.size() ? &S.ReleasedHow[I] : nullptr;
    }
}

/// What becomes of the tensors that the callee was given.
void FactsBuilder::applyFates(const Summary &S, const CallSite &C,
                              const Stmt *At) {
  onEach(S.Kept, FactKind::Keep, C, At);
  releaseEach(S, C, At);
  if (!S.Released.empty())
    noteBranches(At);
  onEach(S.MaybeReleased, FactKind::Unrelease, C, At);
  onEach(S.Retained, FactKind::Retain, C, At);
  applySessions(S, C, At);
}

void FactsBuilder::applySummary(const Summary &S, const CallSite &C) {
  forgetGuards(C, S.MayEndScope);
  onEach(S.Used, FactKind::Use, C, C.E);
  applyFates(S, C, C.E);
  if (S.MakesInside) {
    Fact &F = emit(FactKind::CreateInside, C.E);
    F.Loop = loopOf(C.E);
    F.Callee = C.Callee;
  }
  if (S.CollectsGarbage)
    collectGarbage(C);
  auto Prepared = prepareGradients(S, C);
  applyStores(S.Stores, C, NoPlace);
  applyGradients(S, C, NoPlace, Prepared);
  if (S.Reference) {
    setValue(C.E, resolve(*S.Reference, C, NoPlace));
    return;
  }
  if (!carries(C.E->getType()) || S.Result.empty())
    return;
  PlaceID Result = temporary(C.E);
  emit(FactKind::Null, C.E).Dst = Result;
  applyStores(S.Result, C, Result);
  applyGradients(S, C, Result, Prepared);
  Out.Places[Result].IsOneOf = C.E->isLValue();
  setValue(C.E, Result);
}

void FactsBuilder::applyStores(llvm::ArrayRef<SummaryStore> Stores,
                               const CallSite &C, PlaceID Result) {
  const auto Saved = saveOverwritten(Stores, C, Result);
  for (const SummaryStore &Store : Stores) {
    PlaceID To = resolve(Store.To, C, Result);
    if (To == NoPlace)
      continue;
    llvm::SmallVector<PlaceID, 2> Sources;
    for (const SummarySource &Source : Store.Sources) {
      if (Source.Kind == SourceKind::Interface) {
        PlaceID From = resolve(Source.From, C, Result);
        Sources.push_back(Saved.count(From) ? Saved.lookup(From) : From);
      } else if (Source.Kind == SourceKind::Unknown) {
        Sources.push_back(NoPlace);
      } else {
        unsigned Index = Source.Index + 1;
        PlaceID New = temporary(C.E, Index);
        Fact &F = emit(FactKind::Create, C.E);
        F.Dst = New;
        F.Storage = Out.Storages.created(C.E, Index, Top->ID);
        F.Loop = loopOf(C.E);
        F.Value = Source.Kind == SourceKind::ScopeResult;
        F.IsMadeInScope = Source.IsMadeInScope;
        F.Callee = C.Callee;
        Out.Storages[F.Storage].IsAssumed = Source.Kind == SourceKind::Assumed;
        if (Source.IsRetained)
          on(FactKind::Retain, New, C.E);
        Sources.push_back(New);
      }
    }
    assign(To, Sources, C.E, Store.IsWeak,
           To != Result && writesThrough(To, nullptr));
  }
}

// --- Unknown callees ------------------------------------------------------

void FactsBuilder::forgetCaptures(const Expr *Arg) {
  const auto *Lambda = dyn_cast<LambdaExpr>(stripWrappers(Arg));
  if (!Lambda)
    return;
  for (const LambdaCapture &Capture : Lambda->captures()) {
    if (!Capture.capturesVariable() || Capture.getCaptureKind() != LCK_ByRef)
      continue;
    const ValueDecl *V = Capture.getCapturedVar();
    if (ScopeID Scope = Guards.lookup(dyn_cast<VarDecl>(V)))
      emit(FactKind::ScopeForget, Lambda).Scope = Scope;
    if (!carries(V->getType()))
      continue;
    PlaceID P = placeOf(V);
    on(FactKind::Keep, P, Lambda);
    emit(FactKind::Forget, Lambda).Dst = P;
  }
}

void FactsBuilder::giveToUnknown(const Expr *Arg, QualType Param,
                                 const Expr *At) {
  forgetCaptures(Arg);
  PlaceID P = valueOf(Arg);
  if (P == NoPlace || !carries(Arg->getType()))
    return;
  bool MayWrite = Param.isNull() ||
                  ((Param->isLValueReferenceType() || Param->isPointerType()) &&
                   !Param->getPointeeType().isConstQualified());
  if (MayWrite && Arg->isLValue() && carries(Arg->getType())) {
    on(FactKind::Keep, P, At);
    emit(FactKind::Forget, At).Dst = P;
    return;
  }
  if (isHandle(Arg->getType()))
    on(FactKind::Use, P, At);
  on(FactKind::Keep, P, At);
}

static void noteGiven(Fact &F, const CallSite &C, int Arg) {
  F.Callee = C.Callee;
  F.GivenAs = C.Callee ? Arg : Fact::NotGiven;
}

/// \p Said: what an annotation says of it, which is not all.
void FactsBuilder::applyUnknown(const CallSite &C, const FunctionModel *Said) {
  auto IsNamed = [&](int Arg) {
    return Said && ((Said->Result == ResultKind::Alias && Said->ResultArg == Arg) ||
                    llvm::any_of(Said->Effects, [&](const Effect &E) {
                      return E.Arg == Arg;
                    }));
  };
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(C.Callee);
  bool IsConst = Method && Method->isConst();
  forgetGuards(C, /*MayEnd=*/!IsConst && guardNamedBy(C.Object) != NoScope);
  for (unsigned I = 0; I < C.Args.size(); ++I) {
    if (IsNamed(I))
      continue;
    QualType Param = C.Callee && I < C.Callee->getNumParams()
                         ? C.Callee->getParamDecl(I)->getType()
                         : QualType();
    size_t Before = Out.Blocks[Cur].Facts.size();
    giveToUnknown(C.Args[I], Param, C.E);
    for (Fact &F : llvm::MutableArrayRef(Out.Blocks[Cur].Facts).drop_front(Before))
      if (F.Kind == FactKind::Keep && F.Src == valueOf(C.Args[I]))
        noteGiven(F, C, I);
  }
  if (C.ObjectPlace != NoPlace && !IsConst && !IsNamed(ThisArg) &&
      C.Object && (carries(C.Object->getType()) ||
                   isa<CXXThisExpr>(stripWrappers(C.Object)))) {
    on(FactKind::Keep, C.ObjectPlace, C.E);
    noteGiven(Out.Blocks[Cur].Facts.back(), C, ThisArg);
    emit(FactKind::Forget, C.E).Dst = C.ObjectPlace;
  }
  if (Said)
    applyModel(*Said, C);
  bool SaysResult = Said && Said->Result != ResultKind::None;
  if (!SaysResult && carries(C.E->getType()) && C.E->isPRValue() &&
      !C.E->getType()->isPointerType())
    createResult(C, /*IsAssumed=*/true);
  noteUnknownForward(C);
}

void FactsBuilder::createResult(const CallSite &C, bool IsAssumed) {
  PlaceID Result = temporary(C.E);
  setValue(C.E, Result);
  auto Create = [&](PlaceID To, unsigned Index) {
    LoopID Loop = loopOf(C.E);
    Fact &F = emit(FactKind::Create, C.E);
    F.Dst = To;
    F.Storage = Out.Storages.created(C.E, Index, Top->ID);
    F.Loop = Loop;
    Out.Storages[F.Storage].IsAssumed = IsAssumed;
  };
  auto Parts = tuplePartTypes(C.E->getType());
  if (Parts.empty()) {
    Create(Result, 0);
    return;
  }
  emit(FactKind::Null, C.E).Dst = Result;
  for (unsigned I = 0; I < Parts.size(); ++I)
    if (carries(Parts[I]))
      Create(partOf(Result, C.E->getType(), I), I);
}

} // namespace tensorscope
