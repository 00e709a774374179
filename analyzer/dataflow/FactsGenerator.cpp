// SPDX-License-Identifier: Apache-2.0
//
// The graph of facts: bodies, blocks, scopes' ends. What an expression means
// is in ExpressionFacts.cpp and CallFacts.cpp.
#include "dataflow/FactsGenerator.h"

#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"
#include "clang/Analysis/Analyses/PostOrderCFGView.h"

using namespace clang;

namespace tensorscope {

/// Bodies that are walked in place inside one another; deeper is not analysed.
static constexpr unsigned MaxNesting = 8;

const CFG *UnitContext::cfg(const FunctionDecl *F, bool FollowsExceptions) {
  auto [It, IsNew] = Cfgs.try_emplace({F, FollowsExceptions});
  if (IsNew) {
    CFG::BuildOptions Options;
    Options.setAllAlwaysAdd();
    Options.AddImplicitDtors = true;
    Options.AddInitializers = true;
    Options.PruneTriviallyFalseEdges = true;
    Options.AddEHEdges = FollowsExceptions;
    It->second = CFG::buildCFG(F, F->getBody(), &Ctx, Options);
  }
  return It->second.get();
}

const BodyIndex &UnitContext::body(const FunctionDecl *F) {
  std::unique_ptr<BodyIndex> &Body = Bodies[F];
  if (!Body)
    Body = std::make_unique<BodyIndex>(indexBody(F));
  return *Body;
}

BlockID FactsBuilder::newBlock() {
  Out.Blocks.emplace_back();
  return Out.Blocks.size() - 1;
}

Fact &FactsBuilder::emit(FactKind Kind, const Stmt *At) {
  std::vector<Fact> &Facts = Out.Blocks[Cur].Facts;
  Facts.emplace_back();
  Facts.back().Kind = Kind;
  Facts.back().At = At;
  Facts.back().Statement = Top->Statement;
  return Facts.back();
}

void FactsBuilder::assign(PlaceID Dst, llvm::ArrayRef<PlaceID> Sources,
                          const Stmt *At, bool IsWeak, bool IsThrough) {
  if (Dst == NoPlace)
    return;
  LoopID Loop = loopOf(At);
  if (!IsThrough)
    for (PlaceID Source : Sources)
      noteSharing(Dst, Source);
  Fact &F = emit(FactKind::Assign, At);
  F.Dst = Dst;
  F.Loop = Loop;
  F.IsWeak = IsWeak || Out.Places.isElementPath(Dst);
  F.IsThrough = IsThrough;
  F.Sources.assign(Sources.begin(), Sources.end());
}

void FactsBuilder::on(FactKind Kind, PlaceID Src, const Stmt *At) {
  if (Src != NoPlace)
    emit(Kind, At).Src = Src;
}

void FactsBuilder::build(const FunctionDecl *F) {
  Out.Function = F;
  Out.Entry = Cur = newBlock();
  Frame Body;
  Body.ID = Frames++;
  Body.Function = F;
  Body.Body = &Unit.body(F);
  Body.Return = Out.Return = Out.Places.returnValue(
      Body.ID, isHandle(F->getReturnType()));
  Body.This = Out.This = Out.Places.thisObject(Body.ID);
  if (const auto *Method = dyn_cast<CXXMethodDecl>(F))
    Out.Places[Out.This].IsAdopted =
        Unit.Types.holdsAdoption(Method->getParent());
  Top = &Body;
  for (const ParmVarDecl *Param : F->parameters()) {
    PlaceID P = Out.Places.variable(Param, isHandle(Param->getType()));
    QualType T = Param->getType();
    Out.Places[P].IsOuter = T->isReferenceType() || T->isPointerType();
    Out.Params.push_back(P);
  }
  walkBody(Body);
  Out.Exit = Cur;
}

void FactsBuilder::walkBody(Frame &F) {
  noteBodyOfOwners(F);
  const CFG *Graph = Unit.cfg(F.Function, followsExceptionsIn(F));
  if (!Graph || Out.Blocks.size() + Graph->size() > Unit.BlockLimit) {
    Out.IsIncomplete = true;
    return;
  }
  std::vector<BlockID> Starts(Graph->getNumBlockIDs());
  for (BlockID &Start : Starts)
    Start = newBlock();
  link(Cur, Starts[Graph->getEntry().getBlockID()]);
  for (const CFGBlock *B : PostOrderCFGView(Graph))
    walkBlock(B, Starts);
  Cur = Starts[Graph->getExit().getBlockID()];
  IsDead = false;
}

void FactsBuilder::walkBlock(const CFGBlock *B,
                             llvm::ArrayRef<BlockID> Starts) {
  Cur = Starts[B->getBlockID()];
  IsDead = false;
  BeforeLast = Cur;
  unsigned Left = B->size();
  for (const CFGElement &Element : *B) {
    if (--Left == 0 && followsExceptionsIn(*Top))
      beginAnew();
    visitElement(Element);
    if (IsDead || Out.IsIncomplete)
      return;
  }
  if (const Stmt *Loop = B->getLoopTarget())
    emit(FactKind::LoopBack, Loop).Loop = loopFor(Loop);
  linkSuccessors(B, Starts);
}

/// Lets an exception of the last call of a block leave before the call.
void FactsBuilder::beginAnew() {
  BeforeLast = Cur;
  Cur = newBlock();
  link(BeforeLast, Cur);
}

bool FactsBuilder::followsExceptionsIn(const Frame &F) const {
  return FollowsExceptions && !F.Caller;
}

/// The way out of the function, by its number, that an exception of a callee
/// alone takes.
static bool isForeignException(const CFGBlock *B, unsigned Number) {
  const Stmt *Terminator = B->getTerminatorStmt();
  return isa_and_nonnull<CXXTryStmt>(Terminator) || (!Terminator && Number > 0);
}

/// What leaves the function at the end of \p B; null for the end of its body.
static const Stmt *leavingStmt(const CFGBlock *B) {
  const Stmt *By = nullptr;
  for (const CFGElement &Element : *B)
    if (auto S = Element.getAs<CFGStmt>();
        S && isa<ReturnStmt, CXXThrowExpr>(S->getStmt()))
      By = S->getStmt();
  return By;
}

void FactsBuilder::linkSuccessors(const CFGBlock *B,
                                  llvm::ArrayRef<BlockID> Starts) {
  const auto *Switch = dyn_cast_or_null<SwitchStmt>(B->getTerminatorStmt());
  bool AsksCase = Switch && isAskedElsewhere(Switch);
  const Expr *Condition = B->succ_size() == 2 && !Switch &&
                                  B->getTerminatorStmt() &&
                                  !isa<CXXTryStmt>(B->getTerminatorStmt())
                              ? B->getLastCondition()
                              : nullptr;
  if (Switch)
    ask(Switch->getCond());
  if (Switch)
    doubtOwners(Switch->getCond());
  BlockID End = Cur;
  unsigned Number = 0;
  for (const CFGBlock::AdjacentBlock &Next : B->succs()) {
    bool IsFirst = Number == 0;
    const CFGBlock *Successor = Next.getReachableBlock();
    bool IsExit = Successor == &B->getParent()->getExit();
    bool IsForeign = IsExit && isForeignException(B, Number);
    ++Number;
    if (!Successor || (followsExceptionsIn(*Top) && IsForeign))
      continue;
    BlockID Start = Starts[Successor->getBlockID()];
    // What throws while it starts a session has not started it.
    bool IsException = Number > 1 && !B->getTerminatorStmt();
    if (IsException && llvm::any_of(Out.Blocks[End].Facts, [](const Fact &F) {
          return F.Kind == FactKind::ScopeBegin;
        })) {
      link(BeforeLast, Start);
      continue;
    }
    bool Leaves = IsExit && !Top->Caller && !B->hasNoReturnElement();
    // Where a call's exception is caught.
    const Stmt *Thrower =
        followsExceptionsIn(*Top) && IsException && !B->empty() &&
                B->back().getAs<CFGStmt>()
            ? B->back().castAs<CFGStmt>().getStmt()
            : nullptr;
    if (!Condition && !AsksCase && !Leaves &&
        !(Thrower && Top->FollowsOwners)) {
      link(End, Start);
      continue;
    }
    BlockID Edge = newBlock();
    link(End, Edge);
    Cur = Edge;
    if (Condition)
      assume(Condition, IsFirst);
    if (Condition)
      assumeOwners(Condition, IsFirst);
    else if (AsksCase)
      assumeCase(Switch, Successor->getLabel());
    if (Thrower && Top->FollowsOwners)
      emit(FactKind::CatchFrom, Thrower);
    if (Leaves)
      emit(FactKind::Leave, leavingStmt(B));
    link(Edge, Start);
  }
}

void FactsBuilder::visitElement(const CFGElement &Element) {
  if (auto S = Element.getAs<CFGStmt>()) {
    const Stmt *Statement = S->getStmt();
    Visit(Statement);
    followOwners(Statement);
    if (const auto *E = dyn_cast<Expr>(Statement))
      chooseArm(E);
    if (Top->Body->Statements.contains(Statement))
      endStatement(Statement);
  } else if (auto Init = Element.getAs<CFGInitializer>()) {
    visitInitializer(Init->getInitializer());
  } else if (auto Dtor = Element.getAs<CFGAutomaticObjDtor>()) {
    leaveVariable(Dtor->getVarDecl(), Dtor->getTriggerStmt());
  }
}

void FactsBuilder::visitInitializer(const CXXCtorInitializer *Init) {
  if (Top->FollowsOwners)
    giveAwayAll(Init->getInit(), Init->getInit());
  const FieldDecl *Field = Init->getAnyMember();
  if (!Field || !carries(Field->getType()))
    return;
  PlaceID To = Out.Places.field(Top->This, Field, isHandle(Field->getType()));
  PlaceID Value = valueOf(Init->getInit());
  if (Value != NoPlace)
    assign(To, Value, Init->getInit());
  else
    emit(FactKind::Null, Init->getInit()).Dst = To;
}

/// A local variable that is returned by name is the result itself, in every
/// compiler of today: no destructor runs.
static bool becomesResult(const VarDecl *V, const Stmt *At) {
  const auto *Return = dyn_cast_or_null<ReturnStmt>(At);
  return Return && Return->getNRVOCandidate() == V && V->isNRVOVariable();
}

/// True when the end of an object runs code of the user: its own destructor, a
/// base's, or a member's.
static bool hasUserDestructor(const CXXRecordDecl *Class,
                              const SourceManager &SM) {
  if (!Class || !Class->hasDefinition() || Class->hasTrivialDestructor() ||
      isLibraryDecl(Class, SM))
    return false;
  const CXXDestructorDecl *Destructor = Class->getDestructor();
  if (Destructor && Destructor->isUserProvided())
    return true;
  auto Has = [&](QualType T) {
    return hasUserDestructor(T->getAsCXXRecordDecl(), SM);
  };
  return llvm::any_of(Class->bases(), [&](const CXXBaseSpecifier &Base) {
    return Has(Base.getType());
  }) || llvm::any_of(Class->fields(), [&](const FieldDecl *Field) {
    return Has(Field->getType());
  });
}

void FactsBuilder::leaveVariable(const VarDecl *V, const Stmt *At) {
  leaveModeGuard(V, At);
  leaveStreamGuard(V, At);
  if (auto It = Guards.find(V); It != Guards.end()) {
    endScope(It->second, NoPlace, At);
    return;
  }
  if (V->getType()->isReferenceType() || Aliases.count(V))
    return;
  if (!carries(V->getType())) {
    destroy(V, At);
    return;
  }
  if (hasUserDestructor(V->getType()->getAsCXXRecordDecl(),
                        Unit.Ctx.getSourceManager()))
    on(FactKind::Read, placeOf(V), At);
  if (!becomesResult(V, At))
    destroy(V, At);
  emit(FactKind::Kill, At).Dst = placeOf(V);
}

/// What the destructor of a user's class does to the tensors it holds.
void FactsBuilder::destroy(const VarDecl *V, const Stmt *At) {
  const CXXRecordDecl *Class = V->getType()->getAsCXXRecordDecl();
  CallSite C;
  const CXXDestructorDecl *Destructor =
      Class && Class->hasDefinition() ? Class->getDestructor() : nullptr;
  const FunctionDecl *Body = Destructor ? definitionOf(Destructor) : nullptr;
  C.Callee = Body ? Body : Destructor;
  C.ObjectPlace = carries(V->getType()) ? placeOf(V) : NoPlace;
  if (!C.Callee || isLibraryDecl(C.Callee, Unit.Ctx.getSourceManager()))
    return;
  if (!Body && Destructor->isUserProvided() && !FollowsStreams)
    Unit.Summaries.noteUnknown(Destructor, nullptr);
  if (const Summary *S = Body ? Unit.Summaries.summary(Body)
                              : Unit.Summaries.elsewhere(Destructor)) {
    Out.HasStoppers |= S->Sessions != SessionEffect::None;
    applyFates(*S, C, At);
  }
}

void FactsBuilder::endStatement(const Stmt *S) {
  const auto *E = dyn_cast<Expr>(S);
  // A reference is no value of its own.
  if (E && E->isPRValue() && Top->Body->Discarded.contains(E) &&
      carries(E->getType())) {
    if (PlaceID P = valueOf(E)) {
      LoopID Loop = loopOf(E);
      Fact &F = emit(FactKind::Discard, E);
      F.Src = P;
      F.Loop = Loop;
    }
  }
  for (PlaceID Temporary : Top->PendingTemporaries)
    emit(FactKind::Kill, S).Dst = Temporary;
  Top->PendingTemporaries.clear();
  Top->Statement = ++Statements;
}

bool FactsBuilder::canWalkInPlace(const FunctionDecl *F) const {
  if (!F || !definitionOf(F))
    return false;
  unsigned Nesting = 0;
  for (const Frame *Caller = Top; Caller; Caller = Caller->Caller)
    if (Caller->Function == definitionOf(F) || ++Nesting > MaxNesting)
      return false;
  return true;
}

/// `this` in a lambda's body is that of the function that made the lambda.
PlaceID FactsBuilder::thisFor(const FunctionDecl *F, PlaceID Object) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!Method || !Method->getParent()->isLambda())
    return Object;
  for (const Frame *Maker = Top; Maker; Maker = Maker->Caller)
    if (Method->getParent()->getDeclContext() == Maker->Function)
      return Maker->This;
  return Top->This;
}

PlaceID FactsBuilder::walkInPlace(const FunctionDecl *F, PlaceID This,
                                  llvm::ArrayRef<PlaceID> Args, const Expr *At,
                                  LoopID Loop, unsigned ExtraDepth) {
  F = definitionOf(F);
  Unit.WalkedInPlace.insert(F);
  Frame Body;
  Body.ID = Frames++;
  Body.Function = F;
  Body.Body = &Unit.body(F);
  Body.OuterLoop = Loop;
  Body.BaseDepth = depthAt(At->getBeginLoc()) + ExtraDepth;
  Body.This = thisFor(F, This);
  Body.Caller = Top;
  Body.CallSite = At;
  Body.Statement = ++Statements;
  Body.Return =
      Out.Places.returnValue(Body.ID, isHandle(F->getReturnType()));
  Out.Places[Body.Return].Depth = Body.BaseDepth;
  Out.Places[Body.Return].IsShared =
      Unit.Types.sharesContents(F->getReturnType());
  Top->PendingTemporaries.push_back(Body.Return);

  for (unsigned I = 0; I < F->getNumParams(); ++I) {
    const ParmVarDecl *Param = F->getParamDecl(I);
    PlaceID Arg = I < Args.size() ? Args[I] : NoPlace;
    Aliases.erase(Param);
    if (Param->getType()->isReferenceType() && Arg != NoPlace) {
      Aliases[Param] = Arg;
      continue;
    }
    PlaceID P = Out.Places.variable(Param, isHandle(Param->getType()));
    Out.Places[P].Depth = Body.BaseDepth;
    if (carries(Param->getType()))
      assign(P, Arg, At);
  }
  Frame *Caller = Top;
  Top = &Body;
  walkBody(Body);
  Top = Caller;
  return Body.Return;
}

static std::set<int> carriersOf(const FunctionDecl *F, TypeModel &Types) {
  std::set<int> Carriers;
  for (unsigned I = 0; I < F->getNumParams(); ++I) {
    QualType T = F->getParamDecl(I)->getType();
    if (!T.getNonReferenceType()->isPointerType() && Types.carriesTensors(T))
      Carriers.insert(I);
  }
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (Method && Method->isInstance() &&
      Types.carriesTensors(Method->getFunctionObjectParameterType()))
    Carriers.insert(ThisArg);
  return Carriers;
}

FunctionFacts generateFacts(const FunctionDecl *F, UnitContext &Unit,
                            bool FollowsExceptions) {
  FunctionFacts Facts;
  Facts.Claim = Unit.Api.claim(F);
  if (Facts.Claim)
    Facts.ClaimedCarriers = carriersOf(F, Unit.Types);
  FactsBuilder(Unit, Facts, FollowsExceptions).build(F);
  return Facts;
}

FunctionFacts generateStreamFacts(const FunctionDecl *F, UnitContext &Unit) {
  FunctionFacts Facts;
  FactsBuilder Builder(Unit, Facts, /*FollowsExceptions=*/false);
  Builder.followStreams();
  Builder.build(F);
  return Facts;
}

FunctionFacts generateOwnershipFacts(const FunctionDecl *F,
                                     UnitContext &Unit) {
  FunctionFacts Facts;
  FactsBuilder Builder(Unit, Facts, /*FollowsExceptions=*/false);
  Builder.followParameters();
  Builder.build(F);
  return Facts;
}

} // namespace tensorscope
