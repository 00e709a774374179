// SPDX-License-Identifier: Apache-2.0
#include "dataflow/StorageFlow.h"

#include "dataflow/GuardComparisons.h"
#include "llvm/ADT/STLExtras.h"

namespace tensorscope {

/// A function with more facts may take more steps, in proportion.
static constexpr size_t UsualFacts = 6250;

std::vector<unsigned> reversePostOrder(const FunctionFacts &F) {
  std::vector<unsigned> Number(F.Blocks.size(), F.Blocks.size());
  std::vector<std::pair<BlockID, unsigned>> Stack{{F.Entry, 0}};
  std::vector<bool> Seen(F.Blocks.size());
  Seen[F.Entry] = true;
  unsigned Next = F.Blocks.size();
  while (!Stack.empty()) {
    auto &[B, Edge] = Stack.back();
    const auto &Successors = F.Blocks[B].Successors;
    if (Edge == Successors.size()) {
      Number[B] = --Next;
      Stack.pop_back();
      continue;
    }
    BlockID To = Successors[Successors.size() - ++Edge];
    if (!Seen[To]) {
      Seen[To] = true;
      Stack.push_back({To, 0});
    }
  }
  return Number;
}

bool StorageFlow::run() {
  if (Facts.IsIncomplete)
    return false;
  In.begin(Facts.Blocks.size(), Facts.Entry, Store.initial());
  Order = reversePostOrder(Facts);
  for (PlaceID P = 0; P < Facts.Places.size(); ++P)
    IsAnyAdopted |= Facts.Places[P].IsAdopted;
  std::set<std::pair<unsigned, BlockID>> Todo{{Order[Facts.Entry], Facts.Entry}};
  size_t FactCount = 0;
  for (const FactBlock &B : Facts.Blocks)
    FactCount += B.Facts.size() + 1;
  const size_t Limit =
      StepLimit * std::max<size_t>(FactCount, UsualFacts) / UsualFacts;
  size_t Steps = 0;
  while (!Todo.empty()) {
    BlockID B = Todo.begin()->second;
    Todo.erase(Todo.begin());
    for (State &S : In.takeFresh(B)) {
      Steps += Facts.Blocks[B].Facts.size() + 1;
      if (Steps > Limit)
        return false;
      Store.beginChanges();
      bool IsFeasible = llvm::all_of(
          Facts.Blocks[B].Facts, [&](const Fact &F) { return transfer(S, F); });
      if (!IsFeasible)
        continue;
      Store.collectGarbage(S);
      for (BlockID To : Facts.Blocks[B].Successors)
        if (join(To, S))
          Todo.insert({Order[To], To});
    }
  }
  return true;
}

bool StorageFlow::join(BlockID To, const State &S) {
  return In.join(To, S, [&](llvm::ArrayRef<State> Others, State Merged) {
    Store.beginChanges();
    for (const State &Other : Others)
      Merged = Store.merge(Other, Merged);
    Store.collectGarbage(Merged);
    return Merged;
  });
}

/// Runs once over the facts from what each block begins with.
void StorageFlow::replay() {
  std::vector<BlockID> Blocks(Facts.Blocks.size());
  for (BlockID B = 0; B < Blocks.size(); ++B)
    Blocks[B] = B;
  llvm::stable_sort(Blocks, [&](BlockID A, BlockID B) {
    return Order[A] < Order[B];
  });
  for (BlockID B : Blocks) {
    std::vector<State> States = In.at(B);
    for (const Fact &F : Facts.Blocks[B].Facts) {
      if (States.empty())
        break;
      bool IsUnchanged =
          !Replayed.empty() && Replayed.back().Count == States.size() &&
          std::equal(States.begin(), States.end(),
                     ReplayedStates.begin() + Replayed.back().First,
                     [](const State &A, const State &B) { return A.isCopyOf(B); });
      size_t First =
          IsUnchanged ? Replayed.back().First : ReplayedStates.size();
      Replayed.push_back({&F, First, States.size()});
      if (!IsUnchanged)
        llvm::append_range(ReplayedStates, States);
      Store.beginChanges();
      llvm::erase_if(States, [&](State &S) { return !transfer(S, F); });
    }
  }
}

void StorageFlow::forEachFact(
    llvm::function_ref<void(const Fact &, llvm::ArrayRef<State>)> Visit) {
  if (Replayed.empty())
    replay();
  llvm::ArrayRef<State> States = ReplayedStates;
  for (const Step &S : Replayed)
    Visit(*S.At, States.slice(S.First, S.Count));
}

std::set<StorageID> StorageFlow::oneElementStorages() {
  std::set<StorageID> OneElement;
  forEachFact([&](const Fact &F, llvm::ArrayRef<State> Before) {
    if (F.Kind == FactKind::OneElement)
      for (const State &S : Before)
        for (const Held &H : Store.valueAt(S, F.Src).Storages)
          OneElement.insert(H.Storage);
  });
  return OneElement;
}

/// False when no path can go on: an assumption contradicts the state.
bool StorageFlow::transfer(State &S, const Fact &F) {
  switch (F.Kind) {
  case FactKind::AssumeDefined:
    return assumeDefined(S, F);
  case FactKind::AssumeAlive:
    return assumeAlive(S, F);
  case FactKind::AssumeGuard:
    return assumeGuard(S, F);
  default:
    apply(S, F);
    return true;
  }
}

bool StorageFlow::assumeGuard(State &S, const Fact &F) {
  const unsigned *Known = S.Guards.lookup(F.Guard);
  if ((Known && (*Known != 0) != F.Value) ||
      contradicts(Facts, S.Guards, F))
    return false;
  Store.setGuard(S, F.Guard, F.Value);
  return true;
}

void StorageFlow::apply(State &S, const Fact &F) {
  switch (F.Kind) {
  case FactKind::Create:
    Store.create(S, F);
    break;
  case FactKind::Assign:
    Store.assign(S, F);
    Store.forgetSharers(S, F);
    break;
  case FactKind::Null:
    Store.eraseSubtree(S, F.Dst);
    Store.set(S, F.Dst, Value());
    Store.forgetSharers(S, F);
    break;
  case FactKind::Forget:
    Store.forget(S, F.Dst);
    Store.forgetSharers(S, F);
    break;
  case FactKind::Remove:
    Store.removeReleased(S, F.Src);
    break;
  case FactKind::Kill:
    Store.eraseSubtree(S, F.Dst);
    break;
  case FactKind::Release:
    release(S, F, /*IsCertain=*/true);
    break;
  case FactKind::Unrelease:
    release(S, F, /*IsCertain=*/false);
    break;
  case FactKind::Retain:
    retain(S, F);
    break;
  case FactKind::Keep:
    keep(S, F);
    break;
  case FactKind::ScopeBegin:
    beginScope(S, F);
    break;
  case FactKind::ScopeEnd:
    endScope(S, F);
    break;
  case FactKind::ScopeForget:
    forgetScope(S, F);
    break;
  case FactKind::SessionForget:
    forgetSession(S, F);
    break;
  case FactKind::SetGuard:
    Store.setGuard(S, F.Guard, F.Value);
    break;
  case FactKind::DropGuards:
    Store.dropGuards(S, F.Variable);
    break;
  case FactKind::Note:
    note(S, F);
    break;
  case FactKind::Ask:
    ask(S, F);
    break;
  default:
    break; // what only the queries look at
  }
}

/// Remembers what is set while something is released: it may be the flag that
/// says so.
void StorageFlow::note(State &S, const Fact &F) {
  if (S.isAnyGone())
    Store.note(S, F.Variable);
}

void StorageFlow::ask(State &S, const Fact &F) {
  if (!S.Noted.contains(F.Variable) || !S.isAnyGone())
    return;
  llvm::SmallVector<std::pair<StorageID, StorageStatus>, 8> Asked;
  for (auto It = S.Statuses.begin(), End = S.Statuses.end(); It != End; ++It)
    if (It->second.isGone())
      Asked.push_back(*It);
  for (auto &[Storage, Status] : Asked) {
    Status.IsAskedFor = true;
    Store.setStatus(S, Storage, Status);
  }
}

/// Which of several storages a handle or an element names is not known.
static bool isAmbiguous(StateStore &Store, const FunctionFacts &Facts,
                        const State &S, PlaceID P) {
  if (!Store.isOwn(S, P) || Facts.Places.isOneOf(P))
    return true;
  if (!Facts.Places[P].IsHandle && !Facts.Places.isElementPath(P))
    return false;
  Value V = Store.valueAt(S, P);
  return V.Storages.size() > 1 ||
         (Facts.Places.isElementPath(P) && !V.Storages.empty() &&
          !Facts.Storages.isCreated(V.Storages.front().Storage));
}

void StorageFlow::release(State &S, const Fact &F, bool IsCertain) {
  IsCertain &= !isAmbiguous(Store, Facts, S, F.Src);
  bool IsImplicit = !S.Places.lookup(F.Src) && Store.isOwn(S, F.Src);
  std::vector<StorageID> Reached = Store.reachable(S, F.Src);
  // Parts that are read later take the state of the whole.
  if (IsImplicit)
    Store.set(S, F.Src, Store.valueAt(S, F.Src));
  for (StorageID Storage : Reached) {
    StorageStatus Status = S.status(Storage);
    if (Status.How == Life::Released || Status.How == Life::Ended)
      continue;
    Status.How = IsCertain ? Life::Released : Life::Unknown;
    Status.Where = IsCertain ? &F : nullptr;
    Store.setStatus(S, Storage, Status);
  }
}

void StorageFlow::retain(State &S, const Fact &F) {
  for (StorageID Storage : Store.reachable(S, F.Src)) {
    StorageStatus Status = S.status(Storage);
    Status.Owner = NoScope;
    Status.IsRetained = true;
    Store.setStatus(S, Storage, Status);
  }
}

void StorageFlow::keep(State &S, const Fact &F) {
  for (StorageID Storage : Store.reachable(S, F.Src)) {
    StorageStatus Status = S.status(Storage);
    Status.MaybeKept = true;
    Store.setStatus(S, Storage, Status);
  }
}

bool StorageFlow::assumeDefined(State &S, const Fact &F) {
  if (!Store.isOwn(S, F.Src) || Facts.Places.isElementPath(F.Src))
    return true;
  Value V = Store.valueAt(S, F.Src);
  if (F.Value)
    return !V.Storages.empty();
  bool IsDefined =
      !V.Storages.empty() && llvm::all_of(V.Storages, [&](const Held &H) {
        return Facts.Storages.isCreated(H.Storage) &&
               !Facts.Storages[H.Storage].IsAssumed;
      });
  if (IsDefined)
    return false;
  Store.set(S, F.Src, Value());
  return true;
}

bool StorageFlow::assumeAlive(State &S, const Fact &F) {
  Value V = Store.valueAt(S, F.Src);
  if (!F.Value || V.Storages.empty())
    return true;
  return !llvm::all_of(V.Storages, [&](const Held &H) {
    Life How = S.status(H.Storage).How;
    return How == Life::Released || How == Life::Ended;
  });
}

} // namespace tensorscope
