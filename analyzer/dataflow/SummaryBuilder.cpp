// SPDX-License-Identifier: Apache-2.0
#include "dataflow/SummaryBuilder.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>

using namespace clang;

namespace tensorscope {

TraceStep traceStepAt(const Stmt *At, const FunctionDecl *Callee,
                      const ASTContext &Ctx) {
  const SourceManager &SM = Ctx.getSourceManager();
  PresumedLoc Loc = SM.getPresumedLoc(SM.getFileLoc(At->getBeginLoc()));
  TraceStep Step;
  if (Loc.isValid()) {
    llvm::SmallString<128> File(Loc.getFilename());
    SM.getFileManager().makeAbsolutePath(File);
    llvm::sys::path::remove_dots(File, /*remove_dot_dot=*/true);
    Step.File = File.str().str();
    Step.Line = Loc.getLine();
    Step.Column = Loc.getColumn();
  }
  if (Callee && Callee->getDeclName().isIdentifier())
    Step.Through = Callee->getNameAsString();
  return Step;
}

std::optional<Path> pathOf(const FunctionFacts &F, PlaceID P) {
  Path Out;
  llvm::SmallVector<PathStep, 4> Reversed;
  for (; F.Places[P].Base != NoPlace; P = F.Places[P].Base) {
    const PlaceInfo &Step = F.Places[P];
    Reversed.push_back({Step.Kind,
                        Step.Kind == PlaceKind::Field
                            ? static_cast<const FieldDecl *>(Step.Key)
                            : nullptr,
                        Step.Number, Step.IsHandle});
  }
  Out.Steps.assign(Reversed.rbegin(), Reversed.rend());
  if (P == F.Return) {
    Out.Root = PathRoot::Result;
    return Out;
  }
  if (P == F.This) {
    Out.Root = PathRoot::This;
    return Out;
  }
  auto Param = llvm::find(F.Params, P);
  if (Param != F.Params.end()) {
    Out.Root = PathRoot::Param;
    Out.Param = Param - F.Params.begin();
    return Out;
  }
  if (F.Places[P].Kind != PlaceKind::Variable || !F.Places[P].IsOuter)
    return std::nullopt;
  Out.Root = PathRoot::Global;
  Out.Global = static_cast<const ValueDecl *>(F.Places[P].Key);
  return Out;
}

namespace {

class SummaryBuilder {
public:
  explicit SummaryBuilder(StorageFlow &Flow)
      : Flow(Flow), F(Flow.facts()), Exit(Flow.exitStates()) {}

  Summary build() {
    collectUses();
    collectScopedCreations();
    collectStatuses();
    collectStores();
    findCreationInside();
    collectForwards();
    Result.Sessions = sessionEffect();
    findWork();
    if (F.Function->getReturnType()->isReferenceType() &&
        F.Returned.size() == 1 && *F.Returned.begin() != NoPlace)
      Result.Reference = pathOf(*F.Returned.begin());
    Flow.forEachFact([&](const Fact &Fact, llvm::ArrayRef<State>) {
      Result.MayEndScope |=
          Fact.Kind == FactKind::ScopeForget && Fact.Scope == NoScope;
    });
    return std::move(Result);
  }

private:
  std::optional<Path> pathOf(PlaceID P) const {
    return tensorscope::pathOf(F, P);
  }
  bool isInitialOf(const Value &V, PlaceID P) const;
  void collectUses();
  void collectScopedCreations();
  void collectStatuses();
  void collectStores();
  void findCreationInside();
  void collectForwards();
  std::optional<Path> givenPath(const Fact &Given, llvm::ArrayRef<State> Before);
  bool isOnEachPath(const Fact &At) const;
  Trace traceOf(StorageID S) const;
  SessionEffect sessionEffect() const;
  void findWork();
  SummaryStore storeFor(PlaceID P);
  SummarySource sourceFor(StorageID S);
  unsigned newIndex(StorageID S);
  bool isScopeResult(StorageID S) const;

  StorageFlow &Flow;
  FunctionFacts &F;
  llvm::ArrayRef<State> Exit;
  Summary Result;
  std::map<StorageID, unsigned> NewIndices;
  std::set<StorageID> MadeInScope;
};

void SummaryBuilder::collectUses() {
  std::set<PlaceID> Seen;
  Flow.forEachFact([&](const Fact &Fact, llvm::ArrayRef<State> Before) {
    if (Fact.Kind != FactKind::Use && Fact.Kind != FactKind::UseDeep)
      return;
    for (const State &S : Before)
      for (const Held &H : Flow.store().valueAt(S, Fact.Src).Storages) {
        const Storage &Used = F.Storages[H.Storage];
        if (Used.Kind == StorageKind::Initial &&
            S.status(H.Storage).How == Life::Live &&
            Seen.insert(Used.Place).second)
          if (auto P = pathOf(Used.Place))
            Result.Used.push_back(*P);
      }
  });
}

void SummaryBuilder::collectScopedCreations() {
  Flow.forEachFact([&](const Fact &Fact, llvm::ArrayRef<State> Before) {
    if (Fact.Kind != FactKind::Create)
      return;
    bool InScope =
        llvm::all_of(Before, [](const State &S) { return S.isInScope(); });
    if (InScope || Fact.IsMadeInScope)
      MadeInScope.insert(Fact.Storage);
  });
}

void SummaryBuilder::collectStatuses() {
  for (StorageID S = 1; S < F.Storages.size(); ++S) {
    if (F.Storages[S].Kind != StorageKind::Initial)
      continue;
    auto P = pathOf(F.Storages[S].Place);
    if (!P)
      continue;
    unsigned Released = 0, Unclear = 0;
    bool IsRetained = false, IsKept = false;
    for (const State &State : Exit) {
      StorageStatus Status = State.status(S);
      Released += Status.How == Life::Released;
      Unclear += Status.How == Life::Unknown;
      IsRetained |= Status.IsRetained;
      IsKept |= Status.MaybeKept;
    }
    if (Released && Released == Exit.size()) {
      Result.Released.push_back(*P);
      Result.ReleasedHow.push_back(traceOf(S));
    } else if (Released || Unclear)
      Result.MaybeReleased.push_back(*P);
    if (IsRetained)
      Result.Retained.push_back(*P);
    if (IsKept)
      Result.Kept.push_back(*P);
  }
}

unsigned SummaryBuilder::newIndex(StorageID S) {
  return NewIndices.try_emplace(S, NewIndices.size()).first->second;
}

bool SummaryBuilder::isScopeResult(StorageID S) const {
  return llvm::all_of(Exit, [&](const State &State) {
    const StorageStatus *Status = State.Statuses.lookup(S);
    return !Status || Status->IsScopeResult;
  });
}

SummarySource SummaryBuilder::sourceFor(StorageID S) {
  SummarySource Source;
  const Storage &Origin = F.Storages[S];
  bool IsAlive = llvm::all_of(Exit, [&](const State &State) {
    return State.status(S).How == Life::Live;
  });
  if (Origin.Kind == StorageKind::Initial ||
      Origin.Kind == StorageKind::Sample) {
    if (auto P = pathOf(Origin.Place)) {
      Source.Kind = SourceKind::Interface;
      Source.From = *P;
    }
  } else if (F.Storages.isCreated(S) && IsAlive) {
    Source.Kind = isScopeResult(S)    ? SourceKind::ScopeResult
                  : Origin.IsAssumed ? SourceKind::Assumed
                                     : SourceKind::New;
    Source.Index = newIndex(S);
    Source.IsMadeInScope = MadeInScope.count(S);
    Source.IsRetained = llvm::any_of(Exit, [&](const State &State) {
      return State.status(S).IsRetained;
    });
  }
  return Source;
}

SummaryStore SummaryBuilder::storeFor(PlaceID P) {
  SummaryStore Store;
  Store.To = *pathOf(P);
  Store.IsWeak = F.Places.isElementPath(P);
  std::set<StorageID> Storages;
  for (const State &S : Exit)
    for (const Held &H : Flow.store().valueAt(S, P).Storages)
      Storages.insert(H.Storage);
  for (StorageID S : Storages) {
    // What an element place held stays in it.
    if (Store.IsWeak && F.Storages[S].Kind == StorageKind::Initial &&
        F.Storages[S].Place == P)
      continue;
    Store.Sources.push_back(sourceFor(S));
  }
  return Store;
}

bool SummaryBuilder::isInitialOf(const Value &V, PlaceID P) const {
  return V.Storages.size() == 1 &&
         F.Storages[V.Storages[0].Storage].Kind == StorageKind::Initial &&
         F.Storages[V.Storages[0].Storage].Place == P;
}

void SummaryBuilder::collectStores() {
  std::set<PlaceID> Written;
  for (const State &S : Exit)
    for (auto It = S.Places.begin(), End = S.Places.end(); It != End; ++It) {
      PlaceID Root = F.Places.root(It->first);
      bool IsResult = Root == F.Return;
      bool IsVisible = IsResult || Root == F.This || F.Places[Root].IsOuter;
      if (IsVisible && (IsResult || !isInitialOf(It->second, It->first)) &&
          pathOf(It->first))
        Written.insert(It->first);
    }
  for (PlaceID P : Written) {
    SummaryStore Store = storeFor(P);
    (Store.To.Root == PathRoot::Result ? Result.Result : Result.Stores)
        .push_back(std::move(Store));
  }
}

void SummaryBuilder::findCreationInside() {
  std::set<StorageID> Leaving;
  for (const auto &[S, Index] : NewIndices)
    Leaving.insert(S);
  std::set<StorageID> OneElement = Flow.oneElementStorages();
  Flow.forEachFact([&](const Fact &Fact, llvm::ArrayRef<State> Before) {
    bool IsCreation =
        (Fact.Kind == FactKind::Create && !Leaving.count(Fact.Storage) &&
         !OneElement.count(Fact.Storage) &&
         !F.Storages[Fact.Storage].IsAssumed) ||
        Fact.Kind == FactKind::CreateInside;
    LoopID Loop = Fact.Loop;
    while (Loop != NoLoop && F.Loops[Loop].IsSmall)
      Loop = F.Loops[Loop].Outer;
    bool IsUnscoped = llvm::any_of(
        Before, [](const State &S) { return !S.isInScope(); });
    Result.MakesInside |= IsCreation && Loop == NoLoop && IsUnscoped;
  });
}

/// The first release on the first path that ends; all release it.
Trace SummaryBuilder::traceOf(StorageID S) const {
  const Fact *Where = Exit.front().status(S).Where;
  if (!Where || !Where->At)
    return {};
  Trace How{traceStepAt(Where->At, Where->How ? Where->Callee : nullptr,
                   F.Function->getASTContext())};
  if (Where->How)
    How.insert(How.end(), Where->How->begin(), Where->How->end());
  return How;
}

/// No way from the entry to the exit goes around it.
bool SummaryBuilder::isOnEachPath(const Fact &At) const {
  std::vector<bool> Seen(F.Blocks.size());
  llvm::SmallVector<BlockID, 16> Todo;
  auto Push = [&](BlockID B) {
    const auto &Facts = F.Blocks[B].Facts;
    bool HasIt =
        !Facts.empty() && &At >= &Facts.front() && &At <= &Facts.back();
    if (!Seen[B] && !HasIt)
      Todo.push_back(B);
    Seen[B] = Seen[B] || !HasIt;
  };
  Push(F.Entry);
  while (!Todo.empty())
    for (BlockID Next : F.Blocks[Todo.pop_back_val()].Successors)
      Push(Next);
  return !Seen[F.Exit];
}

/// What the caller knows the given value as, if that is one thing.
std::optional<Path> SummaryBuilder::givenPath(const Fact &Given,
                                              llvm::ArrayRef<State> Before) {
  StorageID Only = UnknownStorage;
  for (const State &S : Before) {
    const Value &V = Flow.store().valueAt(S, Given.Src);
    if (V.Storages.size() != 1 ||
        (Only != UnknownStorage && V.Storages[0].Storage != Only))
      return std::nullopt;
    Only = V.Storages[0].Storage;
  }
  return Only != UnknownStorage &&
                 F.Storages[Only].Kind == StorageKind::Initial
             ? pathOf(F.Storages[Only].Place)
             : std::nullopt;
}

void SummaryBuilder::collectForwards() {
  Flow.forEachFact([&](const Fact &Given, llvm::ArrayRef<State> Before) {
    if (Given.Kind != FactKind::Keep || Given.GivenAs == Fact::NotGiven)
      return;
    std::optional<Path> Own = givenPath(Given, Before);
    if (!Own)
      return;
    SummaryForward Forward;
    Forward.Callee = Given.Callee;
    Forward.Own = *Own;
    Forward.Theirs.Root =
        Given.GivenAs == ThisArg ? PathRoot::This : PathRoot::Param;
    Forward.Theirs.Param = Given.GivenAs == ThisArg ? 0 : Given.GivenAs;
    Forward.IsAlways = isOnEachPath(Given);
    Forward.At = traceStepAt(Given.At, Given.Callee, F.Function->getASTContext());
    Result.Forwards.push_back(std::move(Forward));
  });
}

SessionEffect SummaryBuilder::sessionEffect() const {
  unsigned Open = 0, Stopped = 0, Mixed = 0;
  for (const State &S : Exit) {
    Open += llvm::any_of(S.Scopes, [&](ScopeID ID) {
      return F.Scopes[ID].Form == ScopeForm::Session && !F.Scopes[ID].Guard;
    });
    Stopped += S.StoppedOuter == 2;
    Mixed += S.StoppedOuter == 3;
  }
  auto IsOfAll = [&](unsigned Count) { return Count == Exit.size(); };
  if (Exit.empty() || (Open == 0 && Stopped == 0 && Mixed == 0))
    return SessionEffect::None;
  if (Mixed || (Open && !IsOfAll(Open)) || (Stopped && !IsOfAll(Stopped)))
    return SessionEffect::Unclear;
  return Open && Stopped ? SessionEffect::Replaces
         : Open          ? SessionEffect::Starts
                         : SessionEffect::Stops;
}

/// What it does in loops, and what each call of it does.
void SummaryBuilder::findWork() {
  Flow.forEachFact([&](const Fact &Fact, llvm::ArrayRef<State>) {
    bool IsWork = Fact.Kind == FactKind::Create ||
                  Fact.Kind == FactKind::CreateInside ||
                  Fact.Kind == FactKind::Call;
    LoopID Loop = Fact.Loop;
    while (Loop != NoLoop && F.Loops[Loop].IsOverModules)
      Loop = F.Loops[Loop].Outer;
    Result.WorksInLoop |= IsWork && Loop != NoLoop;
    Result.CollectsGarbage |= Fact.Kind == FactKind::CollectGarbage &&
                              !Fact.Value && Fact.Loop == NoLoop;
  });
}

} // namespace

Summary buildSummary(StorageFlow &Flow) { return SummaryBuilder(Flow).build(); }

} // namespace tensorscope
