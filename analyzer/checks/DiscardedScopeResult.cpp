// SPDX-License-Identifier: Apache-2.0
//
// Finds scopes whose result carries tensors that nobody takes.
// User page: docs/checks/discarded-scope-result.md
#include "checks/Check.h"

#include "dataflow/Reads.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

class DiscardQuery {
public:
  explicit DiscardQuery(CheckInput &Input)
      : Input(Input), Facts(Input.Flow.facts()), AllReads(Facts) {}

  /// Everything that \p P reaches came out of a scope as its result, in every
  /// state, and only \p Taker holds it; gives one of the storages.
  std::optional<StorageID> scopeResult(llvm::ArrayRef<State> States, PlaceID P,
                                       PlaceID Taker = NoPlace) {
    std::optional<StorageID> Found;
    for (const State &S : States) {
      auto Reached = Input.Flow.store().reachable(S, P);
      // On this path the result is empty.
      if (Reached.empty() && !Input.Flow.store().valueAt(S, P).isUnknown())
        continue;
      bool All = !Reached.empty() && llvm::all_of(Reached, [&](StorageID R) {
        StorageStatus Status = S.status(R);
        return Status.IsScopeResult && !Status.IsRetained &&
               Status.How == Life::Live && !isHeld(S, R, Taker);
      });
      if (!All)
        return std::nullopt;
      Found = Reached.front();
    }
    return Found;
  }

  bool isTemporary(PlaceID P) const {
    PlaceKind Root = Facts.Places[Facts.Places.root(P)].Kind;
    return Root == PlaceKind::Temporary || Root == PlaceKind::Return;
  }

  /// A variable of this function that nobody else can see, and that is meant to
  /// be read.
  bool isOwnVariable(PlaceID Root) const {
    return AllReads.isOwnVariable(Root) && !Facts.Places[Root].IsExposed &&
           !static_cast<const ValueDecl *>(Facts.Places[Root].Key)
                ->hasAttr<UnusedAttr>();
  }

  /// The result \p F stores goes into variables that nobody reads.
  bool isNeverRead(const Fact &F, const State &Before, std::string &Names) {
    auto [All, Index] = AllReads.position(F);
    // A tuple that is assigned through references goes into several.
    while (Index > 0 && isBeside((*All)[Index - 1], F))
      --Index;
    for (; Index < All->size() && isBeside((*All)[Index], F); ++Index) {
      const Fact &Part = (*All)[Index];
      if (Part.Kind != FactKind::Assign)
        return false;
      PlaceID Root = Facts.Places.root(Part.Dst);
      if (!isOwnVariable(Root) || (!Part.IsWeak && Part.Dst != Root) ||
          mayWriteElsewhere(Part, Root) || AllReads.isReadAfter(Part, Root))
        return false;
      addNames(Part, Before, Names);
    }
    return true;
  }

private:
  /// Writing through a pointer or a reference is no writing to the variable;
  /// its declaration is.
  bool mayWriteElsewhere(const Fact &Store, PlaceID Root) const {
    return Facts.Places[Root].IsShared && !isa<DeclStmt>(Store.At);
  }

  /// Somebody else has it: the value is one more handle to it, as that of
  /// `y[0] = 3` and `y.view({-1})` is.
  bool isHeld(const State &S, StorageID Storage, PlaceID Taker) const {
    for (auto It = S.Places.begin(), End = S.Places.end(); It != End; ++It) {
      PlaceID Root = Facts.Places.root(It->first);
      if (Root != Taker && !isTemporary(Root) &&
          llvm::any_of(It->second.Storages, [&](const Held &H) {
            return H.Storage == Storage;
          }))
        return true;
    }
    return false;
  }

  /// Of a structured binding, the names that take tensors.
  void addNames(const Fact &Store, const State &Before, std::string &Names) {
    PlaceTable &Places = Facts.Places;
    auto Add = [&](PlaceID P) {
      Names += (Names.empty() ? "" : ", ") + Places.name(P, Input.Ctx);
    };
    PlaceID Root = Places.root(Store.Dst);
    const auto *V = static_cast<const ValueDecl *>(Places[Root].Key);
    size_t Known = Names.size();
    if (isa<DecompositionDecl>(V))
      for (PlaceID Part : llvm::SmallVector<PlaceID, 4>(
               Places.children(Store.Sources[0])))
        if (!Input.Flow.store().reachable(Before, Part).empty())
          Add(Places.rebase(Part, Store.Sources[0], Root));
    if (Names.size() == Known)
      Add(Root);
  }

  static bool isBeside(const Fact &A, const Fact &B) {
    return A.At == B.At && A.Statement == B.Statement &&
           (A.Kind == FactKind::Assign || A.Kind == FactKind::Keep);
  }

  CheckInput &Input;
  FunctionFacts &Facts;
  const Reads AllReads;
};

} // namespace

std::vector<FlowFinding> findDiscardedScopeResults(CheckInput &Input) {
  std::vector<FlowFinding> Findings;
  FunctionFacts &Facts = Input.Flow.facts();
  DiscardQuery Query(Input);
  auto Report = [&](const Fact &At, StorageID S, std::string Holder) {
    FlowFinding F;
    F.Loc = At.At->getBeginLoc();
    F.Holder = std::move(Holder);
    F.IsInLoop = At.Loop != NoLoop;
    addCreation(F, Facts, S);
    Findings.push_back(std::move(F));
  };
  Input.Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<State> Before) {
    if (F.Kind == FactKind::Discard && Query.isTemporary(F.Src)) {
      if (auto S = Query.scopeResult(Before, F.Src))
        Report(F, *S, "");
      return;
    }
    if (F.Kind != FactKind::Assign || F.Sources.size() != 1 ||
        F.Sources[0] == NoPlace || !Query.isTemporary(F.Sources[0]))
      return;
    std::string Names;
    if (auto S = Query.scopeResult(Before, F.Sources[0],
                                   Facts.Places.root(F.Dst)))
      if (Query.isNeverRead(F, Before.front(), Names))
        Report(F, *S, Names);
  });
  return Findings;
}

Diagnostic describeDiscardedScopeResult(const FlowFinding &F) {
  std::string When = F.IsInLoop ? " in each iteration" : "";
  std::string Remedy = "; end the scope with a number, or with nothing";
  if (F.Holder.empty())
    return makeDiagnostic(
        F, "the result of this scope carries tensors and is discarded: they "
           "are kept past the scope for nobody" + When + Remedy);
  return makeDiagnostic(
      F, "the result of this scope is put in '" + F.Holder +
             "', which is never read: its tensors are kept past the scope for "
             "nobody" + When + Remedy);
}

} // namespace tensorscope
