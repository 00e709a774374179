// SPDX-License-Identifier: Apache-2.0
//
// What a branch tells: the handle is defined, the storage is alive, a
// condition that is asked again has the same answer.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

using GuardVariables = llvm::SmallVector<const ValueDecl *, 2>;

/// Collects what a condition reads; false when it may change by itself (calls,
/// globals, volatile objects).
static bool readsOnlyVariables(const Expr *E, GuardVariables &Variables) {
  E = stripWrappers(E);
  if (isa<IntegerLiteral, CXXBoolLiteralExpr, CXXNullPtrLiteralExpr,
          CharacterLiteral, FloatingLiteral, CXXThisExpr>(E))
    return true;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    if (isa<EnumConstantDecl>(Ref->getDecl()))
      return true;
    const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
    if (!Var || Var->hasGlobalStorage() || Var->getType().isVolatileQualified())
      return false;
    Variables.push_back(Var);
    return true;
  }
  if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    if (!isa<FieldDecl>(Member->getMemberDecl()))
      return false;
    Variables.push_back(nullptr);
    return readsOnlyVariables(Member->getBase(), Variables);
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(E))
    return (Unary->getOpcode() == UO_LNot || Unary->getOpcode() == UO_Minus) &&
           readsOnlyVariables(Unary->getSubExpr(), Variables);
  if (const auto *Binary = dyn_cast<BinaryOperator>(E))
    return !Binary->isAssignmentOp() &&
           readsOnlyVariables(Binary->getLHS(), Variables) &&
           readsOnlyVariables(Binary->getRHS(), Variables);
  return false;
}

std::optional<GuardID> FactsBuilder::guardFor(const Expr *Condition) {
  GuardVariables Variables;
  if (!readsOnlyVariables(Condition, Variables) || Variables.empty())
    return std::nullopt;
  const auto *Ref = dyn_cast<DeclRefExpr>(Condition);
  if (Ref)
    if (auto It = VariableGuards.find(Ref->getDecl());
        It != VariableGuards.end())
      return It->second;
  llvm::FoldingSetNodeID Key;
  Condition->Profile(Key, Unit.Ctx, /*Canonical=*/true);
  for (GuardID ID = 0; ID < GuardKeys.size(); ++ID)
    if (GuardKeys[ID] == Key)
      return ID;
  GuardKeys.push_back(Key);
  Out.GuardVariables.push_back(Variables);
  GuardID ID = GuardKeys.size() - 1;
  if (Ref)
    VariableGuards[Ref->getDecl()] = ID;
  return ID;
}

/// The variable, or null for some member; nothing for what is no name. A
/// function of the object that runs may look at any member, one of another
/// object at that object's own.
static std::optional<const ValueDecl *> namedBy(const Expr *E) {
  E = stripWrappers(E);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    return isa<VarDecl>(Ref->getDecl()) ? std::optional(Ref->getDecl())
                                        : std::nullopt;
  const auto *Member = dyn_cast<MemberExpr>(E);
  if (Member && (isa<FieldDecl>(Member->getMemberDecl()) ||
                 isa<CXXThisExpr>(Member->getBase()->IgnoreImpCasts())))
    return nullptr;
  return std::nullopt;
}

/// What a condition looks at.
static llvm::SmallVector<const ValueDecl *, 4> namesIn(const Stmt *Condition) {
  llvm::SmallVector<const Stmt *, 8> Todo{Condition};
  llvm::SmallVector<const ValueDecl *, 4> Names;
  while (!Todo.empty()) {
    const Stmt *Part = Todo.pop_back_val();
    if (const auto *E = dyn_cast_or_null<Expr>(Part))
      if (auto Named = namedBy(E); Named && !llvm::is_contained(Names, *Named))
        Names.push_back(*Named);
    if (Part && !isa<LambdaExpr>(Part))
      Todo.append(Part->child_begin(), Part->child_end());
  }
  return Names;
}

static const Expr *conditionOf(const Stmt *Branch) {
  if (const auto *If = dyn_cast<IfStmt>(Branch))
    return If->getCond();
  if (const auto *Switch = dyn_cast<SwitchStmt>(Branch))
    return Switch->getCond();
  if (const auto *Conditional = dyn_cast<ConditionalOperator>(Branch))
    return Conditional->getCond();
  return cast<BinaryOperator>(Branch)->getLHS();
}

/// An assignment, or a call that may change its object: perhaps a flag is set,
/// also through a pointer.
void FactsBuilder::noteWrite(const Expr *Target, const Stmt *At) {
  if (!Target || carries(Target->getType()))
    return;
  if (const auto *Pointed = dyn_cast<UnaryOperator>(stripWrappers(Target)))
    Target = Pointed->getSubExpr();
  if (auto Named = namedBy(Target))
    emit(FactKind::Note, At).Variable = *Named;
}

/// The branches around a release know of it: whoever asks the same afterwards
/// may know, too, also in other words.
void FactsBuilder::noteBranches(const Stmt *At) {
  for (const Frame *F = Top; F; At = F->CallSite, F = F->Caller)
    for (const Stmt *B = F->Body->BranchOf.lookup(At); B;
         B = F->Body->BranchOf.lookup(B))
      for (const ValueDecl *V : namesIn(conditionOf(B)))
        emit(FactKind::Note, At).Variable = V;
}

/// Tells which variables a branch depends on.
void FactsBuilder::ask(const Expr *Condition) {
  for (const ValueDecl *V : namesIn(Condition))
    emit(FactKind::Ask, Condition).Variable = V;
}

void FactsBuilder::assume(const Expr *Condition, bool Value) {
  ask(Condition);
  Condition = stripWrappers(Condition);
  while (const auto *Not = dyn_cast<UnaryOperator>(Condition)) {
    if (Not->getOpcode() != UO_LNot)
      break;
    Value = !Value;
    Condition = stripWrappers(Not->getSubExpr());
  }
  if (const auto *Call = dyn_cast<CallExpr>(Condition)) {
    const FunctionDecl *F = Call->getDirectCallee();
    const FunctionModel *M = F ? Unit.Api.find(F) : nullptr;
    for (const Effect &E : M ? llvm::ArrayRef<Effect>(M->Effects)
                             : llvm::ArrayRef<Effect>()) {
      const auto *Member = dyn_cast<CXXMemberCallExpr>(Call);
      const Expr *Asked = E.Arg == ThisArg
                              ? Member ? Member->getImplicitObjectArgument()
                                       : nullptr
                          : unsigned(E.Arg) < Call->getNumArgs()
                              ? Call->getArg(E.Arg)
                              : nullptr;
      PlaceID P = valueOf(Asked);
      if (P == NoPlace || (E.Kind != EffectKind::QueryDefined &&
                           E.Kind != EffectKind::QueryAlive))
        continue;
      Fact &Assumption = emit(E.Kind == EffectKind::QueryDefined
                                  ? FactKind::AssumeDefined
                                  : FactKind::AssumeAlive,
                              Condition);
      Assumption.Src = P;
      Assumption.Value = Value;
    }
    return;
  }
  if (auto Guard = guardFor(Condition)) {
    Fact &Assumption = emit(FactKind::AssumeGuard, Condition);
    Assumption.Guard = *Guard;
    Assumption.Value = Value;
  }
}

void FactsBuilder::recordScalarWrite(const ValueDecl *V, const Expr *Value,
                                     const Stmt *At) {
  if (!V)
    return;
  emit(FactKind::DropGuards, At).Variable = isa<FieldDecl>(V) ? nullptr : V;
  Expr::EvalResult Known;
  if (!isa<VarDecl>(V) || !Value || Value->isValueDependent() ||
      !V->getType()->isIntegralOrEnumerationType() ||
      !Value->EvaluateAsInt(Known, Unit.Ctx))
    return;
  auto It = VariableGuards.find(V);
  GuardID ID;
  if (It != VariableGuards.end()) {
    ID = It->second;
  } else {
    llvm::FoldingSetNodeID Key;
    Key.AddPointer(V);
    ID = GuardKeys.size();
    GuardKeys.push_back(Key);
    Out.GuardVariables.push_back({V});
    VariableGuards[V] = ID;
  }
  Fact &F = emit(FactKind::SetGuard, At);
  F.Guard = ID;
  F.Value = Known.Val.getInt().getBoolValue();
}

void FactsBuilder::dropWrittenGuards(const CallSite &C) {
  if (!Unit.Api.find(C.Callee))
    emit(FactKind::DropGuards, C.E);
  for (unsigned I = 0; I < C.Args.size(); ++I) {
    const Expr *Arg = stripWrappers(C.Args[I]);
    bool ByAddress = false;
    if (const auto *Address = dyn_cast<UnaryOperator>(Arg)) {
      ByAddress = Address->getOpcode() == UO_AddrOf;
      Arg = stripWrappers(Address->getSubExpr());
    }
    const auto *Ref = dyn_cast<DeclRefExpr>(Arg);
    if (!Ref || I >= C.Callee->getNumParams())
      continue;
    QualType T = C.Callee->getParamDecl(I)->getType();
    if (ByAddress || (T->isReferenceType() &&
                      !T.getNonReferenceType().isConstQualified()))
      emit(FactKind::DropGuards, C.E).Variable = Ref->getDecl();
  }
}

} // namespace tensorscope
