// SPDX-License-Identifier: Apache-2.0
//
// Finds scopes around single operators, and scopes around whole loops.
// User page: docs/checks/scope-granularity.md
#include "checks/Check.h"

#include "dataflow/Repetition.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace clang;

namespace tensorscope {
namespace {

/// What a loop makes in a scope that was open before it began.
struct LoopInScope {
  std::vector<const Fact *> Creations;
  ScopeID Around = NoScope;
  bool Repeats = false;
  /// An iteration leaves something to the next one, or to what follows.
  bool Carries = false;
  /// It opens scopes itself.
  bool HasScopes = false;
};

class GranularityQuery {
public:
  explicit GranularityQuery(CheckInput &Input)
      : Input(Input), Facts(Input.Flow.facts()) {}

  void visit(const Fact &F, llvm::ArrayRef<State> Before) {
    switch (F.Kind) {
    case FactKind::Create:
    case FactKind::CreateInside:
      visitCreation(F, Before);
      break;
    case FactKind::Call:
      for (const State &S : Before)
        if (!S.Scopes.empty())
          ++Calls[S.Scopes.back()];
      break;
    case FactKind::ScopeBegin:
      Begun.insert(F.Scope);
      for (LoopID L = Facts.Scopes[F.Scope].Loop; L != NoLoop;
           L = Facts.Loops[L].Outer)
        Loops[L].HasScopes = true;
      break;
    case FactKind::LoopBack:
      // An algorithm's loop is one expression; its scope is that of a step.
      Loops[F.Loop].Repeats = !isa<Expr>(F.At);
      for (const State &S : Before)
        Loops[F.Loop].Carries |= carries(S, F.Loop);
      break;
    default:
      break;
    }
  }

  std::vector<FlowFinding> findings() {
    for (const auto &[Loop, L] : Loops)
      if (L.Around != NoScope && L.Repeats && !L.Carries && !L.HasScopes)
        reportLoop(Loop, L);
    reportSingles();
    return std::move(Findings);
  }

private:
  bool isLexical(ScopeID S) const {
    return Facts.Scopes[S].Form != ScopeForm::Session;
  }

  void visitCreation(const Fact &F, llvm::ArrayRef<State> Before) {
    LoopID Loop = F.Loop;
    while (Loop != NoLoop && Facts.Loops[Loop].IsSmall)
      Loop = Facts.Loops[Loop].Outer;
    if (F.Kind == FactKind::Create)
      LoopOf[F.Storage] = Loop;
    for (const State &S : Before) {
      if (S.ScopesUnknown || S.Scopes.empty())
        continue;
      ScopeID Open = S.Scopes.back();
      Made[Open].insert(F.At);
      // A scope of a step, which a loop runs again, may have loops in it.
      bool IsAround = Facts.Scopes[Open].Loop == NoLoop && isLexical(Open);
      if (Loop != NoLoop && IsAround && Repeating.goesOn(Loop, F) &&
          !Facts.Loops[Loop].IsInTest) {
        Loops[Loop].Around = Open;
        Loops[Loop].Creations.push_back(&F);
      }
    }
  }

  /// Something that the loop made is held by what is older than the loop.
  bool carries(const State &S, LoopID Loop) const {
    const SourceManager &SM = Input.Ctx.getSourceManager();
    for (auto It = S.Places.begin(), End = S.Places.end(); It != End; ++It) {
      const PlaceInfo &Root = Facts.Places[Facts.Places.root(It->first)];
      const auto *Var = Root.Kind == PlaceKind::Variable
                            ? static_cast<const ValueDecl *>(Root.Key)
                            : nullptr;
      if (!Var ||
          (!Root.IsOuter && !SM.isBeforeInTranslationUnit(
                                Var->getLocation(), Facts.Loops[Loop].Loc)))
        continue;
      for (const Held &H : It->second.Storages)
        if (H.Storage == UnknownStorage || LoopOf.count(H.Storage))
          return true;
    }
    return false;
  }

  void reportLoop(LoopID Loop, const LoopInScope &L) {
    FlowFinding F;
    F.Loc = Facts.Loops[Loop].Loc;
    F.Remedy = "loop";
    F.Steps.push_back({FlowStepKind::ScopeBegan,
                       locationOf(Facts.Scopes[L.Around].Begin), ""});
    F.Steps.push_back({FlowStepKind::Created,
                       locationOf(L.Creations.front()->At),
                       calleeName(*L.Creations.front())});
    Findings.push_back(std::move(F));
  }

  /// Three scopes beside one another in one iteration, each around one
  /// operator.
  void reportSingles() {
    constexpr unsigned Least = 3;
    std::map<std::pair<LoopID, unsigned>, std::vector<ScopeID>> Singles;
    for (ScopeID S : Begun) {
      const ScopeInfo &Info = Facts.Scopes[S];
      if (isLexical(S) && Info.Loop != NoLoop && Made[S].size() == 1 &&
          Calls[S] == 0)
        Singles[{Info.Loop, Info.Depth}].push_back(S);
    }
    for (const auto &[Where, Scopes] : Singles) {
      if (Scopes.size() < Least)
        continue;
      FlowFinding F;
      F.Loc = locationOf(Facts.Scopes[Scopes.front()].Begin);
      F.Remedy = std::to_string(Scopes.size());
      F.Steps.push_back(
          {FlowStepKind::LoopBegan, Facts.Loops[Where.first].Loc, ""});
      Findings.push_back(std::move(F));
    }
  }

  CheckInput &Input;
  const FunctionFacts &Facts;
  std::map<LoopID, LoopInScope> Loops;
  std::map<ScopeID, std::set<const Stmt *>> Made;
  std::map<ScopeID, unsigned> Calls;
  std::set<ScopeID> Begun;
  std::map<StorageID, LoopID> LoopOf;
  Repetition Repeating{Facts};
  std::vector<FlowFinding> Findings;
};

} // namespace

std::vector<FlowFinding> findScopesOfWrongSize(CheckInput &Input) {
  if (Input.Flow.facts().Scopes.size() <= 1)
    return {};
  GranularityQuery Query(Input);
  Input.Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<State> Before) {
    Query.visit(F, Before);
  });
  return Query.findings();
}

Diagnostic describeScopeGranularity(const FlowFinding &F) {
  if (F.Remedy == "loop")
    return makeDiagnostic(
        F, "one scope is open around this whole loop: what its iterations make "
           "is freed only when all of them are over; open one scope for each "
           "iteration");
  return makeDiagnostic(
      F, F.Remedy + " scopes in one iteration are each around one operator: "
                    "opening a scope costs more than it frees; open one scope "
                    "for the iteration");
}

} // namespace tensorscope
