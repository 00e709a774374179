// SPDX-License-Identifier: Apache-2.0
//
// Finds scopes whose result carries tensors that nobody takes.
// User page: docs/checks/discarded-scope-result.md
#include "checks/Check.h"

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

class DiscardQuery {
public:
  explicit DiscardQuery(CheckInput &Input)
      : Input(Input), Facts(Input.Flow.facts()) {
    for (const FactBlock &B : Facts.Blocks)
      for (const Fact &F : B.Facts)
        if (F.Kind == FactKind::Read && isa_and_nonnull<LambdaExpr>(F.At))
          Captured.insert(F.Src);
  }

  /// Everything that \p P reaches came out of a scope as its result, in every
  /// state; gives one of the storages.
  std::optional<StorageID> scopeResult(llvm::ArrayRef<State> States,
                                       PlaceID P) {
    std::optional<StorageID> Found;
    for (const State &S : States) {
      auto Reached = Input.Flow.store().reachable(S, P);
      // On this path the result is empty.
      if (Reached.empty() && !Input.Flow.store().valueAt(S, P).isUnknown())
        continue;
      bool All = !Reached.empty() && llvm::all_of(Reached, [&](StorageID R) {
        StorageStatus Status = S.status(R);
        return Status.IsScopeResult && !Status.IsRetained &&
               Status.How == Life::Live;
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

  /// A variable of this function that nobody else can see.
  bool isOwnVariable(PlaceID Root) const {
    const PlaceInfo &P = Facts.Places[Root];
    return P.Kind == PlaceKind::Variable && !P.IsOuter &&
           !Captured.contains(Root);
  }

  bool isReadAfter(BlockID B, unsigned Index, PlaceID Root) const {
    llvm::DenseSet<BlockID> Seen;
    llvm::SmallVector<std::pair<BlockID, unsigned>, 8> Todo{{B, Index + 1}};
    while (!Todo.empty()) {
      auto [Block, From] = Todo.pop_back_val();
      bool IsOverwritten = false;
      const std::vector<Fact> &All = Facts.Blocks[Block].Facts;
      for (unsigned I = From; I < All.size() && !IsOverwritten; ++I) {
        if (All[I].Kind == FactKind::Read && All[I].Src == Root)
          return true;
        IsOverwritten = overwrites(All[I], Root);
      }
      if (!IsOverwritten)
        for (BlockID Next : Facts.Blocks[Block].Successors)
          if (Seen.insert(Next).second)
            Todo.push_back({Next, 0});
    }
    return false;
  }

private:
  static bool overwrites(const Fact &F, PlaceID Root) {
    return F.Dst == Root && ((F.Kind == FactKind::Assign && !F.IsWeak) ||
                             F.Kind == FactKind::Null ||
                             F.Kind == FactKind::Kill);
  }

  CheckInput &Input;
  const FunctionFacts &Facts;
  llvm::DenseSet<PlaceID> Captured;
};

/// Where each fact stands, for walks that start at one.
llvm::DenseMap<const Fact *, std::pair<BlockID, unsigned>>
factPositions(const FunctionFacts &Facts) {
  llvm::DenseMap<const Fact *, std::pair<BlockID, unsigned>> Positions;
  for (BlockID B = 0; B < Facts.Blocks.size(); ++B)
    for (unsigned I = 0; I < Facts.Blocks[B].Facts.size(); ++I)
      Positions[&Facts.Blocks[B].Facts[I]] = {B, I};
  return Positions;
}

} // namespace

std::vector<FlowFinding> findDiscardedScopeResults(CheckInput &Input) {
  std::vector<FlowFinding> Findings;
  FunctionFacts &Facts = Input.Flow.facts();
  DiscardQuery Query(Input);
  auto Positions = factPositions(Facts);
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
    PlaceID Root = Facts.Places.root(F.Dst);
    if (!Query.isOwnVariable(Root) || (!F.IsWeak && F.Dst != Root))
      return;
    auto S = Query.scopeResult(Before, F.Sources[0]);
    if (!S)
      return;
    auto [B, I] = Positions[&F];
    if (!Query.isReadAfter(B, I, Root))
      Report(F, *S, Facts.Places.name(Root, Input.Ctx));
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
