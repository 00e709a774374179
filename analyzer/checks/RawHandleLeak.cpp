// SPDX-License-Identifier: Apache-2.0
//
// Finds raw pointers that own tensors and are lost, freed twice, or used after
// they were freed.
// User page: docs/checks/raw-handle-leak.md
#include "checks/Check.h"

#include "checks/RawHandles.h"
#include "dataflow/OwnershipFlow.h"
#include "utils/AstUtils.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace tensorscope {
namespace {

/// What is done with each thing that is owed.
struct Story {
  const Fact *Made = nullptr;
  PlaceID Name = NoPlace;         ///< the first variable that points to it
  std::vector<const Fact *> Ends; ///< given back, or given away
};

/// A thing that a call of LibTorch's would lose by throwing.
struct Risk {
  StorageID Thing;
  const Fact *Thrower;
};

class OwnershipQuery {
public:
  OwnershipQuery(OwnershipFlow &Flow, CheckInput &Input)
      : Flow(Flow), Facts(Flow.facts()), Input(Input) {
    Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<OwnershipState> Before) {
      if (F.Kind == FactKind::Acquire)
        visitAcquire(F);
      else if (F.Kind == FactKind::PointAt && F.Src != NoPlace)
        nameThings(F, Before);
      else if (F.Kind == FactKind::GiveBack)
        visitGiveBack(F, Before);
      else if (F.Kind == FactKind::LookInto)
        visitUse(F, Before);
      else if (F.Kind == FactKind::GiveAway && F.Value)
        visitTaken(F, Before);
      else if (F.Kind == FactKind::Create && throwsItself(F))
        visitThrower(F, Before);
      if (F.Kind == FactKind::GiveBack || F.Kind == FactKind::GiveAway ||
          F.Kind == FactKind::ReturnOwner || F.Kind == FactKind::StoreOwner)
        for (const OwnershipState &S : Before)
          if (F.Src != NoPlace && S.Things.count(S.pointee(F.Src)))
            Stories[S.pointee(F.Src)].Ends.push_back(&F);
    });
  }

  std::vector<FlowFinding> findings() {
    for (const auto &[Thing, L] : Flow.losses())
      if (const Story &S = Stories[Thing]; S.Made)
        visitLoss(S, L);
    // What is freed twice is also used late, on the way.
    for (const auto &[Statement, Use] : Uses)
      if (!FreedAgain.count(Statement))
        Findings.push_back(Use);
    if (Findings.empty())
      visitRisks();
    return std::move(Findings);
  }

private:
  bool isVariable(PlaceID P) const {
    return Facts.Places[P].Kind != PlaceKind::Temporary;
  }

  void visitAcquire(const Fact &F) {
    Stories[F.Storage].Made = &F;
    if (isVariable(F.Dst))
      Stories[F.Storage].Name = F.Dst;
  }

  void nameThings(const Fact &F, llvm::ArrayRef<OwnershipState> Before) {
    for (const OwnershipState &S : Before) {
      StorageID To = S.pointee(F.Src);
      if (To == UnknownStorage || To == NullPointee || !isVariable(F.Dst))
        continue;
      if (Story &Of = Stories[To]; Of.Name == NoPlace)
        Of.Name = F.Dst;
    }
  }

  /// \p End stands in a branch or a loop that \p Made does not: whether that is
  /// entered may depend on what was made.
  bool isConditional(const Fact &End, const Fact &Made) const {
    llvm::SmallPtrSet<const Stmt *, 8> Around;
    for (const Stmt *S = Facts.ConditionOf.lookup(Made.At); S;
         S = Facts.ConditionOf.lookup(S))
      Around.insert(S);
    const Stmt *Innermost = Facts.ConditionOf.lookup(End.At);
    return Innermost && !Around.contains(Innermost);
  }

  void visitLoss(const Story &S, const Loss &L) {
    bool IsOut = L.By->Kind == FactKind::Leave;
    if (IsOut && isMadeOnceInMain(Facts, *S.Made))
      return;
    if (llvm::any_of(S.Ends, [&](const Fact *End) {
          return isConditional(*End, *S.Made) && Flow.reaches(*End, *L.By);
        })) {
      Input.Silenced.insert(S.Made->At->getBeginLoc());
      return;
    }
    FlowFinding F;
    const Fact *Wrapped = L.Wrapped && !L.Wrapped->Value ? L.Wrapped : nullptr;
    F.Loc = locationOf(Wrapped ? Wrapped->At : S.Made->At);
    F.Subject = S.Name != NoPlace ? nameOf(S.Name) : "";
    F.Holder = makerOf(*S.Made);
    F.Remedy = Wrapped ? "wrap" : isa<CXXNewExpr>(S.Made->At) ? "new" : "call";
    F.IsMaybe = !S.Ends.empty();
    if (Wrapped)
      F.Steps.push_back({FlowStepKind::Acquired, locationOf(S.Made->At), ""});
    bool IsThrown = isa_and_nonnull<CXXThrowExpr>(L.By->At);
    F.Steps.push_back(
        {IsThrown ? FlowStepKind::Thrown
         : IsOut  ? FlowStepKind::Lost
                  : FlowStepKind::Overwritten,
         L.By->At ? L.By->At->getBeginLoc() : Facts.Function->getEndLoc(), ""});
    Findings.push_back(std::move(F));
  }

  /// The fact that freed what \p P points to, or (\p WithTaken) gave it to an
  /// object that does, if that is certain: if it happened on all ways, or comes
  /// here on each way on from there.
  const Fact *freedBy(PlaceID P, llvm::ArrayRef<OwnershipState> Before,
                      const Fact &At, bool WithTaken) {
    std::set<const Fact *> By;
    std::set<StorageID> Pointees;
    unsigned Done = 0;
    for (const OwnershipState &S : Before) {
      Pointees.insert(S.pointee(P));
      OwnedThing Thing = S.thing(S.pointee(P));
      if (Thing.Is == Duty::Done || (WithTaken && Thing.Is == Duty::Taken)) {
        By.insert(Thing.Where);
        ++Done;
      }
    }
    if (Done == Before.size())
      return *By.begin();
    if (Pointees.size() == 1)
      for (const Fact *Free : By)
        if (Flow.reachesAlways(*Free, At))
          return Free;
    if (Done)
      Input.Silenced.insert(At.At->getBeginLoc());
    return nullptr;
  }

  void visitGiveBack(const Fact &F, llvm::ArrayRef<OwnershipState> Before) {
    if (F.Src == NoPlace)
      return;
    if (const Fact *By = freedBy(F.Src, Before, F, /*WithTaken=*/true)) {
      report(F, By->Kind == FactKind::GiveAway ? "owned" : "twice",
             stepOf(*By));
      return;
    }
    // `delete` of what `new[]` made, and the other way round.
    const Fact *Made = nullptr;
    for (const OwnershipState &S : Before) {
      auto It = Stories.find(S.pointee(F.Src));
      if (It == Stories.end() || (Made && Made != It->second.Made))
        return;
      Made = It->second.Made;
    }
    if (Made)
      visitKindOfFree(F, *Made);
  }

  void visitKindOfFree(const Fact &F, const Fact &Made) {
    const auto *New = dyn_cast<CXXNewExpr>(Made.At);
    const auto *Delete = dyn_cast<CXXDeleteExpr>(F.At);
    bool IsFree = F.Callee && qualifiedName(F.Callee) == "free";
    FlowStep Step{FlowStepKind::Acquired, locationOf(Made.At), ""};
    if (New && (Delete ? New->isArray() != Delete->isArrayForm() : IsFree))
      report(F, New->isArray() ? "array" : "single", Step);
    else if (!New && (Delete || IsFree) && isMadeByLibTorch(Made))
      report(F, "foreign", Step, makerOf(Made));
  }

  /// An object takes what another one has, or what was freed.
  void visitTaken(const Fact &F, llvm::ArrayRef<OwnershipState> Before) {
    if (const Fact *By = freedBy(F.Src, Before, F, /*WithTaken=*/true))
      report(F, "taken", stepOf(*By));
  }

  /// What has its only owner in a local pointer here is lost if this throws.
  void visitThrower(const Fact &F, llvm::ArrayRef<OwnershipState> Before) {
    if (Before.empty() || !mayThrowOut(F))
      return;
    for (const auto &[Thing, What] : Before.front().Things)
      if (isHeldByAll(Thing, Before))
        Risks.push_back({Thing, &F});
  }

  bool isHeldByAll(StorageID Thing,
                   llvm::ArrayRef<OwnershipState> Before) const {
    return llvm::all_of(Before, [&](const OwnershipState &S) {
      return S.thing(Thing).Is == Duty::Owed &&
             llvm::any_of(S.Pointees, [&](const auto &Entry) {
               return Entry.second == Thing && isVariable(Entry.first);
             });
    });
  }

  /// Nothing in the function catches what \p F throws, and leaving by it does
  /// not end the program.
  bool mayThrowOut(const Fact &F) {
    const FunctionDecl *Function = Facts.Function;
    const auto *Type = Function->getType()->getAs<FunctionProtoType>();
    bool EndsProgram =
        Type && !isUnresolvedExceptionSpec(Type->getExceptionSpecType()) &&
        Type->isNothrow();
    if (Function->isMain() || EndsProgram)
      return false;
    if (Uncaught.empty()) {
      llvm::SmallVector<const Stmt *, 16> Todo{Function->getBody()};
      while (!Todo.empty()) {
        const Stmt *S = Todo.pop_back_val();
        if (!S || isa<CXXTryStmt, LambdaExpr>(S))
          continue;
        Uncaught.insert(S);
        Todo.append(S->child_begin(), S->child_end());
      }
    }
    return Uncaught.count(F.At);
  }

  /// Reports the first of them in the text.
  void visitRisks() {
    const Risk *First = nullptr;
    auto Order = [&](const Risk &R) {
      return std::pair(Stories[R.Thing].Made->Statement, R.Thrower->Statement);
    };
    for (const Risk &R : Risks) {
      const Story &S = Stories[R.Thing];
      // What throws may be what takes it.
      bool IsTaker = llvm::any_of(
          S.Ends, [&](const Fact *End) { return End->At == R.Thrower->At; });
      if (S.Made && S.Name != NoPlace && !IsTaker &&
          (!First || Order(R) < Order(*First)))
        First = &R;
    }
    if (First)
      reportRisk(*First);
  }

  void reportRisk(const Risk &R) {
    const Story &S = Stories[R.Thing];
    FlowFinding F;
    F.Loc = locationOf(S.Made->At);
    F.Subject = nameOf(S.Name);
    F.Holder = makerOf(*S.Made);
    F.Remedy = "risk";
    F.IsMaybe = true;
    F.Level = 2;
    F.Steps.push_back({FlowStepKind::MayThrow, locationOf(R.Thrower->At), ""});
    Findings.push_back(std::move(F));
  }

  void visitUse(const Fact &F, llvm::ArrayRef<OwnershipState> Before) {
    if (const Fact *By = freedBy(F.Src, Before, F, /*WithTaken=*/false))
      Uses.push_back({F.Statement, make(F, "use", stepOf(*By))});
  }

  static FlowStep stepOf(const Fact &Free) {
    return {FlowStepKind::GivenBack, locationOf(Free.At), calleeName(Free)};
  }

  void report(const Fact &F, const char *What, FlowStep Step,
              std::string Maker = "") {
    FreedAgain.insert(F.Statement);
    Findings.push_back(make(F, What, std::move(Step)));
    Findings.back().Holder = std::move(Maker);
  }

  FlowFinding make(const Fact &F, const char *What, FlowStep Step) const {
    FlowFinding Found;
    Found.Loc = locationOf(F.At);
    Found.Subject = nameOf(F.Src);
    Found.Remedy = What;
    Found.Steps.push_back(std::move(Step));
    return Found;
  }

  /// As the user wrote it; an element of an array by its number.
  std::string nameOf(PlaceID P) const {
    const PlaceInfo &Info = Facts.Places[P];
    if (Info.Kind == PlaceKind::Part)
      return nameOf(Info.Base) + "[" + std::to_string(Info.Number) + "]";
    return Facts.Places.name(P, Input.Ctx);
  }

  static std::string makerOf(const Fact &Made) {
    return Made.Callee ? Made.Callee->getNameAsString() : "new";
  }

  OwnershipFlow &Flow;
  const FunctionFacts &Facts;
  CheckInput &Input;
  std::map<StorageID, Story> Stories;
  std::vector<FlowFinding> Findings;
  /// Uses of what was freed, by the number of their statement.
  std::vector<std::pair<unsigned, FlowFinding>> Uses;
  std::set<unsigned> FreedAgain;
  std::vector<Risk> Risks;
  llvm::SmallPtrSet<const Stmt *, 32> Uncaught;
};

} // namespace

std::vector<FlowFinding> findRawHandleLeaks(CheckInput &Input) {
  FunctionFacts &Facts = Input.Flow.facts();
  if (!Facts.HasOwners)
    return {};
  constexpr unsigned StepLimit = 50000;
  std::unique_ptr<OwnedFlow> Exceptional =
      Facts.HasExceptions ? Input.WithExceptions() : nullptr;
  OwnershipFlow Flow(Exceptional ? Exceptional->Facts : Facts, StepLimit);
  if (!Flow.run())
    return {};
  return OwnershipQuery(Flow, Input).findings();
}

} // namespace tensorscope
