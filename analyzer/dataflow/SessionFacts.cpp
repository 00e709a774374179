// SPDX-License-Identifier: Apache-2.0
//
// Facts of sessions: which function starts and stops one, here, in a callee,
// on another thread, or whenever a closure runs.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

/// The first call in \p Body that starts or stops a session, if it stops one.
const CallExpr *FactsBuilder::findStop(const Stmt *Body) {
  llvm::SmallVector<const Stmt *, 16> Todo{Body};
  while (!Todo.empty()) {
    const Stmt *S = Todo.pop_back_val();
    const auto *Call = dyn_cast_or_null<CallExpr>(S);
    const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
    if (const FunctionModel *M = F ? Unit.Api.find(F) : nullptr)
      for (const Effect &E : M->Effects) {
        if (E.Kind == EffectKind::EndSession)
          return Call;
        if (E.Kind == EffectKind::BeginSession)
          return nullptr;
      }
    if (!S)
      continue;
    // In the order of the text.
    llvm::SmallVector<const Stmt *, 8> Parts(S->child_begin(), S->child_end());
    Todo.append(Parts.rbegin(), Parts.rend());
  }
  return nullptr;
}

/// What a member is may change in any call.
static bool readsMembers(const Stmt *Condition) {
  return Condition && (isa<MemberExpr>(Condition) ||
                       llvm::any_of(Condition->children(), readsMembers));
}

/// Names in the branches around \p At that ask what is not understood.
std::set<const Decl *> FactsBuilder::dependencies(const Stmt *At) {
  std::set<const Decl *> Names;
  for (const Frame *F = Top; F; At = F->CallSite, F = F->Caller)
    for (const Stmt *B = F->Body->BranchOf.lookup(At); B;
         B = F->Body->BranchOf.lookup(B)) {
      const Expr *Condition = conditionOf(B);
      if (isUnderstood(Condition) && !readsMembers(Condition))
        continue;
      llvm::SmallVector<const Stmt *, 8> Todo{Condition};
      while (!Todo.empty()) {
        const Stmt *Part = Todo.pop_back_val();
        if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(Part))
          Names.insert(Ref->getDecl());
        else if (const auto *Member = dyn_cast_or_null<MemberExpr>(Part))
          Names.insert(Member->getMemberDecl());
        if (Part)
          Todo.append(Part->child_begin(), Part->child_end());
      }
    }
  return Names;
}

void FactsBuilder::noteSession(const Stmt *At) {
  Out.DependsOn[At] = dependencies(At);
  if (const auto *E = dyn_cast_or_null<Expr>(At))
    Out.BlockOf[At] = Top->Body->BlockOf.lookup(E);
}

void FactsBuilder::startSession(const Stmt *At, const FunctionDecl *By) {
  noteSession(At);
  ScopeID Scope = beginScope(ScopeForm::Session, At, SourceLocation(), 0);
  Out.Scopes[Scope].Starter = By;
}

void FactsBuilder::stopSession(const Stmt *At) {
  noteSession(At);
  endScope(NoScope, NoPlace, At);
}

/// What a callee does to the session of this thread.
void FactsBuilder::applySessions(const Summary &S, const CallSite &C,
                                 const Stmt *At) {
  if (S.Sessions == SessionEffect::Unclear)
    emit(FactKind::SessionForget, At);
  if (S.Sessions == SessionEffect::Stops ||
      S.Sessions == SessionEffect::Replaces)
    stopSession(At);
  if (S.Sessions == SessionEffect::Starts ||
      S.Sessions == SessionEffect::Replaces)
    startSession(At, C.Callee);
}

/// Whenever the closure runs, it may stop the session.
void FactsBuilder::noteClosure(const LambdaExpr *E) {
  if (!Top->Body->OnThread.contains(E) && findStop(E->getBody()))
    emit(FactKind::SessionForget, E);
}

/// A function that stops sessions is named, not called: somebody will call it.
void FactsBuilder::noteFunctionName(const DeclRefExpr *E) {
  const auto *F = dyn_cast<FunctionDecl>(E->getDecl());
  const FunctionModel *M =
      F && !Top->Body->CalledNames.contains(E) ? Unit.Api.find(F) : nullptr;
  if (M && llvm::any_of(M->Effects, [](const Effect &X) {
        return X.Kind == EffectKind::EndSession;
      }))
    emit(FactKind::SessionForget, E);
}

/// A thread has sessions of its own.
void FactsBuilder::runOnThread(llvm::ArrayRef<const Expr *> Args) {
  for (const Expr *Arg : Args)
    if (const FunctionDecl *F = definitionOf(resolveCallable(Arg)))
      if (const CallExpr *Stop = findStop(F->getBody())) {
        emit(FactKind::StopElsewhere, Stop);
        return;
      }
}

} // namespace tensorscope
