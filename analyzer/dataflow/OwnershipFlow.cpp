// SPDX-License-Identifier: Apache-2.0
#include "dataflow/OwnershipFlow.h"

#include "dataflow/GuardComparisons.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

StorageID OwnershipState::pointee(PlaceID P) const {
  auto It = Pointees.find(P);
  return It == Pointees.end() ? UnknownStorage : It->second;
}

OwnedThing OwnershipState::thing(StorageID S) const {
  auto It = Things.find(S);
  return It == Things.end() ? OwnedThing() : It->second;
}

bool OwnershipFlow::run() {
  if (Facts.IsIncomplete)
    return false;
  OwnershipState Initial;
  for (PlaceID Param : Facts.Params)
    if (Facts.Places[Param].Kind == PlaceKind::Variable &&
        static_cast<const ValueDecl *>(Facts.Places[Param].Key)
            ->getType()
            ->isPointerType()) {
      StorageID Given = Facts.Storages.initial(Param);
      Initial.Pointees[Param] = Given;
      Initial.Things[Given].Is = Duty::Lent;
    }
  In.begin(Facts.Blocks.size(), Facts.Entry, std::move(Initial));
  std::vector<BlockID> Todo{Facts.Entry};
  unsigned Steps = 0;
  while (!Todo.empty()) {
    BlockID B = Todo.back();
    Todo.pop_back();
    for (OwnershipState &S : In.takeFresh(B)) {
      Steps += Facts.Blocks[B].Facts.size() + 1;
      if (Steps > StepLimit)
        return false;
      if (!llvm::all_of(Facts.Blocks[B].Facts,
                        [&](const Fact &F) { return transfer(S, F); }))
        continue;
      for (BlockID To : Facts.Blocks[B].Successors)
        if (join(To, S))
          Todo.push_back(To);
    }
  }
  return true;
}

OwnershipState OwnershipFlow::merge(const OwnershipState &A,
                                    const OwnershipState &B) {
  OwnershipState M;
  for (const auto &[P, S] : A.Pointees)
    if (B.pointee(P) == S)
      M.Pointees[P] = S;
  for (const OwnershipState *Side : {&A, &B})
    for (const auto &[S, Thing] : Side->Things)
      M.Things[S] = A.thing(S) == B.thing(S) ? Thing : OwnedThing();
  for (const auto &[V, Note] : A.Outcomes)
    if (auto It = B.Outcomes.find(V);
        It != B.Outcomes.end() && It->second == Note)
      M.Outcomes[V] = Note;
  M.Guards = GuardFactory.getEmptyMap();
  for (auto It = A.Guards.begin(), End = A.Guards.end(); It != End; ++It)
    if (const unsigned *Other = B.Guards.lookup(It->first);
        Other && *Other == It->second)
      M.Guards = GuardFactory.add(M.Guards, It->first, It->second);
  return M;
}

bool OwnershipFlow::join(BlockID To, const OwnershipState &S) {
  return In.join(
      To, S,
      [&](llvm::ArrayRef<OwnershipState> Others, OwnershipState Merged) {
        for (const OwnershipState &Other : Others)
          Merged = merge(Other, Merged);
        return Merged;
      });
}

void OwnershipFlow::forEachFact(
    llvm::function_ref<void(const Fact &, llvm::ArrayRef<OwnershipState>)>
        Visit) {
  for (BlockID B = 0; B < Facts.Blocks.size(); ++B) {
    std::vector<OwnershipState> States = In.at(B);
    for (const Fact &F : Facts.Blocks[B].Facts) {
      if (States.empty())
        break;
      Visit(F, States);
      llvm::erase_if(States,
                     [&](OwnershipState &S) { return !transfer(S, F); });
    }
  }
}

bool OwnershipFlow::isFollowed(PlaceID P) const {
  return !Facts.Unfollowed.count(Facts.Places.root(P));
}

/// A temporary holds its value for its own statement alone.
bool OwnershipFlow::isHeldElsewhere(const OwnershipState &S, StorageID Thing,
                                    PlaceID But) const {
  return llvm::any_of(S.Pointees, [&](const auto &Entry) {
    return Entry.second == Thing && Entry.first != But &&
           Facts.Places[Entry.first].Kind != PlaceKind::Temporary;
  });
}

void OwnershipFlow::lose(const OwnershipState &S, StorageID Thing,
                         const Fact &By) {
  OwnedThing What = S.thing(Thing);
  auto Made = Acquisitions.find(Thing);
  bool IsMemory = Made != Acquisitions.end() && Made->second->Value;
  if (What.Is != Duty::Owed || (IsMemory && !What.Wrapped))
    return;
  Loss &L = Losses[Thing];
  // A way out says more than the next iteration.
  if (!L.By || (By.Kind == FactKind::Leave && L.By->Kind != FactKind::Leave))
    L = {&By, What.Wrapped};
}

/// \p P is about to be set.
void OwnershipFlow::drop(OwnershipState &S, PlaceID P, const Fact &By) {
  StorageID Old = S.pointee(P);
  if (Facts.Places[P].Kind == PlaceKind::Temporary ||
      isHeldElsewhere(S, Old, P) || S.thing(Old).Is != Duty::Owed)
    return;
  lose(S, Old, By);
  S.Things.erase(Old);
}

void OwnershipFlow::point(OwnershipState &S, PlaceID P, StorageID To,
                          const Fact &By) {
  if (S.pointee(P) != To)
    drop(S, P, By);
  if (To == UnknownStorage)
    S.Pointees.erase(P);
  else
    S.Pointees[P] = To;
  if (!isFollowed(P) && S.Things.count(To))
    S.Things[To] = OwnedThing();
}

/// `release()` of an object gives up what it had taken: then whatever pointed to
/// that points to the result of \p Release.
static void giveUpTaken(OwnershipState &S, const Fact &Release) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Release.Callee);
  if (!Method || !Method->getDeclName().isIdentifier() ||
      Method->getName() != "release")
    return;
  llvm::SmallVector<StorageID, 2> Taken;
  for (auto &[Thing, What] : S.Things)
    if (What.Is == Duty::Taken) {
      Taken.push_back(Thing);
      What = OwnedThing();
    }
  if (Taken.size() != 1)
    return;
  for (auto &[P, To] : S.Pointees)
    if (To == Taken.front())
      To = Release.Storage;
}

void OwnershipFlow::acquire(OwnershipState &S, const Fact &F) {
  Acquisitions[F.Storage] = &F;
  if (isHeldElsewhere(S, F.Storage, F.Dst)) {
    // What an earlier iteration made is still in use, under another name.
    for (auto It = S.Pointees.begin(); It != S.Pointees.end();)
      It = It->second == F.Storage ? S.Pointees.erase(It) : std::next(It);
  } else if (S.thing(F.Storage).Is == Duty::Owed) {
    lose(S, F.Storage, F);
  }
  if (S.pointee(F.Dst) != F.Storage)
    drop(S, F.Dst, F);
  OwnedThing &Made = S.Things[F.Storage] = OwnedThing();
  Made.Is = isFollowed(F.Dst) ? Duty::Owed : Duty::Unknown;
  Made.IsSure = isa<CXXNewExpr>(F.At);
  S.Pointees[F.Dst] = F.Storage;
  giveUpTaken(S, F);
}

void OwnershipFlow::setDuty(OwnershipState &S, PlaceID P, Duty Is,
                            const Fact *Where) {
  StorageID To = S.pointee(P);
  auto It = S.Things.find(To);
  if (It == S.Things.end() || It->second.Is == Duty::Unknown ||
      (Is == It->second.Is && (Is == Duty::Done || Is == Duty::Taken)))
    return;
  It->second.Is = Is;
  It->second.Where = Where;
}

/// Something is freed, such as `t.data_ptr()`: it may be any memory that a
/// tensor was put on.
void OwnershipFlow::freeUnknown(OwnershipState &S) {
  for (auto &[Thing, What] : S.Things)
    if (What.Wrapped && What.Is == Duty::Owed)
      What = OwnedThing();
}

/// The call did not make what it was to make, or it did.
void OwnershipFlow::settle(OwnershipState &S, const Stmt *Call, bool Failed,
                           bool IsCertain) {
  for (const auto &[Thing, Made] : Acquisitions) {
    auto It = S.Things.find(Thing);
    if (Made->At != Call || It == S.Things.end() || It->second.Is != Duty::Owed)
      continue;
    if (!IsCertain)
      It->second = OwnedThing();
    else if (Failed)
      S.Things.erase(It);
    else
      It->second.IsSure = true;
  }
}

void OwnershipFlow::assumeOutcome(OwnershipState &S, const Fact &F) {
  if (!F.Variable) {
    settle(S, F.At, F.Value, !F.IsWeak);
    return;
  }
  auto It = S.Outcomes.find(F.Variable);
  if (It == S.Outcomes.end())
    return;
  settle(S, It->second->At, It->second->Value == F.Value,
         !F.IsWeak && !It->second->IsWeak);
}

bool OwnershipFlow::assumeNull(OwnershipState &S, const Fact &F) {
  StorageID To = S.pointee(F.Src);
  auto It = S.Things.find(To);
  auto Made = Acquisitions.find(To);
  bool IsNew = Made != Acquisitions.end() && isa<CXXNewExpr>(Made->second->At);
  if (F.IsWeak) {
    // It may ask whether the call that made it succeeded.
    if (It != S.Things.end() && !It->second.IsSure &&
        It->second.Is == Duty::Owed)
      It->second = OwnedThing();
    return true;
  }
  if (!F.Value)
    return To != NullPointee;
  if (IsNew && It != S.Things.end() && It->second.Is == Duty::Owed)
    return false;
  if (It != S.Things.end())
    S.Things.erase(It);
  S.Pointees[F.Src] = NullPointee;
  return true;
}

/// A check that failed, by a macro of a library: the program is wrong anyway.
static bool isLibraryCheck(const Fact &F, const ASTContext &Ctx) {
  const auto *Throw = dyn_cast_or_null<CXXThrowExpr>(F.At);
  const SourceManager &SM = Ctx.getSourceManager();
  return Throw && Throw->getThrowLoc().isMacroID() &&
         SM.isInSystemHeader(SM.getSpellingLoc(Throw->getThrowLoc()));
}

void OwnershipFlow::leave(OwnershipState &S, const Fact &F) {
  if (isLibraryCheck(F, Facts.Function->getASTContext()))
    return;
  for (const auto &[Thing, What] : S.Things)
    lose(S, Thing, F);
}

bool throwsItself(const Fact &F) {
  const auto *Call = dyn_cast_or_null<CallExpr>(F.At);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  const DeclContext *Outer = Callee ? Callee->getDeclContext() : nullptr;
  while (Outer && !Outer->isTranslationUnit()) {
    const auto *Namespace = dyn_cast<NamespaceDecl>(Outer);
    if (Namespace &&
        (Namespace->getName() == "at" || Namespace->getName() == "torch"))
      return true;
    Outer = Outer->getParent();
  }
  return false;
}

bool OwnershipFlow::transfer(OwnershipState &S, const Fact &F) {
  switch (F.Kind) {
  case FactKind::Acquire:
    acquire(S, F);
    return true;
  case FactKind::GiveBack:
    if (F.Src == NoPlace || S.pointee(F.Src) == UnknownStorage)
      freeUnknown(S);
    else
      setDuty(S, F.Src, Duty::Done, &F);
    return true;
  case FactKind::GiveAway:
    if (F.Value) {
      setDuty(S, F.Src, Duty::Taken, &F);
      return true;
    }
    [[fallthrough]];
  case FactKind::ReturnOwner:
  case FactKind::StoreOwner:
    if (F.Src != NoPlace)
      setDuty(S, F.Src, Duty::Unknown, nullptr);
    return true;
  case FactKind::PointAt:
    point(S, F.Dst, F.Src == NoPlace ? UnknownStorage : S.pointee(F.Src), F);
    return true;
  case FactKind::PointNowhere:
    point(S, F.Dst, NullPointee, F);
    return true;
  case FactKind::WrapMemory:
    if (auto It = S.Things.find(S.pointee(F.Src));
        It != S.Things.end() && !(F.Value && It->second.Wrapped))
      It->second.Wrapped = &F;
    return true;
  case FactKind::NoteOutcome:
    S.Outcomes.erase(F.Variable);
    if (F.At)
      S.Outcomes[F.Variable] = &F;
    return true;
  case FactKind::AssumeOutcome:
    assumeOutcome(S, F);
    return true;
  case FactKind::AssumeNull:
    return assumeNull(S, F);
  case FactKind::CatchFrom:
    for (auto &[Thing, What] : S.Things) {
      // Whether it was freed, or taken, before that threw is not known.
      bool IsByThrower = What.Where && What.Where->At == F.At;
      if (IsByThrower || (What.Is == Duty::Owed && !throwsItself(F)))
        What = OwnedThing();
    }
    return true;
  case FactKind::Leave:
    leave(S, F);
    return true;
  case FactKind::AssumeGuard: {
    const unsigned *Known = S.Guards.lookup(F.Guard);
    if ((Known && (*Known != 0) != F.Value) || contradicts(Facts, S.Guards, F))
      return false;
    S.Guards = GuardFactory.add(S.Guards, F.Guard, F.Value);
    return true;
  }
  case FactKind::SetGuard:
    S.Guards = GuardFactory.add(S.Guards, F.Guard, F.Value);
    return true;
  case FactKind::DropGuards: {
    llvm::SmallVector<GuardID, 4> Dropped;
    for (auto It = S.Guards.begin(), End = S.Guards.end(); It != End; ++It)
      if (llvm::is_contained(Facts.GuardVariables[It->first], F.Variable))
        Dropped.push_back(It->first);
    for (GuardID G : Dropped)
      S.Guards = GuardFactory.remove(S.Guards, G);
    return true;
  }
  default:
    return true;
  }
}

std::optional<BlockID> OwnershipFlow::blockOf(const Fact &F) const {
  for (BlockID B = 0; B < Facts.Blocks.size(); ++B) {
    const std::vector<Fact> &In = Facts.Blocks[B].Facts;
    if (!In.empty() && &F >= &In.front() && &F <= &In.back())
      return B;
  }
  return std::nullopt;
}

bool OwnershipFlow::reaches(const Fact &From, const Fact &To) const {
  std::optional<BlockID> Start = blockOf(From), End = blockOf(To);
  if (!Start || !End || (*Start == *End && &From < &To))
    return true;
  std::vector<bool> Seen(Facts.Blocks.size());
  std::vector<BlockID> Todo(Facts.Blocks[*Start].Successors.begin(),
                            Facts.Blocks[*Start].Successors.end());
  while (!Todo.empty()) {
    BlockID B = Todo.back();
    Todo.pop_back();
    if (B == *End)
      return true;
    if (Seen[B])
      continue;
    Seen[B] = true;
    Todo.insert(Todo.end(), Facts.Blocks[B].Successors.begin(),
                Facts.Blocks[B].Successors.end());
  }
  return false;
}

bool OwnershipFlow::reachesAlways(const Fact &From, const Fact &To) const {
  std::optional<BlockID> Start = blockOf(From), End = blockOf(To);
  if (!Start || !End)
    return false;
  if (*Start == *End)
    return &From < &To;
  std::vector<bool> Seen(Facts.Blocks.size());
  Seen[*End] = true;
  std::vector<BlockID> Todo{*Start};
  while (!Todo.empty()) {
    BlockID B = Todo.back();
    Todo.pop_back();
    if (Seen[B])
      continue;
    Seen[B] = true;
    if (Facts.Blocks[B].Successors.empty())
      return false;
    Todo.insert(Todo.end(), Facts.Blocks[B].Successors.begin(),
                Facts.Blocks[B].Successors.end());
  }
  return true;
}

} // namespace tensorscope
