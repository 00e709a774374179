// SPDX-License-Identifier: Apache-2.0
//
// Borrow facts of calls: which of model, body and summary answers, and what a
// model says.
#include "dataflow/BorrowBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

void BorrowBuilder::VisitCallExpr(const CallExpr *E) {
  Call C;
  C.E = E;
  C.Callee = E->getDirectCallee();
  C.Args.assign(E->arg_begin(), E->arg_end());
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(E)) {
    C.Object = Member->getImplicitObjectArgument();
  } else if (isa<CXXOperatorCallExpr>(E) && C.Callee &&
             isa<CXXMethodDecl>(C.Callee) &&
             cast<CXXMethodDecl>(C.Callee)->isInstance()) {
    C.Object = C.Args.front();
    C.Args.erase(C.Args.begin());
  }
  visitCall(C);
  // An object of which nothing is known ends with the statement all the same.
  if (E->isPRValue() && E->getType()->isRecordType() &&
      Objects.lookup(E) == NoPlace) {
    PlaceID Temp = Objects[E] = temporary(E);
    if (Types.mayBorrow(E->getType()))
      emit(BorrowKind::Forget, E).Dst = Temp;
  }
}

/// The object of a member call that goes through a pointer is not known, but
/// for `this`.
bool isThroughPointer(const Expr *Object) {
  return Object && Object->getType()->isPointerType() &&
         !isa<CXXThisExpr>(stripForBorrow(Object));
}

const Expr *BorrowBuilder::argument(const Call &C, int Index) const {
  if (Index == ThisArg)
    return C.Object;
  return unsigned(Index) < C.Args.size() ? C.Args[Index] : nullptr;
}

void BorrowBuilder::visitCall(const Call &C) {
  if (isThroughPointer(C.Object))
    on(BorrowKind::Use, valueOf(C.Object), C.E);
  if (!C.Callee) {
    applyUnknown(C, NoPlace);
    return;
  }
  if (visitAssignment(C))
    return;
  handOver(C);
  if (visitPosition(C))
    return;
  if (const MemoryModel *M = Types.memory(C.Callee)) {
    applyMemory(*M, C);
    return;
  }
  const auto *Method = dyn_cast<CXXMethodDecl>(C.Callee);
  bool IsLambda = Method && Method->getParent()->isLambda();
  if (!IsLambda)
    if (const FunctionModel *M = Unit.Api.find(C.Callee)) {
      applyApi(*M, C);
      return;
    }
  visitUser(C, isThroughPointer(C.Object) ? NoPlace : objectOf(C.Object));
}

static bool isIterator(QualType T) {
  const CXXRecordDecl *RD = T.getNonReferenceType()->getAsCXXRecordDecl();
  return RD && RD->getIdentifier() && RD->getName().ends_with("iterator");
}

/// `*it`, `it->` and their kind: true when \p C is one.
bool BorrowBuilder::visitPosition(const Call &C) {
  OverloadedOperatorKind Operator = C.Callee->getOverloadedOperator();
  if (!C.Object || !isIterator(C.Object->getType()) ||
      (Operator != OO_Star && Operator != OO_Arrow && Operator != OO_Subscript))
    return false;
  const auto *Ref = dyn_cast<DeclRefExpr>(stripForBorrow(C.Object));
  PlaceID Container =
      Ref ? Positions.lookup(Ref->getDecl()) : NoPlace;
  on(BorrowKind::Use, objectOf(C.Object), C.E);
  if (Container != NoPlace && Operator != OO_Arrow)
    Objects[C.E] = Out.Places.element(Container, false);
  else if (Container != NoPlace && Types.mayBorrow(typeOf(Container)))
    // What is written there is not seen.
    emit(BorrowKind::Forget, C.E).Dst = Container;
  return true;
}

/// What is moved into the callee is owned by somebody else now; `std::get` and
/// its kind only refer to it.
void BorrowBuilder::handOver(const Call &C) {
  bool IsReference =
      !C.Object && C.E->isGLValue() &&
      llvm::StringRef(qualifiedName(C.Callee)).starts_with("std::");
  if (IsReference)
    return;
  for (const Expr *Arg : C.Args) {
    PlaceID P = Arg->isXValue() ? objectOf(Arg) : NoPlace;
    if (P == NoPlace)
      continue;
    on(BorrowKind::Drop, P, C.E);
    on(BorrowKind::Keep, P, C.E);
  }
}

/// `a = b` of objects: true when that is what it is.
bool BorrowBuilder::visitAssignment(const Call &C) {
  const auto *Method = dyn_cast<CXXMethodDecl>(C.Callee);
  if (!C.Object || !Method || Method->getOverloadedOperator() != OO_Equal ||
      C.Args.size() != 1 || isThroughPointer(C.Object))
    return false;
  bool IsLibrary = isLibraryDecl(Method, Unit.Ctx.getSourceManager());
  if (!IsLibrary && !Method->isDefaulted())
    return false;
  PlaceID To = objectOf(C.Object);
  const Expr *Value = C.Args.front();
  Objects[C.E] = To;
  QualType T = C.Object->getType();
  MemoryRole Role = Types.role(T);
  if (Role == MemoryRole::Shared && !C.Object->isLValue()) {
    // It copies into the tensor.
    on(BorrowKind::Use, To, C.E);
    on(BorrowKind::Use, valueOf(Value), C.E);
    return true;
  }
  if (Role == MemoryRole::Owner && To != NoPlace) {
    // What is copied in may fit where the elements are.
    bool Replaces = !Value->isLValue() ||
                    Value->isNullPointerConstant(
                        Unit.Ctx, Expr::NPC_ValueDependentIsNull);
    bool IsList = isa<CXXStdInitializerListExpr>(stripForBorrow(Value));
    PlaceID From = objectOf(Value);
    if (Replaces && !IsList) {
      on(BorrowKind::Drop, From, C.E);
      on(BorrowKind::Realloc, To, C.E);
    } else if (!Types.mayBorrow(T)) {
      return true;
    }
  }
  if (!Types.mayBorrow(T)) {
    // What its parts owned is somewhere else now, if anywhere.
    if (Role != MemoryRole::Owner && Role != MemoryRole::Inline)
      on(BorrowKind::Drop, To, C.E);
    return true;
  }
  PlaceID From = valueOf(Value);
  if (To != NoPlace)
    copy(To, From, C.E);
  else
    on(BorrowKind::Keep, From, C.E);
  return true;
}

/// \p OnlyArrayRefs: such as the sizes that a view is given.
void BorrowBuilder::useAll(const Call &C, bool OnlyArrayRefs) {
  auto UseOne = [&](const Expr *Arg) {
    if (!Arg || !Types.mayBorrow(Arg->getType()) ||
        (OnlyArrayRefs && !Types.isArrayRef(Arg->getType())))
      return;
    PlaceID P = valueOf(Arg);
    if (P == NoPlace)
      P = Addresses.lookup(stripForBorrow(Arg));
    on(BorrowKind::Use, P, C.E);
  };
  if (!isThroughPointer(C.Object))
    UseOne(C.Object);
  for (const Expr *Arg : C.Args)
    UseOne(Arg);
}

/// What the row of another section, or the default for a library, says.
void BorrowBuilder::applyApi(const FunctionModel &M, const Call &C) {
  bool IsStandard =
      llvm::StringRef(qualifiedName(C.Callee)).starts_with("std::");
  bool IsAlias = M.Result == ResultKind::Alias;
  if (IsAlias && IsStandard) { // `std::move(x)`
    const Expr *From = argument(C, M.ResultArg);
    if (From && objectOf(From) != NoPlace && !isThroughPointer(From))
      Objects[C.E] = objectOf(From);
    return;
  }
  bool IsView = IsAlias && Types.mayBorrow(C.E->getType()) && C.E->isPRValue();
  useAll(C, /*OnlyArrayRefs=*/IsView);
  if (IsStandard && !C.Object)
    for (const Expr *Arg : C.Args)
      forgetBehind(Arg, C.E);
  for (const Effect &E : M.Effects) {
    PlaceID P = argument(C, E.Arg) ? objectOf(argument(C, E.Arg)) : NoPlace;
    if (P == NoPlace)
      continue;
    if (E.Kind == EffectKind::Keep || E.Kind == EffectKind::Retain)
      on(BorrowKind::Keep, P, C.E);
    else if (E.Kind == EffectKind::Clear || E.Kind == EffectKind::Reset)
      emit(BorrowKind::Reset, C.E).Dst = P;
    else if (E.Kind == EffectKind::Forget || E.Kind == EffectKind::Swap ||
             E.Kind == EffectKind::Exchange || E.Kind == EffectKind::Become) {
      on(BorrowKind::Keep, P, C.E);
      on(BorrowKind::Drop, P, C.E);
      emit(BorrowKind::Forget, C.E).Dst = P;
    }
  }
  insert(C);
  switch (M.Result) {
  case ResultKind::New:
    resultOf(MemoryKind::Makes, nullptr, C);
    return;
  case ResultKind::Alias:
    resultOf(MemoryKind::Passes, argument(C, M.ResultArg), C);
    return;
  case ResultKind::MaybeAlias:
    resultOf(MemoryKind::MayPass, argument(C, M.ResultArg), C);
    return;
  case ResultKind::Element: {
    const Expr *From = argument(C, M.ResultArg);
    PlaceID P = From && !isThroughPointer(From) ? objectOf(From) : NoPlace;
    if (P != NoPlace)
      Objects[C.E] = Out.Places.element(P, false);
    return;
  }
  case ResultKind::Collect:
  case ResultKind::Tuple:
    collect(C);
    return;
  default:
    break;
  }
  if (!IsStandard)
    return;
  // A container gives out its elements.
  if (C.Object && C.E->isGLValue() && !isThroughPointer(C.Object)) {
    if (PlaceID P = objectOf(C.Object))
      Objects[C.E] = Out.Places.element(P, false);
  } else if (Types.mayBorrow(C.E->getType()) && C.E->isPRValue() &&
             Types.role(C.E->getType()) != MemoryRole::Owner &&
             !C.E->getType()->isPointerType()) {
    collect(C);
  }
}

/// A standard container is given values: they are in it from now on.
void BorrowBuilder::insert(const Call &C) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(C.Callee);
  if (!C.Object || !Method || Method->isConst() || isThroughPointer(C.Object) ||
      !llvm::StringRef(qualifiedName(Method)).starts_with("std::") ||
      !Types.mayBorrow(C.Object->getType()))
    return;
  PlaceID P = objectOf(C.Object);
  for (const Expr *Arg : C.Args) {
    if (!Types.mayBorrow(Arg->getType()))
      continue;
    if (P != NoPlace)
      add(P, C.Object->getType(), Arg, C.E);
    else
      on(BorrowKind::Keep, valueOf(Arg), C.E);
  }
}

/// \p Value becomes a part of the object at \p To, of type \p T, which a
/// library makes.
void BorrowBuilder::add(PlaceID To, QualType T, const Expr *Value,
                        const Expr *At) {
  PlaceID From = valueOf(Value);
  if (To == NoPlace || To == From)
    return;
  copy(To, From, At, /*IsWeak=*/true);
  QualType Given = Value->getType();
  Out.Blocks[Cur].Facts.back().KeepsNoView =
      (Types.isArrayRef(Given) || Given->isPointerType()) &&
      !Types.mayKeepView(T);
}

/// The result is made of all arguments.
void BorrowBuilder::collect(const Call &C) {
  PlaceID Temp = Objects[C.E] = temporary(C.E);
  emit(BorrowKind::Reset, C.E).Dst = Temp;
  auto Add = [&](const Expr *Arg) {
    if (Arg && Types.mayBorrow(Arg->getType()))
      add(Temp, C.E->getType(), Arg, C.E);
  };
  Add(C.Object);
  for (const Expr *Arg : C.Args)
    Add(Arg);
}

} // namespace tensorscope
