// SPDX-License-Identifier: Apache-2.0
//
// Finds loops that create tensors with no scope open.
// User page: docs/checks/unscoped-loop.md
#include "checks/Check.h"

#include "dataflow/Repetition.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

/// A loop's creations with no scope open, and what its iterations leave behind.
struct LoopFacts {
  std::vector<const Fact *> Creations;
  /// Tensors that are added to something that outlives the loop.
  std::set<StorageID> Kept;
  /// Statements that make one of them.
  llvm::DenseSet<unsigned> KeepingStatements;
  /// Blocks that make what is kept, and that no iteration with it in hand
  /// reaches: `if (!mask.defined()) mask = torch::ones({8});`.
  std::set<BlockID> BlocksRunOnce;
  bool Repeats = false;
};

class LoopQuery {
public:
  explicit LoopQuery(CheckInput &Input)
      : Input(Input), Facts(Input.Flow.facts()),
        OneElement(Input.Flow.oneElementStorages()) {}

  void visit(const Fact &F, llvm::ArrayRef<State> Before) {
    if (F.Kind == FactKind::Use || F.Kind == FactKind::UseDeep)
      noteUse(F, Before);
    // What a callee's scope gives out is not made here.
    bool IsCreation = F.Kind == FactKind::CreateInside ||
                      (F.Kind == FactKind::Create && !F.IsMadeInScope &&
                       !Facts.Storages[F.Storage].IsAssumed);
    if (IsCreation) {
      LoopID Loop = countedLoop(F);
      bool Unscoped = llvm::none_of(
          Before, [](const State &S) { return S.isInScope(); });
      if (Loop != NoLoop && Unscoped) {
        Loops[Loop].Creations.push_back(&F);
        if (F.Kind == FactKind::Create) {
          StatementOf[F.Storage] = F.Statement;
          if (llvm::none_of(Before, [&](const State &S) {
                return S.Statuses.contains(F.Storage);
              }))
            MadeFirst[F.Storage] = Repeating.blockOf(F);
        }
      }
    } else if (F.Kind == FactKind::LoopBack) {
      Loops[F.Loop].Repeats = true;
      for (const State &S : Before)
        collectKept(S, F.Loop);
    }
  }

  std::vector<FlowFinding> findings() {
    std::vector<FlowFinding> Findings;
    for (const auto &[Loop, L] : Loops) {
      auto Lost = llvm::find_if(L.Creations, [&](const Fact *F) {
        return !L.Kept.count(F->Storage) && !OneElement.count(F->Storage) &&
               !isStepToKept(L, *F) &&
               !L.BlocksRunOnce.count(Repeating.blockOf(*F));
      });
      if (!L.Repeats || Lost == L.Creations.end())
        continue;
      FlowFinding F;
      F.Loc = Facts.Loops[Loop].Loc;
      F.Steps.push_back({FlowStepKind::Created, locationOf((*Lost)->At),
                         calleeName(**Lost)});
      Findings.push_back(std::move(F));
    }
    return Findings;
  }

private:
  /// The innermost loop that does not run just a few times, and that goes on
  /// after the creation.
  LoopID countedLoop(const Fact &Creation) {
    LoopID L = Creation.Loop;
    while (L != NoLoop &&
           (Facts.Loops[L].IsSmall || !Repeating.goesOn(L, Creation)))
      L = Facts.Loops[L].Outer;
    return L;
  }

  /// What is made out of nothing that was there before, on the way to what is
  /// kept, belongs to it: `weights.push_back(torch::randn({8, 8}) * 0.1)`. So
  /// does what the function that made it dropped.
  bool isStepToKept(const LoopFacts &L, const Fact &Creation) const {
    return L.KeepingStatements.contains(Creation.Statement) &&
           (Creation.Kind == FactKind::CreateInside ||
            !ReadsOlder.contains(Creation.At));
  }

  /// Remembers the calls that look at tensors which no iteration made.
  void noteUse(const Fact &Use, llvm::ArrayRef<State> Before) {
    StateStore &Store = Input.Flow.store();
    for (const State &S : Before)
      for (StorageID Used : Store.reachable(S, Use.Src))
        if (!StatementOf.count(Used))
          ReadsOlder.insert(Use.At);
  }

  /// What the end of an iteration finds in variables that are older than the
  /// loop.
  void collectKept(const State &S, LoopID Loop) {
    const SourceManager &SM = Input.Ctx.getSourceManager();
    for (auto It = S.Places.begin(), End = S.Places.end(); It != End; ++It) {
      const PlaceInfo &Root = Facts.Places[Facts.Places.root(It->first)];
      const auto *Var = Root.Kind == PlaceKind::Variable
                            ? static_cast<const ValueDecl *>(Root.Key)
                            : nullptr;
      if (Var && !Root.IsOuter &&
          !SM.isBeforeInTranslationUnit(Var->getLocation(),
                                        Facts.Loops[Loop].Loc))
        continue;
      for (const Held &H : It->second.Storages)
        noteKept(Loops[Loop], H.Storage,
                 Facts.Places.isElementPath(It->first));
    }
  }

  void noteKept(LoopFacts &L, StorageID Storage, bool IsElement) {
    auto Found = StatementOf.find(Storage);
    if (Found != StatementOf.end() && IsElement) {
      L.Kept.insert(Storage);
      L.KeepingStatements.insert(Found->second);
    } else if (auto First = MadeFirst.find(Storage); First != MadeFirst.end()) {
      L.BlocksRunOnce.insert(First->second);
    }
  }

  CheckInput &Input;
  const FunctionFacts &Facts;
  llvm::MapVector<LoopID, LoopFacts> Loops;
  const std::set<StorageID> OneElement;
  llvm::DenseMap<StorageID, unsigned> StatementOf;
  /// What a block makes that was not there before, in no state.
  llvm::DenseMap<StorageID, BlockID> MadeFirst;
  llvm::DenseSet<const Stmt *> ReadsOlder;
  Repetition Repeating{Facts};
};

} // namespace

std::vector<FlowFinding> findUnscopedLoops(CheckInput &Input) {
  LoopQuery Query(Input);
  Input.Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<State> Before) {
    Query.visit(F, Before);
  });
  return Query.findings();
}

Diagnostic describeUnscopedLoop(const FlowFinding &F) {
  return makeDiagnostic(
      F, "this loop creates tensors in each iteration with no scope open; open "
         "one scope per iteration with 'with_torch' or 'Scope'");
}

} // namespace tensorscope
