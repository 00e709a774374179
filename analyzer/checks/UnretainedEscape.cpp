// SPDX-License-Identifier: Apache-2.0
//
// Finds tensors stored where they outlive the scope that releases them.
// User page: docs/checks/unretained-escape.md
#include "checks/Check.h"

#include "dataflow/Reads.h"
#include "utils/AstUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

/// A store whose tensors are alive in an outer place when their scope ends.
struct Escape {
  PlaceID Place = NoPlace;
  StorageID Storage = UnknownStorage;
  ScopeID Scope = NoScope;
  unsigned Count = 0;
};
using Escapes = llvm::MapVector<const Fact *, Escape>;

class EscapeQuery {
public:
  explicit EscapeQuery(CheckInput &Input)
      : Input(Input), Facts(Input.Flow.facts()), AllReads(Facts) {
    if (!retainsAnything())
      return;
    Input.Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<State> Before) {
      if (F.Kind == FactKind::Retain)
        for (const State &S : Before)
          noteRetainedElements(S, F.Src);
    });
  }

  void collect(const State &S, const Fact &End, Escapes &Out) {
    Ended = Input.Flow.endedBy(S, End);
    if (Ended == NoScope || endsWithTheProgram())
      return;
    std::vector<StorageID> Result;
    if (End.Src != NoPlace)
      Result = Input.Flow.store().reachable(S, End.Src);
    Escapes Here;
    for (auto It = S.Places.begin(), E = S.Places.end(); It != E; ++It)
      if (isStoredIn(It->second) && outlives(It->first, End, S))
        collectPlace(S, Result, It->first, It->second, Here);
    for (auto &[Store, Found] : Here) {
      Escape &Total = Out[Store];
      Found.Count = Total.Count + 1;
      Total = Found;
    }
  }

  /// On some path a loop retained the elements: where it ran not once, there
  /// are none.
  bool isRetainedInALoop(const Escape &E, llvm::ArrayRef<State> Before) const {
    return Facts.Places.isElementPath(E.Place) &&
           llvm::any_of(Before, [&](const State &S) {
             return S.status(E.Storage).IsRetained;
           });
  }

private:
  bool retainsAnything() const {
    return llvm::any_of(Facts.Blocks, [](const FactBlock &B) {
      return llvm::any_of(B.Facts, [](const Fact &F) {
        return F.Kind == FactKind::Retain;
      });
    });
  }

  /// A loop that retains elements is taken to retain all there are: that it
  /// runs not once is the same as that there are none.
  void noteRetainedElements(const State &S, PlaceID P) {
    bool IsElement = Facts.Places.isElementPath(P);
    for (StorageID Storage : Input.Flow.store().reachable(S, P)) {
      const auto &Found = Facts.Storages[Storage];
      if (Found.Kind == StorageKind::Sample)
        for (StorageID Of : Input.Flow.store().reachable(S, Found.Place))
          RetainedElements.insert(Of);
      else if (IsElement)
        RetainedElements.insert(Storage);
    }
  }

  /// Nothing of the program runs after a scope that lasts as long as `main`.
  bool endsWithTheProgram() const {
    return Facts.Function->isMain() &&
           Facts.Scopes[Ended].EndLoc == Facts.Function->getEndLoc();
  }

  static bool isStoredIn(const Value &V) {
    return llvm::any_of(V.Storages, [](const Held &H) { return H.Via; });
  }

  /// Lives on after the scope, and may be looked at. The last question is asked
  /// last: it walks over the function.
  bool outlives(PlaceID P, const Fact &End, const State &S) const {
    PlaceID Root = Facts.Places.root(P);
    const PlaceInfo &R = Facts.Places[Root];
    if (!R.IsOuter && R.Depth >= Facts.Scopes[Ended].Depth)
      return false;
    return !Facts.Places.isAdopted(P) &&
           (!AllReads.isOwnVariable(Root) ||
            AllReads.isReadAfter(End, Root, S, Input.Flow));
  }

  bool escapes(const State &S, llvm::ArrayRef<StorageID> Result,
               StorageID Storage, const Fact *Via) {
    StorageStatus Status = S.status(Storage);
    if (Status.Owner != Ended || Status.How != Life::Live ||
        llvm::is_contained(Result, Storage) ||
        RetainedElements.count(Storage))
      return false;
    if (Status.MaybeKept || Facts.Storages[Storage].IsAssumed) {
      Input.Silenced.insert(locationOf(Via->At));
      return false;
    }
    return true;
  }

  static bool isGone(const State &S, const Held &H) {
    return H.Storage != UnknownStorage &&
           S.status(H.Storage).How == Life::Ended;
  }

  /// All that one store brought must be owned by the scope: a value that may
  /// be older is not certain to be released. What it brought in an earlier
  /// iteration is gone already.
  void collectPlace(const State &S, llvm::ArrayRef<StorageID> Result, PlaceID P,
                    const Value &V, Escapes &Here) {
    llvm::SmallDenseMap<const Fact *, bool> IsCertain;
    for (const Held &H : V.Storages) {
      if (isGone(S, H))
        continue;
      bool Escapes = H.Storage != UnknownStorage && H.Via &&
                     escapes(S, Result, H.Storage, H.Via);
      auto [It, IsNew] = IsCertain.try_emplace(H.Via, Escapes);
      It->second &= Escapes;
    }
    for (const Held &H : V.Storages)
      if (!isGone(S, H) && IsCertain.lookup(H.Via))
        Here.insert({H.Via, Escape{P, H.Storage, Ended, 0}});
  }

  CheckInput &Input;
  const FunctionFacts &Facts;
  const Reads AllReads;
  std::set<StorageID> RetainedElements;
  ScopeID Ended = NoScope;
};

/// How to keep what a return statement gives out of a guard's scope.
std::string remedyFor(const ReturnStmt *Return, const ScopeInfo &Scope,
                             const ASTContext &Ctx) {
  std::string Value = sourceText(Return->getRetValue(), Ctx);
  // A list in braces has a type only where it is returned.
  if (llvm::StringRef(Value).ends_with("...") ||
      llvm::StringRef(Value).starts_with("{"))
    Value = "...";
  const auto *Class =
      Scope.Guard ? Scope.Guard->getType()->getAsCXXRecordDecl() : nullptr;
  bool HasRetain = Class && llvm::any_of(Class->decls(), [](const Decl *D) {
    const auto *Named = dyn_cast<NamedDecl>(D);
    return Named && Named->getDeclName().isIdentifier() &&
           Named->getName() == "retain";
  });
  return (HasRetain ? Scope.Guard->getName().str() + "." : "tensorscope::") +
         "retain(" + Value + ")";
}

FlowFinding makeFinding(const Fact *Store, const Escape &Where,
                               const Fact &End, const FunctionFacts &Facts,
                               const ASTContext &Ctx) {
  FlowFinding F;
  F.Loc = locationOf(Store->At);
  F.Holder = Facts.Places.name(Where.Place, Ctx);
  const ScopeInfo &Scope = Facts.Scopes[Where.Scope];
  if (const auto *Return = dyn_cast<ReturnStmt>(Store->At))
    F.Remedy = remedyFor(Return, Scope, Ctx);
  addCreation(F, Facts, Where.Storage);
  F.Steps.push_back({Scope.Form == ScopeForm::Session
                         ? FlowStepKind::SessionEnded
                         : FlowStepKind::ScopeEnded,
                     endLocation(Facts, End), ""});
  return F;
}

} // namespace

std::vector<FlowFinding> findUnretainedEscapes(CheckInput &Input) {
  std::vector<FlowFinding> Findings;
  FunctionFacts &Facts = Input.Flow.facts();
  EscapeQuery Query(Input);
  Input.Flow.forEachFact([&](const Fact &End, llvm::ArrayRef<State> Before) {
    if (End.Kind != FactKind::ScopeEnd && End.Kind != FactKind::ScopeBegin)
      return;
    Escapes Found;
    for (const State &S : Before)
      Query.collect(S, End, Found);
    for (const auto &[Store, Where] : Found) {
      if (Query.isRetainedInALoop(Where, Before)) {
        Input.Silenced.insert(locationOf(Store->At));
        continue;
      }
      Findings.push_back(makeFinding(Store, Where, End, Facts, Input.Ctx));
      Findings.back().IsMaybe = Where.Count < Before.size();
    }
  });
  return Findings;
}

Diagnostic describeUnretainedEscape(const FlowFinding &F) {
  bool IsSession = F.Steps.back().Kind == FlowStepKind::SessionEnded;
  std::string Region = IsSession ? "session" : "scope";
  std::string Fate = ": it is released when the " + Region + " ends; ";
  if (!F.Remedy.empty())
    return makeDiagnostic(F, "tensor made in this " + Region +
                                 " is returned while the " + Region +
                                 " is open" + Fate + "return '" + F.Remedy +
                                 "'");
  return makeDiagnostic(
      F, "tensor made in this " + Region + " is stored in '" + F.Holder +
             "', which outlives the " + Region + Fate +
             (IsSession ? "'retain' it"
                        : "'retain' it or return it from the scope"));
}

} // namespace tensorscope
