// SPDX-License-Identifier: Apache-2.0
//
// Facts of autograd in calls of LibTorch: what has a graph after them, and
// what becomes of graphs.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

GradientEvent &FactsBuilder::gradient(GradientKind Kind, PlaceID Dst,
                                      const Stmt *At) {
  LoopID Loop = loopOf(At);
  Fact &F = emit(FactKind::Gradient, At);
  F.Dst = Dst;
  F.Loop = Loop;
  F.Event = Out.Gradients.size();
  Out.Gradients.emplace_back();
  Out.Gradients.back().Kind = Kind;
  return Out.Gradients.back();
}

std::optional<bool> FactsBuilder::constantBool(const Expr *E) const {
  if (!E)
    return std::nullopt;
  if (const auto *Default = dyn_cast<CXXDefaultArgExpr>(E))
    return constantBool(Default->getExpr());
  E = stripWrappers(E);
  if (const auto *Default = dyn_cast<CXXDefaultArgExpr>(E))
    return constantBool(Default->getExpr());
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    return Construct->getNumArgs() == 0   ? std::optional<bool>(false)
           : Construct->getNumArgs() == 1 ? constantBool(Construct->getArg(0))
                                          : std::nullopt;
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return List->getNumInits() == 0 ? std::optional<bool>(false) : std::nullopt;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E);
      Ref && qualifiedName(Ref->getDecl()) == "std::nullopt")
    return false;
  bool Value = false;
  if (!E->isValueDependent() && E->getType()->isScalarType() &&
      E->EvaluateAsBooleanCondition(Value, Unit.Ctx))
    return Value;
  return std::nullopt;
}

/// The call of requires_grad in the options that a factory is given.
static const CallExpr *gradientOption(const Stmt *S, unsigned Depth = 0) {
  constexpr unsigned MaxDepth = 12;
  if (!S || Depth > MaxDepth)
    return nullptr;
  if (const auto *Call = dyn_cast<CallExpr>(S))
    if (const FunctionDecl *F = Call->getDirectCallee();
        F && F->getDeclName().isIdentifier() &&
        F->getName() == "requires_grad" && Call->getNumArgs() > 0)
      return Call;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    const CXXRecordDecl *RD =
        V ? V->getType().getNonReferenceType()->getAsCXXRecordDecl() : nullptr;
    return RD && RD->getDeclName().isIdentifier() &&
                   RD->getName() == "TensorOptions"
               ? gradientOption(V->getInit(), Depth + 1)
               : nullptr;
  }
  if (isa<LambdaExpr>(S))
    return nullptr;
  for (const Stmt *Part : S->children())
    if (const CallExpr *Found = gradientOption(Part, Depth + 1))
      return Found;
  return nullptr;
}

static const Expr *argument(const CallSite &C, unsigned Index) {
  return Index < C.Args.size() ? C.Args[Index] : nullptr;
}

void FactsBuilder::collectOperands(const CallSite &C, GradientEvent &E,
                                   bool WithObject) {
  auto Add = [&](const Expr *Arg, PlaceID P) {
    QualType T = Arg->getType().getNonReferenceType();
    if (!carries(T) || Unit.Types.role(T) == TypeRole::Module)
      return;
    if (P == NoPlace)
      E.HasUnknown = true;
    else
      E.Operands.push_back(P);
  };
  if (C.Object && WithObject)
    Add(C.Object, C.ObjectPlace);
  for (const Expr *Arg : C.Args)
    if (!isa<CXXDefaultArgExpr>(Arg))
      Add(Arg, valueOf(Arg));
}

/// `add_`, `+=`: its object, or its first argument, is changed.
static bool worksInPlace(const FunctionDecl *F) {
  if (F->getDeclName().isIdentifier()) {
    llvm::StringRef Name = F->getName();
    return Name.ends_with("_") && !Name.ends_with("__");
  }
  switch (F->getOverloadedOperator()) {
  case OO_PlusEqual:
  case OO_MinusEqual:
  case OO_StarEqual:
  case OO_SlashEqual:
    return true;
  default:
    return false;
  }
}

/// What is written to a view is written to the tensor that it is a view of.
void FactsBuilder::takeIn(PlaceID P, const CallSite &C, bool WithObject) {
  constexpr unsigned MaxViews = 8;
  for (unsigned I = 0; P != NoPlace && I < MaxViews; ++I) {
    GradientEvent E;
    collectOperands(C, E, WithObject);
    GradientEvent &Taken = gradient(GradientKind::TakeIn, P, C.E);
    Taken.Operands = E.Operands;
    Taken.HasUnknown = E.HasUnknown;
    P = ViewOf.lookup(P);
  }
}

/// `std::move(x)` of a tensor that others have: by a pointer or a reference, or
/// as a member.
static bool isMovedFromOthers(const Expr *E) {
  const auto *Call = dyn_cast<CallExpr>(E->IgnoreParenImpCasts());
  if (!Call || !Call->isCallToStdMove())
    return false;
  const Expr *Moved = Call->getArg(0)->IgnoreParenImpCasts();
  if (const auto *Unary = dyn_cast<UnaryOperator>(Moved))
    return Unary->getOpcode() == UO_Deref;
  const auto *Ref = dyn_cast<DeclRefExpr>(Moved);
  return isa<MemberExpr>(Moved) ||
         (Ref && Ref->getDecl()->getType()->isReferenceType());
}

/// An assignment to an rvalue is a copy into its tensor. What is copied as it
/// is may well be data; what an operator computes here may have a graph.
void FactsBuilder::takeInMoved(const CallSite &C, PlaceID Value) {
  const auto *Call = C.Args.empty()
                         ? nullptr
                         : dyn_cast<CallExpr>(stripWrappers(C.Args[0]));
  const FunctionDecl *Operator = Call ? Call->getDirectCallee() : nullptr;
  const FunctionModel *M = Operator ? Unit.Api.find(Operator) : nullptr;
  if (Value == NoPlace || !M || M->Result != ResultKind::New ||
      Unit.Api.gradients(Operator) != GradientRole::Operator ||
      !isMovedFromOthers(C.Object))
    return;
  constexpr unsigned Index = 900;
  PlaceID To =
      C.ObjectPlace == NoPlace ? temporary(C.E, Index) : C.ObjectPlace;
  GradientEvent &E = gradient(GradientKind::TakeIn, To, C.E);
  E.Operands.push_back(Value);
  E.IsCopiedInto = true;
}

void FactsBuilder::deriveResult(const CallSite &C, const FunctionModel &M) {
  PlaceID Result = valueOf(C.E);
  if (worksInPlace(C.Callee)) {
    bool IsMember = C.Object != nullptr;
    CallSite Given = C;
    if (!IsMember && !Given.Args.empty())
      Given.Args.erase(Given.Args.begin());
    takeIn(IsMember ? C.ObjectPlace : argPlace(C, 0), Given,
           /*WithObject=*/false);
    return;
  }
  if (Result == NoPlace || !C.E->isPRValue() || !carries(C.E->getType()))
    return;
  if (M.Result == ResultKind::Alias)
    ViewOf[Result] = argPlace(C, M.ResultArg);
  if (M.Result == ResultKind::MaybeAlias)
    ViewOf[Result] = argPlace(C, M.ResultArg);
  if (M.Result != ResultKind::New && M.Result != ResultKind::MaybeAlias)
    return;
  GradientEvent E;
  collectOperands(C, E, /*WithObject=*/true);
  GradientEvent &Derived = gradient(GradientKind::Derive, Result, C.E);
  Derived.Operands = E.Operands;
  Derived.HasUnknown = E.HasUnknown;
}

/// A factory's options may ask for gradients. False if they say nothing of it.
bool FactsBuilder::applyGradientOption(const CallSite &C) {
  PlaceID Result = valueOf(C.E);
  const CallExpr *Option = nullptr;
  for (const Expr *Arg : C.Args)
    if (!Option && !isa<CXXDefaultArgExpr>(Arg))
      Option = gradientOption(Arg);
  if (!Option || Result == NoPlace || !C.E->isPRValue())
    return false;
  std::optional<bool> Wanted =
      constantBool(Option->getArg(Option->getNumArgs() - 1));
  gradient(!Wanted   ? GradientKind::Forget
           : *Wanted ? GradientKind::Leaf
                     : GradientKind::Cut,
           Result, C.E);
  return true;
}

/// The graph is walked from the object, or from the first argument.
void FactsBuilder::walkBack(const CallSite &C, GradientRole Role) {
  unsigned Options = C.Object                            ? 1
                     : Role == GradientRole::Gradients ? 3
                                                         : 2;
  std::optional<bool> Creates = constantBool(argument(C, Options + 1));
  const Expr *RetainArg = argument(C, Options);
  bool IsDefault = !RetainArg || isa<CXXDefaultArgExpr>(RetainArg);
  std::optional<bool> Retains =
      IsDefault ? Creates : constantBool(RetainArg);
  PlaceID From = C.Object ? C.ObjectPlace : argPlace(C, 0);
  GradientEvent &E = gradient(GradientKind::Backward, NoPlace, C.E);
  if (From != NoPlace)
    E.Operands.push_back(From);
  E.HasUnknown = From == NoPlace;
  E.RetainsGraph = Retains.value_or(true) || Creates.value_or(true);
  E.AsksToRetain = !IsDefault && Retains.value_or(false);
  E.CreatesGraph = Creates.value_or(false);
  E.IsAccumulating = Role == GradientRole::Backward;
  Unit.UsesGradients = true;
  PlaceID Result = valueOf(C.E);
  if (Role != GradientRole::Gradients || Result == NoPlace)
    return;
  if (Creates && !*Creates) {
    gradient(GradientKind::Cut, Result, C.E);
    return;
  }
  GradientEvent &Given = gradient(Creates ? GradientKind::Derive
                                          : GradientKind::Forget,
                                  Result, C.E);
  if (From != NoPlace)
    Given.Operands.push_back(From);
}

void FactsBuilder::setLeaf(const CallSite &C) {
  std::optional<bool> On = constantBool(argument(C, 0));
  if (C.ObjectPlace != NoPlace)
    gradient(!On   ? GradientKind::Forget
             : *On ? GradientKind::Leaf
                   : GradientKind::Cut,
             C.ObjectPlace, C.E);
  // Somebody's parameters: whose is not followed.
  const auto *Ref = C.Object ? dyn_cast<DeclRefExpr>(stripWrappers(C.Object))
                             : nullptr;
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  bool IsOwn = V && !V->getType()->isReferenceType() &&
               !V->isCXXForRangeDecl() && !isa<ParmVarDecl>(V);
  Unit.MayFreeze |= !On.value_or(false) && !IsOwn;
}

void FactsBuilder::setModuleMode(const CallSite &C, bool Evaluates) {
  gradient(Evaluates ? GradientKind::Evaluate : GradientKind::Train, NoPlace,
           C.E)
      .Module = C.ObjectPlace;
}

void FactsBuilder::noteGradients(const CallSite &C, const FunctionModel &M) {
  switch (GradientRole Role = Unit.Api.gradients(C.Callee)) {
  case GradientRole::Operator:
    if (!applyGradientOption(C))
      deriveResult(C, M);
    break;
  case GradientRole::First:
    deriveResult(C, M);
    if (PlaceID Second = partOf(valueOf(C.E), C.E->getType(), 1))
      gradient(GradientKind::Cut, Second, C.E);
    break;
  case GradientRole::None:
  case GradientRole::Gradient:
    if (PlaceID Result = valueOf(C.E); Result && !applyGradientOption(C))
      gradient(GradientKind::Cut, Result, C.E);
    break;
  case GradientRole::Leaf:
    setLeaf(C);
    break;
  case GradientRole::Backward:
  case GradientRole::Gradients:
    walkBack(C, Role);
    break;
  case GradientRole::ResetGradients:
    gradient(GradientKind::ResetGradients, NoPlace, C.E);
    break;
  case GradientRole::Step:
    Unit.UsesGradients = true;
    break;
  case GradientRole::SetMode: {
    std::optional<bool> On = constantBool(argument(C, 0));
    gradient(GradientKind::Mode, NoPlace, C.E).Mode =
        !On ? GradientMode::Unknown : *On ? GradientMode::On : GradientMode::Off;
    break;
  }
  case GradientRole::Parameters:
    if (PlaceID Result = valueOf(C.E))
      gradient(GradientKind::Leaf, Result, C.E);
    break;
  case GradientRole::Forward:
  case GradientRole::Holder:
    runModule(C, Role);
    break;
  case GradientRole::Evaluate:
    setModuleMode(C, /*Evaluates=*/true);
    break;
  case GradientRole::Train: {
    std::optional<bool> On = constantBool(argument(C, 0));
    setModuleMode(C, On && !*On);
    break;
  }
  case GradientRole::Freeze:
    Unit.MayFreeze = true;
    break;
  case GradientRole::Thread:
  case GradientRole::Parallel:
    noteThread(C, Role == GradientRole::Parallel);
    break;
  default:
    break;
  }
}

} // namespace tensorscope
