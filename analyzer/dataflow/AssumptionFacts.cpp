// SPDX-License-Identifier: Apache-2.0
//
// What a branch tells: the handle is defined, the storage is alive, a
// condition that is asked again has the same answer.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"
#include "clang/Basic/Builtins.h"

using namespace clang;

namespace tensorscope {

using GuardVariables = llvm::SmallVector<const ValueDecl *, 2>;

bool readsOnlyVariables(const Expr *E, GuardVariables &Variables) {
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

/// What a condition looks at, and what the numbers that it looks at were made
/// of: `const bool big = n > 3` looks at `n`.
static llvm::SmallVector<const ValueDecl *, 4> namesIn(const Stmt *Condition) {
  llvm::SmallVector<const Stmt *, 8> Todo{Condition};
  llvm::SmallVector<const ValueDecl *, 4> Names;
  while (!Todo.empty()) {
    const Stmt *Part = Todo.pop_back_val();
    if (const auto *E = dyn_cast_or_null<Expr>(Part))
      if (auto Named = namedBy(E); Named && !llvm::is_contained(Names, *Named)) {
        Names.push_back(*Named);
        if (const auto *V = dyn_cast_or_null<VarDecl>(*Named);
            V && V->hasLocalStorage() && V->getInit() &&
            V->getType()->isIntegralOrEnumerationType())
          Todo.push_back(V->getInit());
      }
    if (Part && !isa<LambdaExpr>(Part))
      Todo.append(Part->child_begin(), Part->child_end());
  }
  return Names;
}

const Expr *conditionOf(const Stmt *Branch) {
  if (const auto *If = dyn_cast<IfStmt>(Branch))
    return If->getCond();
  if (const auto *Switch = dyn_cast<SwitchStmt>(Branch))
    return Switch->getCond();
  if (const auto *Conditional = dyn_cast<ConditionalOperator>(Branch))
    return Conditional->getCond();
  return cast<BinaryOperator>(Branch)->getLHS();
}

GuardID FactsBuilder::internGuard(const llvm::FoldingSetNodeID &Key,
                                  llvm::ArrayRef<const ValueDecl *> Variables) {
  for (GuardID ID = 0; ID < GuardKeys.size(); ++ID)
    if (GuardKeys[ID] == Key)
      return ID;
  GuardKeys.push_back(Key);
  Out.GuardVariables.emplace_back(Variables.begin(), Variables.end());
  Out.GuardComparisons.emplace_back();
  return GuardKeys.size() - 1;
}

std::optional<GuardID> FactsBuilder::guardFor(const Expr *Condition) {
  GuardVariables Variables;
  if (!readsOnlyVariables(Condition, Variables) || Variables.empty())
    return std::nullopt;
  llvm::FoldingSetNodeID Key;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Condition))
    Key.AddPointer(Ref->getDecl());
  else
    Condition->Profile(Key, Unit.Ctx, /*Canonical=*/true);
  return internGuard(Key, Variables);
}

/// `!=`, `<=` and `>=` deny `==`, `>` and `<`.
static bool isDenial(BinaryOperatorKind Operator) {
  return Operator == BO_NE || Operator == BO_LE || Operator == BO_GE;
}

/// Number of an expression that is compared with constants.
unsigned FactsBuilder::comparedSubject(const Expr *E) {
  llvm::FoldingSetNodeID Key;
  E->Profile(Key, Unit.Ctx, /*Canonical=*/true);
  auto Found = llvm::find(ComparedSubjects, Key);
  if (Found == ComparedSubjects.end())
    Found = ComparedSubjects.insert(Found, Key);
  return Found - ComparedSubjects.begin();
}

void FactsBuilder::assumeComparison(const Expr *Left,
                                    BinaryOperatorKind Operator,
                                    const Expr *Right, bool Value,
                                    const Stmt *At) {
  Expr::EvalResult Known;
  auto IsConstant = [&](const Expr *E) {
    return !E->isValueDependent() && E->getType()->isIntegralOrEnumerationType()
           && E->EvaluateAsInt(Known, Unit.Ctx);
  };
  Left = stripWrappers(Left);
  Right = stripWrappers(Right);
  if (IsConstant(Left)) {
    std::swap(Left, Right);
    Operator = BinaryOperator::reverseComparisonOp(Operator);
  }
  if (isDenial(Operator)) {
    Operator = BinaryOperator::negateComparisonOp(Operator);
    Value = !Value;
  }
  GuardVariables Variables;
  if (!readsOnlyVariables(Left, Variables) ||
      !readsOnlyVariables(Right, Variables) || Variables.empty())
    return;
  llvm::FoldingSetNodeID Key;
  Key.AddInteger(unsigned(Operator));
  Left->Profile(Key, Unit.Ctx, /*Canonical=*/true);
  bool HasConstant =
      IsConstant(Right) && Known.Val.getInt().getSignificantBits() < 62;
  if (HasConstant)
    Key.AddInteger(Known.Val.getInt().getExtValue());
  else
    Right->Profile(Key, Unit.Ctx, /*Canonical=*/true);
  GuardID Guard = internGuard(Key, Variables);
  if (HasConstant)
    Out.GuardComparisons[Guard] = {comparedSubject(Left), Operator,
                                   Known.Val.getInt().getExtValue()};
  Fact &Assumption = emit(FactKind::AssumeGuard, At);
  Assumption.Guard = Guard;
  Assumption.Value = Value;
}

/// Another branch of this function depends on what the switch does.
bool FactsBuilder::isAskedElsewhere(const SwitchStmt *Switch) const {
  auto Names = namesIn(Switch->getCond());
  return llvm::any_of(*Unit.cfg(Top->Function), [&](const CFGBlock *B) {
    const Stmt *Other = B->getTerminatorCondition();
    return Other && B->getTerminatorStmt() != Switch &&
           llvm::any_of(namesIn(Other), [&](const ValueDecl *V) {
             return llvm::is_contained(Names, V);
           });
  });
}

/// On the way into a case its constant was met, else none was.
void FactsBuilder::assumeCase(const SwitchStmt *Switch, const Stmt *Label) {
  for (const SwitchCase *C = Switch->getSwitchCaseList(); C;
       C = C->getNextSwitchCase()) {
    const auto *Case = dyn_cast<CaseStmt>(C);
    bool IsMet = Case && Case == Label;
    if (Case && !Case->getRHS() && (IsMet || !isa_and_nonnull<CaseStmt>(Label)))
      assumeComparison(Switch->getCond(), BO_EQ, Case->getLHS(), IsMet, Switch);
  }
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

const Expr *stripDenials(const Expr *Condition, bool &Value) {
  while (true) {
    Condition = stripWrappers(Condition);
    const auto *Not = dyn_cast<UnaryOperator>(Condition);
    const auto *Call = dyn_cast<CallExpr>(Condition);
    if (Not && Not->getOpcode() == UO_LNot) {
      Value = !Value;
      Condition = Not->getSubExpr();
    } else if (Call && Call->getBuiltinCallee() == Builtin::BI__builtin_expect) {
      Condition = Call->getArg(0);
    } else {
      return Condition;
    }
  }
}

void FactsBuilder::assume(const Expr *Condition, bool Value) {
  ask(Condition);
  suppose(Condition, Value);
}

void FactsBuilder::suppose(const Expr *Condition, bool Value) {
  Condition = stripDenials(Condition, Value);
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
  if (const auto *Binary = dyn_cast<BinaryOperator>(Condition);
      Binary && Binary->isComparisonOp() && Binary->getOpcode() != BO_Cmp) {
    assumeComparison(Binary->getLHS(), Binary->getOpcode(), Binary->getRHS(),
                     Value, Condition);
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
  bool IsScalar = isa<VarDecl>(V) && Value && !Value->isValueDependent() &&
                  V->getType()->isIntegralOrEnumerationType();
  Expr::EvalResult Known;
  bool IsKnown = IsScalar && Value->EvaluateAsInt(Known, Unit.Ctx);
  if (IsScalar && !IsKnown && standFor(V, Value, At))
    return;
  emit(FactKind::DropGuards, At).Variable = isa<FieldDecl>(V) ? nullptr : V;
  if (!IsKnown)
    return;
  llvm::FoldingSetNodeID Key;
  Key.AddPointer(V);
  GuardID ID = internGuard(Key, V);
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
