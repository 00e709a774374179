// SPDX-License-Identifier: Apache-2.0
//
// Facts of scopes and sessions: where they begin and end, and what is given
// away so that their end can't be seen.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

unsigned FactsBuilder::depthAt(SourceLocation Loc) const {
  const SourceManager &SM = Unit.Ctx.getSourceManager();
  unsigned Depth = Top->BaseDepth;
  for (SourceRange Guard : Top->GuardRanges)
    if (SM.isBeforeInTranslationUnit(Guard.getBegin(), Loc) &&
        SM.isBeforeInTranslationUnit(Loc, Guard.getEnd()))
      ++Depth;
  return Depth;
}

ScopeID FactsBuilder::beginScope(ScopeForm Form, const Stmt *At,
                                 SourceLocation End, unsigned Depth) {
  ScopeInfo Info;
  Info.Form = Form;
  Info.Begin = At;
  Info.EndLoc = End;
  Info.Depth = Depth;
  Info.Loop = loopOf(At);
  Out.Scopes.push_back(Info);
  ScopeID ID = Out.Scopes.size() - 1;
  emit(FactKind::ScopeBegin, At).Scope = ID;
  return ID;
}

void FactsBuilder::endScope(ScopeID S, PlaceID Result, const Stmt *At) {
  Fact &F = emit(FactKind::ScopeEnd, At);
  F.Scope = S;
  F.Src = Result;
  noteBranches(S == NoScope ? At : Out.Scopes[S].Begin);
}

void FactsBuilder::declareGuard(const VarDecl *V, ScopeForm Form,
                                const Stmt *At) {
  SourceLocation End = Top->Body->BlockEnd.lookup(At);
  if (End.isInvalid())
    End = Top->Function->getEndLoc();
  unsigned Depth = depthAt(V->getLocation()) + 1;
  ScopeID Scope = beginScope(Form, At, End, Depth);
  Out.Scopes[Scope].Guard = V;
  Guards[V] = Scope;
  Top->GuardRanges.push_back(SourceRange(V->getLocation(), End));
}

/// The scope whose guard \p E names, itself, by reference or by address.
ScopeID FactsBuilder::guardNamedBy(const Expr *E) const {
  E = E ? stripWrappers(E) : nullptr;
  if (const auto *Address = dyn_cast_or_null<UnaryOperator>(E))
    E = stripWrappers(Address->getSubExpr());
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V ? Guards.lookup(V) : NoScope;
}

/// A guard's `close()`; of a guard that is not in sight, all are in doubt.
void FactsBuilder::endScopeByCall(const CallSite &C, const Effect &E) {
  const Expr *Guard = E.Arg == ThisArg ? C.Object : callableArg(C, E.Arg);
  ScopeID Scope = guardNamedBy(Guard);
  if (Scope == NoScope) {
    emit(FactKind::ScopeForget, C.E);
    return;
  }
  Fact &End = emit(FactKind::ScopeEnd, C.E);
  End.Scope = Scope;
  End.Src = argPlace(C, E.Arg + 1);
  End.Value = true;
  noteBranches(C.E);
}

/// Whoever is given a guard may end its scope; so may a member function of a
/// class that wraps one, if \p MayEnd.
void FactsBuilder::forgetGuards(const CallSite &C, bool MayEnd) {
  auto Forget = [&](ScopeID Scope) {
    emit(FactKind::ScopeForget, C.E).Scope = Scope;
  };
  for (const Expr *Arg : C.Args)
    if (ScopeID Scope = guardNamedBy(Arg))
      Forget(Scope);
  if (MayEnd)
    Forget(guardNamedBy(C.Object));
}

} // namespace tensorscope
