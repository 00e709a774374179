// SPDX-License-Identifier: Apache-2.0
#include "checks/Analyzer.h"

#include "checks/Check.h"
#include "checks/UnitAnalysis.h"
#include "utils/AstUtils.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace clang;

namespace tensorscope {
namespace {

bool declaresNamespace(ASTContext &Ctx, llvm::StringRef Name) {
  auto Found = Ctx.getTranslationUnitDecl()->lookup(&Ctx.Idents.get(Name));
  return llvm::any_of(
      Found, [](const NamedDecl *D) { return isa<NamespaceDecl>(D); });
}

/// Collects diagnostics, each place and rule once; those of loops wait until
/// all callers are known.
class DiagnosticCollector {
public:
  DiagnosticCollector(ASTContext &Ctx, const AnalyzerOptions &Options,
                      const std::function<bool(llvm::StringRef)> &Enabled)
      : Ctx(Ctx) {
    for (const Check &C : checkTable()) {
      bool IsLoopRule = C.Info.Rule == "unscoped-loop" ||
                        C.Info.Rule == "thread-without-scope";
      bool UsesScopes = Options.Scopes == ScopesMode::Required ||
                        (Options.Scopes == ScopesMode::Auto &&
                         declaresNamespace(Ctx, "tensorscope"));
      if (Enabled(C.Info.Rule) && (!IsLoopRule || UsesScopes))
        Checks.push_back(&C);
    }
  }

  void check(const FunctionDecl *F, StorageFlow &Flow, UnitAnalysis &Unit) {
    CheckInput Input{Flow,
                     Unit.gradients(),
                     Ctx,
                     Silenced,
                     [&, F] { return Unit.withExceptions(F); },
                     [&, F]() -> const BorrowFindings & {
                       return Unit.borrows(F);
                     },
                     [&, F] { return Unit.streams(F); }};
    for (const Check *C : Checks) {
      if (!C->Find)
        continue;
      for (const FlowFinding &Found : C->Find(Input)) {
        if (Found.Condition)
          Pending.push_back({C, F, Found});
        else
          add(*C, F, C->Describe(Found), Found.Level);
      }
    }
  }

  void checkUnit(UnitAnalysis &Unit) {
    if (llvm::none_of(Checks, [](const Check *C) { return C->FindInUnit; }))
      return;
    UnitFacts Facts = Unit.unitFacts();
    for (const Check *C : Checks)
      if (C->FindInUnit)
        for (const UnitFinding &Found : C->FindInUnit(Facts, Ctx))
          add(*C, Found.In, C->Describe(Found.Finding), Found.Finding.Level);
  }

  AnalyzerResult take(const UnitAnalysis &Unit) {
    for (PendingFinding &P : Pending)
      judge(P, Unit.gradientUnit());
    AnalyzerResult Result;
    Result.Statistics = Unit.statistics();
    Result.Statistics.SilencedByUnknown = Silenced.size();
    for (auto &[D, F] : Found)
      if (D.Rule != "unscoped-loop" ||
          !(Unit.onlyRunsInScope(F) ||
            Seen.count({"thread-without-scope", D.Loc.getRawEncoding()})))
        Result.Diagnostics.push_back(std::move(D));
    const SourceManager &SM = Ctx.getSourceManager();
    llvm::stable_sort(Result.Diagnostics, [&](const Diagnostic &A,
                                              const Diagnostic &B) {
      if (A.Loc != B.Loc)
        return SM.isBeforeInTranslationUnit(A.Loc, B.Loc);
      return A.Rule < B.Rule;
    });
    return Result;
  }

private:
  /// What depends on other functions.
  struct PendingFinding {
    const Check *C;
    const FunctionDecl *F;
    FlowFinding Found;
  };

  void judge(PendingFinding &P, const GradientUnit &Gradients) {
    const GradientCondition &C = *P.Found.Condition;
    Verdict Holds = Gradients.judge(C);
    if (Holds == Verdict::No) {
      Silenced.insert(P.Found.Loc);
      return;
    }
    if (Holds == Verdict::Maybe) {
      P.Found.IsMaybe = true;
      P.Found.Level = std::max(P.Found.Level, 1U);
    }
    if (C.NeedsEvaluation && !C.IsEvaluated)
      P.Found.IsOnThread = Gradients.isThreadUnderGuard(C.Runs);
    if (const Stmt *Start = P.Found.IsOnThread
                                ? Gradients.threadStart(C.Runs)
                                : nullptr)
      P.Found.Steps.push_back(
          {FlowStepKind::ThreadStarted, locationOf(Start), ""});
    if (C.NeedsLoopAround && Gradients.callInLoop(C.Runs))
      P.Found.Steps.push_back(
          {FlowStepKind::CalledInLoop,
           locationOf(Gradients.callInLoop(C.Runs)), ""});
    add(*P.C, P.F, P.C->Describe(P.Found), P.Found.Level);
  }

  void add(const Check &C, const FunctionDecl *F, Diagnostic D,
           unsigned Level) {
    const SourceManager &SM = Ctx.getSourceManager();
    D.Rule = C.Info.Rule.str();
    D.Level = std::max(C.Info.Level, Level);
    D.Function = F ? functionSignature(F) : "";
    SourceLocation Loc = SM.getFileLoc(D.Loc);
    if (Loc.isInvalid() || SM.isInSystemHeader(Loc) ||
        !Seen.insert({D.Rule, Loc.getRawEncoding()}).second)
      return;
    Found.emplace_back(std::move(D), F);
  }

  ASTContext &Ctx;
  std::vector<const Check *> Checks;
  std::vector<PendingFinding> Pending;
  std::vector<std::pair<Diagnostic, const FunctionDecl *>> Found;
  std::set<std::pair<std::string, unsigned>> Seen;
  std::set<SourceLocation> Silenced;
};

} // namespace

bool isAnalyzed(ASTContext &Ctx) {
  return declaresNamespace(Ctx, "at") || declaresNamespace(Ctx, "tensorscope");
}

AnalyzerResult
analyzeTranslationUnit(ASTContext &Ctx, const ModelSet &Models,
                       const AnalyzerOptions &Options,
                       const std::function<bool(llvm::StringRef)> &Enabled) {
  if (!isAnalyzed(Ctx))
    return {};
  DiagnosticCollector Diagnostics(Ctx, Options, Enabled);
  UnitAnalysis Unit(Ctx, Models, Options);
  Unit.run([&](const FunctionDecl *F, StorageFlow &Flow) {
    Diagnostics.check(F, Flow, Unit);
  });
  Diagnostics.checkUnit(Unit);
  AnalyzerResult Result = Diagnostics.take(Unit);
  if (Options.ExportsSummaries)
    Result.Summaries = Unit.exportSummaries();
  return Result;
}

} // namespace tensorscope
