// SPDX-License-Identifier: Apache-2.0
#include "checks/UnitAnalysis.h"

#include "dataflow/GradientSummaryBuilder.h"
#include "dataflow/ModelClaims.h"
#include "dataflow/ProgramSummaries.h"
#include "dataflow/OwnershipFlow.h"
#include "dataflow/SummaryBuilder.h"
#include "utils/AstUtils.h"
#include "utils/DeclNames.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

/// The functions with a body that the user wrote, template instantiations and
/// lambdas' call operators included.
class FunctionCollector : public RecursiveASTVisitor<FunctionCollector> {
public:
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return false; }
  bool shouldVisitLambdaBody() const { return true; }
  bool VisitFunctionDecl(FunctionDecl *F) {
    if (F->doesThisDeclarationHaveABody() && !F->isDependentContext())
      Functions.push_back(F);
    return true;
  }
  bool VisitLambdaExpr(LambdaExpr *E) {
    if (const CXXMethodDecl *Call = callOperator(E->getLambdaClass()))
      if (definitionOf(Call))
        Lambdas.push_back(Call);
    return true;
  }

  bool VisitVarDecl(VarDecl *V) {
    if (V->hasGlobalStorage() && !V->isStaticLocal() &&
        !V->getDeclContext()->isDependentContext() && !V->isInvalidDecl())
      Variables.push_back(V);
    return true;
  }

  std::vector<const VarDecl *> Variables;
  std::vector<const FunctionDecl *> Functions;
  std::vector<const FunctionDecl *> Lambdas;
};

bool isLambda(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Method && Method->getParent()->isLambda();
}

/// `torch::set_default_dtype` is called.
bool setsDefaultType(const BodyIndex &Body) {
  return llvm::any_of(Body.Callees, [](const FunctionDecl *F) {
    return qualifiedName(F) == "c10::set_default_dtype";
  });
}

} // namespace

UnitAnalysis::UnitAnalysis(ASTContext &Ctx, const ModelSet &Models,
                           const AnalyzerOptions &Options)
    : Unit(Ctx, Models, *this, Options.SmallLoopBound, Options.BlockLimit),
      Borrows(Unit, Models, Options.StepLimit), Streams(Unit, Options.StepLimit),
      Options(Options) {}

void UnitAnalysis::run(const Visitor &Visit) {
  FunctionCollector Collector;
  const SourceManager &SM = Unit.Ctx.getSourceManager();
  for (Decl *D : Unit.Ctx.getTranslationUnitDecl()->noload_decls()) {
    SourceLocation Loc = SM.getExpansionLoc(D->getLocation());
    if (Loc.isValid() && !SM.isInSystemHeader(Loc) && !opensLibrary(D, SM))
      Collector.TraverseDecl(D);
  }
  Unit.SetsDefaultType =
      llvm::any_of(Collector.Functions, [&](const FunctionDecl *F) {
        return setsDefaultType(Unit.body(F));
      });
  for (const FunctionDecl *F : Collector.Functions)
    if (!isLambda(F))
      analyzeWithCallees(F, Visit);
  Variables = std::move(Collector.Variables);
  // Lambdas that no walk met run somewhere else: on a thread, in a callback.
  for (const FunctionDecl *F : Collector.Lambdas)
    if (!Unit.WalkedInPlace.contains(definitionOf(F)))
      analyzeWithCallees(definitionOf(F), Visit);
}

bool UnitAnalysis::isAnalyzable(const FunctionDecl *F) {
  if (isLibraryDecl(F, Unit.Ctx.getSourceManager()) || F->isInvalidDecl())
    return false;
  if (Unit.body(F).HasErrors) {
    ++Statistics.FunctionsWithErrors;
    return false;
  }
  return true;
}

/// Callees first, without recursion: call chains can be long.
void UnitAnalysis::analyzeWithCallees(const FunctionDecl *F,
                                      const Visitor &Visit) {
  std::vector<std::pair<const FunctionDecl *, unsigned>> Stack;
  auto Push = [&](const FunctionDecl *G) {
    G = definitionOf(G);
    if (!G || !Started.insert(G).second || !isAnalyzable(G))
      return;
    Stack.push_back({G, 0});
    if (!isLambda(G))
      Bodies.push_back(G);
  };
  Push(F);
  while (!Stack.empty()) {
    auto &[G, Next] = Stack.back();
    const auto &Callees = Unit.body(G).Callees;
    if (Next < Callees.size()) {
      Push(Callees[Next++]);
      continue;
    }
    const FunctionDecl *Ready = G;
    Stack.pop_back();
    analyze(Ready, Visit);
  }
}

void UnitAnalysis::analyze(const FunctionDecl *F, const Visitor &Visit) {
  FunctionFacts Facts = generateFacts(F, Unit);
  StorageFlow Flow(Facts, Options.StepLimit);
  if (!Flow.run()) {
    Statistics.NotAnalyzed.push_back(functionSignature(F));
    return;
  }
  ++Statistics.FunctionsAnalyzed;
  Summaries[F] = std::make_unique<Summary>(buildSummary(Flow));
  if (Facts.Claim)
    settleByClaim(*Summaries[F], *Facts.Claim);
  followGradients(F, Facts);
  collectCalls(F, Flow);
  Visit(F, Flow);
  Gradients.reset();
}

/// True for a summary that gives out a tensor which was made in no scope.
static bool givesOut(const Summary &S) {
  return llvm::any_of(S.Stores, [](const SummaryStore &Store) {
    return llvm::any_of(Store.Sources, [](const SummarySource &Source) {
      return Source.Kind == SourceKind::New && !Source.IsMadeInScope &&
             !Source.IsRetained;
    });
  });
}

void UnitAnalysis::followGradients(const FunctionDecl *F,
                                   FunctionFacts &Facts) {
  Gradients =
      std::make_unique<GradientFlow>(Facts, Unit.Parameters, Options.StepLimit);
  if (!Gradients->run()) {
    Gradients.reset();
    return;
  }
  Summaries[F]->Gradients = buildGradientSummary(*Gradients);
  AllGradients.collect(F, *Gradients);
  AllGradients.UsesGradients = Unit.UsesGradients;
  AllGradients.MayFreeze = Unit.MayFreeze;
  if (givesOut(*Summaries[F]))
    AllGradients.noteGivingOut(F);
}

void UnitAnalysis::collectCalls(const FunctionDecl *Caller,
                                StorageFlow &Flow) {
  Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<State> Before) {
    if (F.Kind != FactKind::Call)
      return;
    bool IsInScope =
        llvm::all_of(Before, [](const State &S) { return S.isInScope(); });
    Calls[F.Callee->getCanonicalDecl()].push_back({Caller, IsInScope});
  });
}

bool UnitAnalysis::onlyRunsInScope(const FunctionDecl *F) const {
  // Callers are followed upwards; a cycle of callers adds no way in.
  llvm::DenseSet<const FunctionDecl *> Seen;
  llvm::SmallVector<const FunctionDecl *, 8> Todo{F->getCanonicalDecl()};
  while (!Todo.empty()) {
    const FunctionDecl *G = Todo.pop_back_val();
    if (!Seen.insert(G).second)
      continue;
    auto It = Calls.find(G);
    if (It == Calls.end())
      return false;
    for (const CallFrom &Call : It->second)
      if (!Call.IsInScope)
        Todo.push_back(Call.Caller->getCanonicalDecl());
  }
  return true;
}

std::unique_ptr<OwnedFlow> UnitAnalysis::withExceptions(const FunctionDecl *F) {
  auto Owned = std::make_unique<OwnedFlow>(
      generateFacts(F, Unit, /*FollowsExceptions=*/true), Options.StepLimit);
  return Owned->Flow.run() ? std::move(Owned) : nullptr;
}

const Summary *UnitAnalysis::elsewhere(const FunctionDecl *F) {
  if (!Options.Elsewhere || Options.Elsewhere->empty())
    return nullptr;
  auto [It, IsNew] = Elsewhere.try_emplace(F->getCanonicalDecl());
  if (!IsNew)
    return It->second.get();
  if (const PortableSummary *P = Options.Elsewhere->find(portableName(F)))
    It->second = std::make_unique<Summary>(importSummary(*P, Unit.Ctx));
  return It->second.get();
}

void UnitAnalysis::noteUnknown(const FunctionDecl *F, const Expr *Call) {
  auto &[First, Calls] = Unknown[F->getCanonicalDecl()];
  if (!First)
    First = Call;
  Calls += Call != nullptr;
}

SummaryFile UnitAnalysis::exportSummaries() const {
  SummaryFile File;
  for (const auto &[F, S] : Summaries)
    if (S)
      if (std::optional<PortableSummary> P = exportSummary(*S, F))
        File.Functions.push_back(std::move(*P));
  for (const auto &[F, Calls] : Unknown) {
    std::string Usr = usrOf(F);
    if (!Usr.empty())
      File.Unknown.push_back({std::move(Usr), functionSignature(F),
                              Calls.second,
                              Calls.first ? traceStepAt(Calls.first, nullptr,
                                                        Unit.Ctx)
                                          : TraceStep()});
  }
  llvm::sort(File.Functions, [](const auto &A, const auto &B) {
    return A.Usr < B.Usr;
  });
  llvm::sort(File.Unknown, [](const auto &A, const auto &B) {
    return A.Usr < B.Usr;
  });
  return File;
}

UnitFacts UnitAnalysis::unitFacts() {
  return collectUnitFacts(Unit, Bodies, Variables);
}

const Summary *UnitAnalysis::summary(const FunctionDecl *F) {
  auto It = Summaries.find(F);
  return It == Summaries.end() ? nullptr : It->second.get();
}

const OwnershipSummary *UnitAnalysis::ownership(const FunctionDecl *F) {
  F = definitionOf(F);
  auto [It, IsNew] = Ownership.try_emplace(F, nullptr);
  if (!IsNew || isLibraryDecl(F, Unit.Ctx.getSourceManager()) ||
      F->isInvalidDecl() || Unit.body(F).HasErrors)
    return It->second.get();
  // One summary may ask for another, and so on.
  constexpr unsigned MaxDepth = 16;
  if (OwnershipDepth == MaxDepth)
    return nullptr;
  ++OwnershipDepth;
  FunctionFacts Facts = generateOwnershipFacts(F, Unit);
  --OwnershipDepth;
  OwnershipFlow Flow(Facts, Options.StepLimit);
  if (!Flow.run())
    return nullptr;
  auto Made = std::make_unique<OwnershipSummary>(summarizeOwnership(Flow));
  return (Ownership[F] = std::move(Made)).get();
}

} // namespace tensorscope
