// SPDX-License-Identifier: Apache-2.0
//
// What a branch says of raw pointers that own: one is null, a call that was to
// make an owner failed.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

static bool isZero(const Expr *E, const ASTContext &Ctx) {
  Expr::EvalResult Known;
  return isa<CXXNullPtrLiteralExpr, GNUNullExpr>(stripWrappers(E)) ||
         (!E->isValueDependent() &&
          E->getType()->isIntegralOrEnumerationType() &&
          E->EvaluateAsInt(Known, Ctx) && !Known.Val.getInt().getBoolValue());
}

/// What is compared with zero in \p E, or else \p E; \p Value becomes whether
/// it is not zero. Null for a comparison with something else.
static const Expr *comparedWithZero(const Expr *E, bool &Value,
                                    const ASTContext &Ctx) {
  E = stripDenials(E, Value);
  const auto *Binary = dyn_cast<BinaryOperator>(E);
  if (!Binary || !Binary->isComparisonOp())
    return E;
  const Expr *Other = isZero(Binary->getRHS(), Ctx)   ? Binary->getLHS()
                      : isZero(Binary->getLHS(), Ctx) ? Binary->getRHS()
                                                      : nullptr;
  if (!Other || !Binary->isEqualityOp())
    return nullptr;
  if (Binary->getOpcode() == BO_EQ)
    Value = !Value;
  return stripWrappers(Other);
}

/// The call that \p E is true or false with, if it says whether that made an
/// owner.
const CallExpr *FactsBuilder::outcomeOf(const Expr *E,
                                        bool &FailedIfTrue) const {
  bool IsNonZero = true;
  E = comparedWithZero(E, IsNonZero, Unit.Ctx);
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  if (!Call || !Top->Acquiring.count(Call))
    return nullptr;
  // A number is that of an error, `true` and a pointer are success.
  QualType T = Call->getType();
  FailedIfTrue = (T->isBooleanType() || T->isPointerType()) != IsNonZero;
  return Call;
}

void FactsBuilder::noteOutcome(const ValueDecl *V, const Expr *Value) {
  if (!V->getType()->isIntegralOrEnumerationType())
    return;
  bool FailedIfTrue = false;
  const CallExpr *Call = outcomeOf(Value, FailedIfTrue);
  Fact &F = emit(FactKind::NoteOutcome, Call);
  F.Variable = V;
  F.Value = FailedIfTrue;
  F.IsWeak = !Call || !Top->Acquiring.lookup(Call);
}

void FactsBuilder::assumeOwners(const Expr *Condition, bool Value) {
  if (!Top->FollowsOwners)
    return;
  bool IsNonZero = Value;
  const Expr *E = comparedWithZero(Condition, IsNonZero, Unit.Ctx);
  if (!E) {
    doubtOwners(Condition);
    return;
  }
  PointerUse Use = pointerIn(E);
  const auto *Member = dyn_cast<MemberExpr>(E);
  // `if (d->deleter)`: what has no deleter is not freed.
  if (Member && Member->isArrow() && !IsNonZero)
    Use = pointerIn(Member->getBase());
  if (Use.Form == PointerForm::Value || Use.Form == PointerForm::Variable) {
    emitOwner(FactKind::AssumeNull, Use.Place, E).Value = !IsNonZero;
    return;
  }
  bool FailedIfTrue = false;
  if (const CallExpr *Call = outcomeOf(E, FailedIfTrue)) {
    Fact &F = emit(FactKind::AssumeOutcome, Call);
    F.Value = FailedIfTrue == IsNonZero;
    F.IsWeak = !Top->Acquiring.lookup(Call);
    return;
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  if (Ref && Ref->getType()->isIntegralOrEnumerationType()) {
    Fact &F = emit(FactKind::AssumeOutcome, E);
    F.Variable = Ref->getDecl();
    F.Value = IsNonZero;
    return;
  }
  doubtOwners(Condition);
}

/// A branch asks about pointers and outcomes in a way that is not understood.
void FactsBuilder::doubtOwners(const Expr *Condition) {
  if (!Top->FollowsOwners)
    return;
  llvm::SmallVector<const Stmt *, 16> Todo{Condition};
  while (!Todo.empty()) {
    const Stmt *S = Todo.pop_back_val();
    if (!S || isa<LambdaExpr>(S))
      continue;
    // What is looked into is there.
    const auto *Member = dyn_cast<MemberExpr>(S);
    const auto *Unary = dyn_cast<UnaryOperator>(S);
    const Expr *Base = Member && Member->isArrow() ? Member->getBase()
                       : Unary && Unary->getOpcode() == UO_Deref
                           ? Unary->getSubExpr()
                           : nullptr;
    if (Base && pointerIn(Base).Form == PointerForm::Value)
      continue;
    Todo.append(S->child_begin(), S->child_end());
    const auto *E = dyn_cast<Expr>(S);
    if (E && Top->Acquiring.count(E)) {
      emit(FactKind::AssumeOutcome, E).IsWeak = true;
    } else if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
      PointerUse Use = pointerIn(Ref);
      if (Use.Form == PointerForm::Variable) {
        emitOwner(FactKind::AssumeNull, Use.Place, Ref).IsWeak = true;
      } else if (Ref->getType()->isIntegralOrEnumerationType()) {
        Fact &F = emit(FactKind::AssumeOutcome, Ref);
        F.Variable = Ref->getDecl();
        F.IsWeak = true;
      }
    }
  }
}

} // namespace tensorscope
