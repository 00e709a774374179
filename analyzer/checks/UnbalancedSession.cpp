// SPDX-License-Identifier: Apache-2.0
//
// Finds sessions that are left open on some path, that a second start ends, or
// that another thread is to stop.
// User page: docs/checks/unbalanced-session.md
#include "checks/Check.h"

#include "utils/AstUtils.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

/// What becomes of the session that one call starts.
struct Fate {
  const Fact *Left = nullptr;      ///< the way out that leaves it open
  std::set<const Stmt *> Stops;    ///< what stops it on other paths
  const Fact *Elsewhere = nullptr; ///< what stops a session of another thread
};

class SessionQuery {
public:
  SessionQuery(StorageFlow &Flow, const ASTContext &Ctx)
      : Flow(Flow), Facts(Flow.facts()), Ctx(Ctx) {
    Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<State> Before) {
      switch (F.Kind) {
      case FactKind::ScopeBegin:
        visitStart(F, Before);
        break;
      case FactKind::ScopeEnd:
        for (const State &S : Before)
          if (ScopeID Ended = Flow.endedBy(S, F); isStarted(Ended))
            Fates[Ended].Stops.insert(F.At);
        break;
      case FactKind::Leave:
      case FactKind::StopElsewhere:
        for (const State &S : Before)
          for (ScopeID Open : S.Scopes)
            if (isStarted(Open))
              (F.Kind == FactKind::Leave ? Fates[Open].Left
                                         : Fates[Open].Elsewhere) = &F;
        break;
      default:
        break;
      }
    });
  }

  std::vector<FlowFinding> findings() {
    for (auto &[Start, F] : Fates) {
      const ScopeInfo &Scope = Facts.Scopes[Start];
      if (F.Elsewhere)
        report(Scope, FlowStepKind::StoppedElsewhere,
               locationOf(F.Elsewhere->At));
      else if (F.Left && !F.Stops.empty() &&
               llvm::none_of(F.Stops, [&](const Stmt *Stop) {
                 return dependOnTheSame(Scope.Begin, Stop);
               }))
        reportLeft(Scope, F);
    }
    return std::move(Findings);
  }

private:
  /// By a call: an object that is one ends with its block.
  bool isStarted(ScopeID ID) const {
    return ID != NoScope && Facts.Scopes[ID].Form == ScopeForm::Session &&
           !Facts.Scopes[ID].Guard;
  }

  void visitStart(const Fact &F, llvm::ArrayRef<State> Before) {
    if (!isStarted(F.Scope))
      return;
    Fates.insert({F.Scope, Fate()});
    for (const State &S : Before) {
      ScopeID Open = Flow.endedBy(S, F);
      if (Open == NoScope || dependOnTheSame(Facts.Scopes[Open].Begin, F.At) ||
          (Open == F.Scope && !Facts.DependsOn.at(F.At).empty()))
        continue;
      report(Facts.Scopes[F.Scope], FlowStepKind::SessionBegan,
             locationOf(Facts.Scopes[Open].Begin));
      return;
    }
  }

  /// Both stand under conditions that ask about one thing, in ways that are not
  /// understood: they may always go together.
  bool dependOnTheSame(const Stmt *A, const Stmt *B) const {
    auto Left = Facts.DependsOn.find(A), Right = Facts.DependsOn.find(B);
    return Left != Facts.DependsOn.end() && Right != Facts.DependsOn.end() &&
           llvm::any_of(Left->second,
                        [&](const Decl *D) { return Right->second.count(D); });
  }

  void reportLeft(const ScopeInfo &Start, const Fate &F) {
    bool IsThrown = isa_and_nonnull<CXXThrowExpr>(F.Left->At);
    report(Start, IsThrown ? FlowStepKind::Thrown : FlowStepKind::Left,
           F.Left->At ? F.Left->At->getBeginLoc()
                      : Facts.Function->getEndLoc());
    if (F.Stops.size() == 1)
      Findings.back().Edits = editsFor(Start.Begin, *F.Stops.begin());
  }

  /// Where the one stop ends the block that the start stands in, an object does
  /// the same.
  std::vector<FlowEdit> editsFor(const Stmt *Start, const Stmt *Stop) const {
    const auto *Call = dyn_cast<CallExpr>(Start);
    if (!calls(Start, "tensorscope::start_session") ||
        !calls(Stop, "tensorscope::stop_session"))
      return {};
    auto Block = Facts.BlockOf.find(Start), Other = Facts.BlockOf.find(Stop);
    bool IsWritten = llvm::any_of(Call->arguments(), [](const Expr *A) {
      return !isa<CXXDefaultArgExpr>(A);
    });
    if (IsWritten || Facts.Scopes.size() != 2 || !Block->second ||
        Other == Facts.BlockOf.end() || Block->second != Other->second ||
        !endsWith(*Block->second, Stop) || Start->getBeginLoc().isMacroID() ||
        Stop->getBeginLoc().isMacroID() || declaresName("session"))
      return {};
    SourceLocation End = Lexer::findLocationAfterToken(
        Stop->getEndLoc(), tok::semi, Ctx.getSourceManager(), Ctx.getLangOpts(),
        /*SkipTrailingWhitespaceAndNewLine=*/false);
    if (End.isInvalid())
      return {};
    return {{CharSourceRange::getTokenRange(Start->getSourceRange()),
             "tensorscope::Session session"},
            {CharSourceRange::getCharRange(Stop->getBeginLoc(), End), ""}};
  }

  static bool calls(const Stmt *At, llvm::StringRef Name) {
    const auto *Call = dyn_cast_or_null<CallExpr>(At);
    const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
    return F && qualifiedName(F) == Name;
  }

  static bool endsWith(const CompoundStmt &Block, const Stmt *Last) {
    const auto *E = dyn_cast<Expr>(Block.body_back());
    return E && stripWrappers(E) == Last;
  }

  bool declaresName(llvm::StringRef Name) const {
    return llvm::any_of(Facts.Function->decls(), [&](const Decl *D) {
      const auto *Named = dyn_cast<NamedDecl>(D);
      return Named && Named->getDeclName().isIdentifier() &&
             Named->getName() == Name;
    });
  }

  void report(const ScopeInfo &Start, FlowStepKind Why, SourceLocation Where) {
    FlowFinding F;
    F.Loc = locationOf(Start.Begin);
    F.Subject = Start.Starter ? Start.Starter->getNameAsString() : "";
    F.IsMaybe = true;
    F.Steps.push_back({Why, Where, ""});
    Findings.push_back(std::move(F));
  }

  StorageFlow &Flow;
  const FunctionFacts &Facts;
  const ASTContext &Ctx;
  llvm::MapVector<ScopeID, Fate> Fates;
  std::vector<FlowFinding> Findings;
};

bool startsSession(const FunctionFacts &Facts) {
  return llvm::any_of(Facts.Scopes, [](const ScopeInfo &S) {
    return S.Form == ScopeForm::Session && !S.Guard;
  });
}

} // namespace

std::vector<FlowFinding> findUnbalancedSessions(CheckInput &Input) {
  const FunctionFacts &Facts = Input.Flow.facts();
  if (!startsSession(Facts))
    return {};
  // What an object's end does is not on an exception's way.
  if (!Facts.HasStoppers)
    if (auto Exceptional = Input.WithExceptions())
      return SessionQuery(Exceptional->Flow, Input.Ctx).findings();
  return SessionQuery(Input.Flow, Input.Ctx).findings();
}

Diagnostic describeUnbalancedSession(const FlowFinding &F) {
  std::string Remedy = "; use a 'tensorscope::Session', which ends with its "
                       "block on every path";
  std::string What = "the session that starts here" +
                     (F.Subject.empty() ? "" : ", in '" + F.Subject + "',");
  switch (F.Steps.back().Kind) {
  case FlowStepKind::SessionBegan:
    return makeDiagnostic(
        F, "a session that is still open is ended by the start of this one: "
           "what it owns is released; stop it first, or leave this one out");
  case FlowStepKind::StoppedElsewhere:
    return makeDiagnostic(F, What +
                                 " is to be stopped by another thread, "
                                 "which has sessions of its own: it stays "
                                 "open here" +
                                 Remedy);
  case FlowStepKind::Thrown:
    return makeDiagnostic(F, What +
                                 " is left open when an exception is "
                                 "thrown" +
                                 Remedy);
  default:
    return makeDiagnostic(F, What + " is left open on some path" + Remedy);
  }
}

} // namespace tensorscope
