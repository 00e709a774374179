// SPDX-License-Identifier: Apache-2.0
//
// The walk's state, private to dataflow/. Its members live in UnitFacts.cpp
// (what is visited), ContainerFacts.cpp (what grows, and what is emptied),
// DeviceFacts.cpp (variables of static storage), CycleFacts.cpp (callbacks),
// ContextFacts.cpp (contexts of autograd functions), ViewFacts.cpp (views that
// are kept).
#ifndef TENSORSCOPE_DATAFLOW_UNITVISITOR_H
#define TENSORSCOPE_DATAFLOW_UNITVISITOR_H

#include "dataflow/UnitFacts.h"
#include "utils/AstUtils.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/STLExtras.h"
#include <initializer_list>

namespace tensorscope {

/// A function of one of these names.
bool isNamed(const clang::FunctionDecl *F,
             std::initializer_list<llvm::StringRef> Names);
/// What \p E is made of by constructors of one argument, such as an optional
/// of its value; without wrappers.
const clang::Expr *stripConstructions(const clang::Expr *E);
/// The variable or the member that an expression names.
const clang::ValueDecl *namedBy(const clang::Expr *E);
/// A container of the standard library, or of LibTorch, that tensors are in.
bool isContainer(clang::QualType T, TypeModel &Types);
bool isMap(clang::QualType T);
/// A map whose key is a number: a step, an id.
bool hasNumberKey(clang::QualType T);

class UnitVisitor : public clang::RecursiveASTVisitor<UnitVisitor> {
public:
  UnitVisitor(UnitContext &Unit, UnitFacts &Out) : Unit(Unit), Out(Out) {}

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }

  void walk(const clang::FunctionDecl *F) {
    Function = Outer = F;
    Returned.clear();
    if (const auto *Ctor = llvm::dyn_cast<clang::CXXConstructorDecl>(F))
      for (const clang::CXXCtorInitializer *Init : Ctor->inits())
        if (Init->isAnyMemberInitializer())
          TraverseStmt(Init->getInit());
    noteSaved(F);
    noteDeleted(F);
    TraverseStmt(F->getBody());
  }
  void declare(const clang::VarDecl *V) {
    clang::QualType T = V->getType();
    if (V->hasGlobalStorage() && V->getInit() && !T->isReferenceType() &&
        !T->isPointerType() && Unit.Types.carriesTensors(T))
      if (const clang::Expr *Device = mayBeOnDevice(V->getInit(), Unit))
        Out.OnDevice.push_back({V, nullptr, Device, Function});
  }
  /// Mentions that are none of the known kinds may do anything.
  void finish() {
    // What is looked for before it is made is made once for each key.
    llvm::erase_if(Out.Growths, [&](const ContainerGrowth &G) {
      return LookedUp.contains({G.In, G.Container});
    });
    for (const auto &[D, Count] : Unaccounted)
      if (Count > 0)
        Out.Bounded.insert(D);
  }

  bool TraverseDecl(clang::Decl *D) {
    return D && llvm::isa<clang::CXXRecordDecl>(D)
               ? true
               : RecursiveASTVisitor::TraverseDecl(D);
  }
  bool TraverseLambdaExpr(clang::LambdaExpr *E) {
    for (clang::Expr *Init : E->capture_inits()) {
      TraverseStmt(Init);
      account(Init);
    }
    const clang::FunctionDecl *Before = Function;
    unsigned OuterLoops = Loops;
    if (const clang::CXXMethodDecl *Call = callOperator(E->getLambdaClass()))
      Function = Call;
    Loops = 0;
    bool IsHook = Hooks.contains(E);
    InHook += IsHook;
    TraverseStmt(E->getBody());
    InHook -= IsHook;
    Loops = OuterLoops;
    Function = Before;
    return true;
  }
  bool TraverseForStmt(clang::ForStmt *S) {
    return loop([&] { return RecursiveASTVisitor::TraverseForStmt(S); });
  }
  bool TraverseWhileStmt(clang::WhileStmt *S) {
    noteLimits(S->getCond());
    return loop([&] { return RecursiveASTVisitor::TraverseWhileStmt(S); });
  }
  bool TraverseDoStmt(clang::DoStmt *S) {
    return loop([&] { return RecursiveASTVisitor::TraverseDoStmt(S); });
  }
  bool TraverseCXXForRangeStmt(clang::CXXForRangeStmt *S) {
    account(S->getRangeInit());
    return loop(
        [&] { return RecursiveASTVisitor::TraverseCXXForRangeStmt(S); });
  }
  bool VisitIfStmt(clang::IfStmt *S) {
    noteLimits(S->getCond());
    return true;
  }
  bool VisitConditionalOperator(clang::ConditionalOperator *S) {
    // One that chooses between values limits nothing.
    if (S->getTrueExpr()->HasSideEffects(Unit.Ctx) ||
        S->getFalseExpr()->HasSideEffects(Unit.Ctx))
      noteLimits(S->getCond());
    return true;
  }
  bool VisitReturnStmt(clang::ReturnStmt *S) {
    if (S->getRetValue() && ScopeBodies.contains(Function))
      keepView(S->getRetValue(), /*Into=*/nullptr);
    return true;
  }
  bool VisitVarDecl(clang::VarDecl *V) {
    LoopsAround[V] = Loops;
    if (V->isStaticLocal())
      declare(V);
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr *E) { return mention(E); }
  bool VisitMemberExpr(clang::MemberExpr *E) { return mention(E); }
  bool VisitImplicitCastExpr(clang::ImplicitCastExpr *E) {
    if (E->getCastKind() == clang::CK_NoOp && E->getType().isConstQualified())
      account(E->getSubExpr());
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr *E) {
    // A copy, or a view that can't change it.
    if (E->getNumArgs() >= 1 && !E->getConstructor()->isMoveConstructor() &&
        E->getConstructor()->getNumParams() >= 1) {
      clang::QualType T = E->getConstructor()->getParamDecl(0)->getType();
      if (T->isReferenceType() && T.getNonReferenceType().isConstQualified() &&
          !isConstCast(E->getArg(0)))
        account(E->getArg(0));
    }
    return true;
  }
  bool VisitCallExpr(clang::CallExpr *E);

private:
  bool loop(llvm::function_ref<bool()> Traverse) {
    ++Loops;
    bool GoesOn = Traverse();
    --Loops;
    return GoesOn;
  }
  /// Accounted for where the cast is visited.
  static bool isConstCast(const clang::Expr *E) {
    const auto *Cast =
        llvm::dyn_cast<clang::ImplicitCastExpr>(E->IgnoreParens());
    return Cast && Cast->getCastKind() == clang::CK_NoOp;
  }
  bool mention(const clang::Expr *E) {
    if (const clang::ValueDecl *D = namedBy(E))
      ++Unaccounted[D];
    return true;
  }
  void account(const clang::Expr *E) {
    if (const clang::ValueDecl *D = namedBy(E))
      --Unaccounted[D];
  }
  /// A branch that compares how much is in a container limits it, if it is not
  /// run once a program.
  void noteLimits(const clang::Stmt *Condition) {
    if (!Condition || (Function->isMain() && Loops == 0))
      return;
    if (const auto *Call = llvm::dyn_cast<clang::CXXMemberCallExpr>(Condition);
        Call && isNamed(Call->getMethodDecl(), {"size"}))
      if (const clang::ValueDecl *D =
              namedBy(Call->getImplicitObjectArgument()))
        Out.Bounded.insert(D);
    for (const clang::Stmt *Part : Condition->children())
      noteLimits(Part);
  }

  void noteEmptied(const clang::CallExpr *E);
  void noteStoredWhole(const clang::Expr *Value);
  void keepView(const clang::Expr *View, const clang::Expr *Into);
  void visitGrowth(const clang::CXXMemberCallExpr *E,
                   const clang::ValueDecl *D);
  void grow(const clang::ValueDecl *D, const clang::Expr *At);
  void visitAssignment(const clang::CXXOperatorCallExpr *E);
  void storeOnDevice(const clang::VarDecl *V, const clang::Expr *At,
                     const clang::Expr *Value);
  void visitMemberStore(const clang::Expr *Target, const clang::Expr *Callable,
                        const clang::Expr *At);
  void visitHook(const clang::CXXMemberCallExpr *E);
  void noteUnhooked(const clang::CXXMemberCallExpr *E);
  void noteSaved(const clang::FunctionDecl *F);
  void noteDeleted(const clang::FunctionDecl *F);
  void savePointer(const clang::Expr *Value, const clang::Expr *At);
  void visitSave(const clang::Expr *Value, const clang::Expr *At,
                 bool OnlyViews);

  UnitContext &Unit;
  UnitFacts &Out;
  const clang::FunctionDecl *Function =
      nullptr; ///< the innermost, a lambda's too
  const clang::FunctionDecl *Outer = nullptr;
  unsigned Loops = 0;
  unsigned InHook = 0;
  llvm::DenseSet<const clang::LambdaExpr *> Hooks;
  /// Lambdas that run in a scope of their own.
  llvm::DenseSet<const clang::FunctionDecl *> ScopeBodies;
  llvm::DenseMap<const clang::VarDecl *, unsigned> LoopsAround;
  llvm::DenseMap<const clang::ValueDecl *, int> Unaccounted;
  /// Containers that a function looks something up in.
  llvm::DenseSet<std::pair<const clang::FunctionDecl *,
                           const clang::ValueDecl *>>
      LookedUp;
  /// What the `forward` of an autograd function gives back.
  llvm::DenseSet<const clang::VarDecl *> Returned;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_UNITVISITOR_H
