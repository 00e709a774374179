// SPDX-License-Identifier: Apache-2.0
#include "dataflow/BorrowAnalysis.h"

#include "utils/AstUtils.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

/// Callees in callees that are asked for; deeper ones are unknown.
static constexpr unsigned MaxDepth = 12;

namespace {

/// Whether a body has anything in it that could point into memory of a tensor,
/// or make a tensor over memory.
class MentionFinder : public RecursiveASTVisitor<MentionFinder> {
public:
  explicit MentionFinder(BorrowTypes &Types) : Types(Types) {}
  bool shouldVisitImplicitCode() const { return true; }

  bool VisitDeclRefExpr(DeclRefExpr *E) { return note(E->getDecl()); }
  bool VisitMemberExpr(MemberExpr *E) {
    Found |= isa<FieldDecl>(E->getMemberDecl()) &&
             Types.isArrayRef(E->getType());
    return note(E->getMemberDecl());
  }
  bool VisitInitListExpr(InitListExpr *E) {
    Found |= llvm::any_of(E->inits(), [&](const Expr *Init) {
      return E->getType()->isRecordType() && Types.isArrayRef(Init->getType());
    });
    return !Found;
  }
  bool VisitVarDecl(VarDecl *V) {
    Found |= !isa<ParmVarDecl>(V) && Types.isArrayRef(V->getType());
    return !Found;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *E) {
    return noteParams(E->getConstructor());
  }

  bool Found = false;

private:
  bool note(const ValueDecl *D) {
    const auto *F = dyn_cast<FunctionDecl>(D);
    if (!F)
      return true;
    const MemoryModel *M = Types.memory(F);
    const auto *Method = dyn_cast<CXXMethodDecl>(F);
    bool IsShared = Method && Method->isInstance() &&
                    Types.role(Method->getThisType()->getPointeeType()) ==
                        MemoryRole::Shared;
    if (M)
      Found |= llvm::any_of(*M, [&](const MemoryEffect &E) {
        return E.Kind == MemoryKind::Wraps ||
               (IsShared && (E.Kind == MemoryKind::PointsInto ||
                             E.Kind == MemoryKind::Describes));
      });
    return !Found && noteParams(F);
  }
  /// A user's function that is given an array reference may keep it.
  bool noteParams(const FunctionDecl *F) {
    if (!isLibraryDecl(F, F->getASTContext().getSourceManager()))
      Found |= llvm::any_of(F->parameters(), [&](const ParmVarDecl *P) {
        return Types.isArrayRef(P->getType());
      });
    return !Found;
  }

  BorrowTypes &Types;
};

} // namespace

bool BorrowAnalysis::mentionsBorrows(const FunctionDecl *F) {
  if (Types.isArrayRef(F->getReturnType()) || hasMemberBorrows(F, Types))
    return true;
  MentionFinder Finder(Types);
  Finder.TraverseDecl(const_cast<FunctionDecl *>(F));
  return Finder.Found;
}

/// Whether \p F, or what it calls, mentions borrows.
bool BorrowAnalysis::mayFind(const FunctionDecl *F) {
  auto [It, IsNew] = Mentions.try_emplace(F, false);
  if (!IsNew)
    return It->second;
  bool May = mentionsBorrows(F);
  for (const FunctionDecl *Callee : Unit.body(F).Callees) {
    const FunctionDecl *G = May ? nullptr : definitionOf(Callee);
    if (G && !isLibraryDecl(G, Unit.Ctx.getSourceManager()))
      May = mayFind(G);
  }
  return Mentions[F] = May;
}

BorrowAnalysis::Result &BorrowAnalysis::analyze(const FunctionDecl *F) {
  auto [It, IsNew] = Results.try_emplace(F);
  Result &R = It->second;
  if (!IsNew || Depth >= MaxDepth || Unit.body(F).HasErrors)
    return R;
  ++Depth;
  BorrowFacts Facts;
  BorrowBuilder(Unit, Types, *this, Facts).build(F);
  BorrowFlow Flow(Facts, Types, StepLimit);
  if (Flow.run()) {
    R.Summary = buildBorrowSummary(Flow);
    R.HasSummary = true;
    if (mayFind(F))
      findDangling(Flow, Types, Unit.Ctx, R.Findings);
    R.Lambdas = Facts.Lambdas;
  }
  --Depth;
  R.IsDone = true;
  return R;
}

const BorrowSummary *BorrowAnalysis::borrowSummary(const FunctionDecl *F) {
  if (isLibraryDecl(F, Unit.Ctx.getSourceManager()))
    return nullptr;
  Result &R = analyze(F);
  return R.IsDone && R.HasSummary ? &R.Summary : nullptr;
}

const BorrowFindings &BorrowAnalysis::findings(const FunctionDecl *F) {
  auto [It, IsNew] = WithLambdas.try_emplace(F);
  BorrowFindings &All = It->second;
  if (!IsNew || !mayFind(F))
    return All;
  std::vector<const FunctionDecl *> Todo{F};
  while (!Todo.empty()) {
    const FunctionDecl *G = Todo.back();
    Todo.pop_back();
    Result &R = analyze(G);
    llvm::append_range(All.Dangling, R.Findings.Dangling);
    llvm::append_range(All.Silenced, R.Findings.Silenced);
    findBlobExtents(G, Unit.body(G), Types, Unit.Ctx, !Unit.SetsDefaultType,
                    All.Extents);
    llvm::append_range(Todo, R.Lambdas);
  }
  return All;
}

} // namespace tensorscope
