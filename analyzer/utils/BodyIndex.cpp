// SPDX-License-Identifier: Apache-2.0
#include "utils/BodyIndex.h"

#include "utils/AstUtils.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"
#include <optional>

using namespace clang;

namespace tensorscope {
namespace {

class BodyVisitor : public RecursiveASTVisitor<BodyVisitor> {
public:
  explicit BodyVisitor(BodyIndex &Index) : Index(Index) {}

  void finish() {
    for (const auto &[V, Count] : Unaccounted)
      if (Count > 0)
        Index.WrittenElsewhere.insert(V);
  }

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }
  bool TraverseLambdaExpr(LambdaExpr *L) {
    note(L);
    const LambdaCapture *Capture = L->capture_begin();
    for (Expr *Init : L->capture_inits()) {
      const auto *Ref = dyn_cast_or_null<DeclRefExpr>(Init);
      if (Ref && (Capture++)->getCaptureKind() == LCK_ByRef)
        Index.Captured.insert(Ref);
      else if (!Ref)
        ++Capture;
      TraverseStmt(Init);
    }
    return true;
  }
  bool TraverseDecl(Decl *D) {
    // A local class's members are functions of their own.
    return D && isa<CXXRecordDecl>(D) ? true
                                      : RecursiveASTVisitor::TraverseDecl(D);
  }

  bool TraverseForStmt(ForStmt *S) {
    TraverseStmt(S->getInit());
    return loop(S, {S->getConditionVariableDeclStmt(), S->getCond(),
                    S->getInc(), S->getBody()});
  }
  bool TraverseWhileStmt(WhileStmt *S) {
    return loop(S, {S->getConditionVariableDeclStmt(), S->getCond(),
                    S->getBody()});
  }
  bool TraverseDoStmt(DoStmt *S) {
    return loop(S, {S->getBody(), S->getCond()});
  }
  bool TraverseCXXForRangeStmt(CXXForRangeStmt *S) {
    TraverseStmt(S->getInit());
    TraverseStmt(S->getRangeStmt());
    TraverseStmt(S->getBeginStmt());
    TraverseStmt(S->getEndStmt());
    return loop(S, {S->getCond(), S->getInc(), S->getLoopVarStmt(),
                    S->getBody()});
  }

  bool TraverseIfStmt(IfStmt *S) {
    return branch(S, [&] { return RecursiveASTVisitor::TraverseIfStmt(S); });
  }
  bool TraverseSwitchStmt(SwitchStmt *S) {
    return branch(S, [&] { return RecursiveASTVisitor::TraverseSwitchStmt(S); });
  }
  bool TraverseConditionalOperator(ConditionalOperator *S) {
    Index.ArmOf[stripWrappers(S->getTrueExpr())] = S;
    Index.ArmOf[stripWrappers(S->getFalseExpr())] = S;
    return branch(
        S, [&] { return RecursiveASTVisitor::TraverseConditionalOperator(S); });
  }
  bool TraverseBinaryOperator(BinaryOperator *S,
                              DataRecursionQueue *Queue = nullptr) {
    if (!S->isLogicalOp())
      return RecursiveASTVisitor::TraverseBinaryOperator(S, Queue);
    return branch(S,
                  [&] { return RecursiveASTVisitor::TraverseBinaryOperator(S); });
  }
  bool TraverseCXXCatchStmt(CXXCatchStmt *S) {
    ++Handlers;
    bool GoesOn = RecursiveASTVisitor::TraverseCXXCatchStmt(S);
    --Handlers;
    return GoesOn;
  }

  bool VisitCompoundStmt(CompoundStmt *S) {
    for (const Stmt *Child : S->body()) {
      statement(Child);
      if (const auto *E = dyn_cast<Expr>(Child))
        Index.BlockOf[stripWrappers(E)] = S;
      if (isa<DeclStmt>(Child))
        Index.BlockEnd[Child] = S->getEndLoc();
    }
    return true;
  }
  bool VisitIfStmt(IfStmt *S) {
    statement(S->getThen());
    statement(S->getElse());
    return true;
  }
  bool VisitSwitchCase(SwitchCase *S) {
    statement(S->getSubStmt());
    return true;
  }
  bool VisitLabelStmt(LabelStmt *S) {
    statement(S->getSubStmt());
    return true;
  }
  bool VisitDeclStmt(DeclStmt *S) {
    note(S);
    for (const Decl *D : S->decls())
      Index.HasErrors |= D->isInvalidDecl();
    return true;
  }
  bool VisitExpr(Expr *E) {
    Index.HasErrors |= E->containsErrors();
    return true;
  }
  bool TraverseCompoundStmt(CompoundStmt *S,
                            DataRecursionQueue * /*Queue*/ = nullptr) {
    const IfStmt *Outer = CurrentSkip;
    VisitCompoundStmt(S);
    for (Stmt *Child : S->body()) {
      TraverseStmt(Child);
      const auto *If = dyn_cast<IfStmt>(Child);
      if (If && !If->getElse() && skipsTheRest(If->getThen()))
        CurrentSkip = If;
    }
    CurrentSkip = Outer;
    return true;
  }
  bool VisitCallExpr(CallExpr *E) {
    note(E);
    if (Handlers != 0)
      Index.Handled.insert(E);
    if (CurrentSkip)
      Index.SkippedBy[E] = CurrentSkip;
    if (const auto *Name =
            dyn_cast<DeclRefExpr>(E->getCallee()->IgnoreParenImpCasts()))
      Index.CalledNames.insert(Name);
    give(E, E->arguments());
    if (const FunctionDecl *F = E->getDirectCallee();
        F && qualifiedName(F) == "std::async")
      runOnThread(E->arguments());
    if (const FunctionDecl *F = E->getDirectCallee())
      Index.Callees.push_back(F);
    if (const auto *Member = dyn_cast<CXXMemberCallExpr>(E)) {
      object(Member->getImplicitObjectArgument(), E);
      giveOne(E, Member->getImplicitObjectArgument());
    }
    if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E))
      if (Op->isAssignmentOp() && Op->getOperator() == OO_Equal) {
        object(Op->getArg(0), E);
        reassign(Op->getArg(0));
      }
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr *E) {
    if (Handlers != 0)
      Index.Exposed.insert(E->getDecl());
    ++Unaccounted[E->getDecl()];
    return true;
  }
  bool VisitMemberExpr(MemberExpr *E) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(stripWrappers(E->getBase())))
      Index.LookedAt.insert(Ref);
    return true;
  }
  bool VisitImplicitCastExpr(ImplicitCastExpr *E) {
    // Its value is taken, or it is bound to what can't write to it.
    if (E->getCastKind() == CK_LValueToRValue ||
        (E->getCastKind() == CK_NoOp && E->getType().isConstQualified()))
      account(E->getSubExpr());
    return true;
  }
  bool VisitCXXNewExpr(CXXNewExpr *E) {
    Index.News.push_back(E);
    return true;
  }
  bool VisitCXXDeleteExpr(CXXDeleteExpr *) { return Index.HasDelete = true; }
  bool VisitCXXThrowExpr(CXXThrowExpr *) { return Index.HasTryOrThrow = true; }
  bool VisitCXXTryStmt(CXXTryStmt *) { return Index.HasTryOrThrow = true; }
  bool VisitUnaryOperator(UnaryOperator *E) {
    if (E->isIncrementDecrementOp()) {
      note(E);
      write(E->getSubExpr(), E);
    }
    if (E->getOpcode() == UO_AddrOf)
      if (const DeclRefExpr *Ref = variableOf(E->getSubExpr()))
        Index.Exposed.insert(Ref->getDecl());
    return true;
  }
  bool VisitVarDecl(VarDecl *V) {
    const CXXRecordDecl *Class = V->getType()->getAsCXXRecordDecl();
    if (Class && Class->hasDefinition())
      if (const CXXDestructorDecl *D = Class->getDestructor())
        if (D->isUserProvided())
          Index.Callees.push_back(D);
    return true;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *E) {
    note(E);
    if (!E->getConstructor()->isCopyOrMoveConstructor())
      give(E, E->arguments());
    std::string Class = qualifiedName(E->getConstructor()->getParent());
    if (Class == "std::thread" || Class == "std::jthread")
      runOnThread(E->arguments());
    Index.Callees.push_back(E->getConstructor());
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator *E) {
    if (E->isAssignmentOp())
      write(E->getLHS(), E);
    if (E->getOpcode() == BO_Assign) {
      object(E->getLHS(), E);
      reassign(E->getLHS());
    }
    return true;
  }

private:
  bool loop(Stmt *Loop, std::initializer_list<Stmt *> Parts) {
    Index.OuterLoop[Loop] = Current;
    const Stmt *Outer = Current;
    Current = Loop;
    for (Stmt *Part : Parts)
      if (Part) {
        statement(Part);
        TraverseStmt(Part);
      }
    Current = Outer;
    return true;
  }
  bool branch(Stmt *Branch, llvm::function_ref<bool()> Traverse) {
    note(Branch);
    const Stmt *Outer = CurrentBranch;
    CurrentBranch = Branch;
    bool GoesOn = Traverse();
    CurrentBranch = Outer;
    return GoesOn;
  }
  void note(const Stmt *E) {
    if (Current)
      Index.LoopOf[E] = Current;
    if (CurrentBranch)
      Index.BranchOf[E] = CurrentBranch;
  }
  static bool skipsTheRest(const Stmt *S) {
    if (const auto *Block = dyn_cast<CompoundStmt>(S))
      return !Block->body_empty() && skipsTheRest(Block->body_back());
    return isa<ContinueStmt, ReturnStmt>(S);
  }
  template <class Range> void runOnThread(Range Args) {
    for (const Expr *Arg : Args)
      if (const Expr *Lambda = stripWrappers(Arg); isa<LambdaExpr>(Lambda))
        Index.OnThread.insert(Lambda);
  }
  template <class Range> void give(const Expr *Call, Range Args) {
    for (const Expr *Arg : Args)
      giveOne(Call, Arg);
  }
  /// The outermost call around a name is visited first.
  void giveOne(const Expr *Call, const Expr *Arg) {
    if (const DeclRefExpr *Ref = namedIn(Arg))
      Index.GivenTo.try_emplace(Ref, Call);
  }
  /// `net` in `net`, `*net`, `&net`, `net.get()`, `net->`.
  static const DeclRefExpr *namedIn(const Expr *E) {
    while (E) {
      E = stripWrappers(E);
      if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
        return Ref;
      const auto *Unary = dyn_cast<UnaryOperator>(E);
      const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
      const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
      const auto *Copy = dyn_cast<CXXConstructExpr>(E);
      bool IsPointed =
          Op && (Op->getOperator() == OO_Star || Op->getOperator() == OO_Arrow);
      const CXXMethodDecl *Method = Call ? Call->getMethodDecl() : nullptr;
      bool IsGet = Method && Method->getDeclName().isIdentifier() &&
                   (Method->getName() == "get" || Method->getName() == "ptr");
      E = Unary && (Unary->getOpcode() == UO_Deref ||
                    Unary->getOpcode() == UO_AddrOf)
              ? Unary->getSubExpr()
          : IsPointed                       ? Op->getArg(0)
          : IsGet                           ? Call->getImplicitObjectArgument()
          : Copy && Copy->getNumArgs() == 1 ? Copy->getArg(0)
                                            : nullptr;
    }
    return nullptr;
  }
  void account(const Expr *E) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParens()))
      --Unaccounted[Ref->getDecl()];
  }
  void write(const Expr *Target, const Expr *At) {
    const auto *Ref = dyn_cast<DeclRefExpr>(Target->IgnoreParens());
    if (!Ref)
      return;
    account(Ref);
    Index.Writes[Ref->getDecl()].push_back({At, Current});
  }
  void reassign(const Expr *Target) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(stripWrappers(Target)))
      Index.Reassigned.insert(Ref->getDecl());
  }
  void object(const Expr *Object, const Expr *Call) {
    // `list[i] = x` writes to the list.
    while (const Expr *Base = Object ? subscripted(Object) : nullptr)
      Object = Base;
    if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(
            Object ? stripWrappers(Object) : nullptr))
      Index.ObjectOf[Ref] = Call;
  }
  static const Expr *subscripted(const Expr *E) {
    E = stripWrappers(E);
    if (const auto *Array = dyn_cast<ArraySubscriptExpr>(E))
      return Array->getBase();
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
    return Op && Op->getOperator() == OO_Subscript ? Op->getArg(0) : nullptr;
  }
  /// The variable that \p E is a part of: `pair` in `pair.first`.
  static const DeclRefExpr *variableOf(const Expr *E) {
    while (E) {
      E = stripWrappers(E);
      const auto *Member = dyn_cast<MemberExpr>(E);
      if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
        return Ref;
      E = Member && !Member->isArrow() ? Member->getBase() : subscripted(E);
    }
    return nullptr;
  }
  static bool hasVoidCast(const Expr *E) {
    while (E) {
      if (E->getType()->isVoidType() && isa<ExplicitCastExpr>(E))
        return true;
      const Expr *Inner = E->IgnoreParens();
      if (Inner == E)
        return false;
      E = Inner;
    }
    return false;
  }
  void statement(const Stmt *S) {
    if (!S)
      return;
    const auto *E = dyn_cast<Expr>(S);
    if (!E) {
      Index.Statements.insert(S);
      return;
    }
    if (const auto *Full = dyn_cast<FullExpr>(E))
      E = Full->getSubExpr();
    const Expr *Stripped = stripWrappers(E);
    Index.Statements.insert(Stripped);
    if (!hasVoidCast(E))
      Index.Discarded.insert(Stripped);
  }

  BodyIndex &Index;
  const Stmt *Current = nullptr;
  const Stmt *CurrentBranch = nullptr;
  const IfStmt *CurrentSkip = nullptr;
  /// Mentions of a variable that are neither reads nor writes of its value.
  llvm::DenseMap<const ValueDecl *, int> Unaccounted;
  unsigned Handlers = 0; ///< around the expression that is visited
};

} // namespace

BodyIndex indexBody(const FunctionDecl *F) {
  BodyIndex Index;
  Index.Function = F;
  BodyVisitor Visitor(Index);
  if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
    for (const CXXCtorInitializer *Init : Ctor->inits())
      Visitor.TraverseStmt(Init->getInit());
  Visitor.TraverseStmt(F->getBody());
  Visitor.finish();
  return Index;
}

} // namespace tensorscope
