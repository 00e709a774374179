// SPDX-License-Identifier: Apache-2.0
//
// Facts of autograd beside LibTorch's operators: modules that run, guards of
// the mode, containers that grow, threads, and what summaries say.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"
#include "clang/AST/DeclTemplate.h"

using namespace clang;

namespace tensorscope {

/// A library's module, a scripted one, or one whose forward is not seen.
void FactsBuilder::runModule(const CallSite &C, GradientRole Role) {
  PlaceID Result = valueOf(C.E);
  if (Result == NoPlace)
    return;
  const FunctionDecl *Held =
      Role == GradientRole::Holder ? heldForward(C.Object) : nullptr;
  const FunctionDecl *Body = Held ? definitionOf(Held) : nullptr;
  if (Body && !isLibraryDecl(Body, Unit.Ctx.getSourceManager()))
    if (const Summary *S = Unit.Summaries.summary(Body)) {
      auto Prepared = prepareGradients(*S, C);
      applyGradients(*S, C, NoPlace, Prepared);
      applyGradients(*S, C, Result, Prepared);
      return;
    }
  GradientEvent E;
  collectOperands(C, E, /*WithObject=*/false);
  bool HasParameters = Unit.Parameters.has(C.Object->getType());
  GradientEvent &Run = gradient(GradientKind::Derive, Result, C.E);
  Run.Operands = E.Operands;
  Run.HasUnknown = E.HasUnknown;
  Run.HasParameters = Run.IsForward = HasParameters;
  Run.IsUnseen = Held != nullptr;
  Run.Module = C.ObjectPlace;
}

/// A user's module runs a forward whose body is not seen, or which may be
/// another's.
void FactsBuilder::noteUnknownForward(const CallSite &C) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(C.Callee);
  PlaceID Result = valueOf(C.E);
  if (!Method || !C.Object || Result == NoPlace || !C.E->isPRValue() ||
      !Method->getDeclName().isIdentifier() || Method->getName() != "forward" ||
      !Unit.Parameters.isModule(Method->getParent()))
    return;
  if (!Method->isVirtual() && !Unit.Parameters.has(C.Object->getType()))
    return;
  GradientEvent E;
  collectOperands(C, E, /*WithObject=*/false);
  GradientEvent &Run = gradient(GradientKind::Derive, Result, C.E);
  Run.Operands = E.Operands;
  Run.HasUnknown = E.HasUnknown;
  Run.HasParameters = Run.IsForward = Run.IsUnseen = true;
  Run.Module = C.ObjectPlace;
}

/// True for a call of a module's forward, by whatever name.
bool FactsBuilder::runsForward(const CallSite &C) const {
  if (!C.Object || !C.Callee)
    return false;
  if (C.Callee->getDeclName().isIdentifier())
    return C.Callee->getName() == "forward";
  return C.Callee->getOverloadedOperator() == OO_Call &&
         Unit.Types.role(C.Object->getType()) == TypeRole::Module;
}

/// What a callee stores, out of what it is given, and what it walks back,
/// before it stores anything.
llvm::SmallVector<PlaceID, 4>
FactsBuilder::prepareGradients(const Summary &S, const CallSite &C) {
  // Apart from the temporaries of its results.
  constexpr unsigned FirstIndex = 1000;
  llvm::SmallVector<PlaceID, 4> Prepared;
  auto Prepare = [&](const GradientStore &Store) {
    GradientEvent E;
    auto Resolve = [&](const std::vector<Path> &Paths, auto &Places) {
      for (const Path &P : Paths) {
        PlaceID Place = resolve(P, C, NoPlace);
        if (Place == NoPlace)
          E.MayBeUnknown = true;
        else
          Places.push_back(Place);
      }
    };
    Resolve(Store.Derived, E.Operands);
    Resolve(Store.Passed, E.Passed);
    E.Kind = GradientKind::Derive;
    E.MayBeUnknown |= Store.HasUnknown;
    E.HasPlain = Store.HasPlain;
    E.HasLeaf = Store.HasLeaf;
    E.HasParameters = Store.HasGraph;
    PlaceID Temp = temporary(C.E, FirstIndex + Prepared.size());
    gradient(GradientKind::Derive, Temp, C.E) = E;
    Out.Blocks[Cur].Facts.back().Callee = C.Callee;
    Prepared.push_back(Temp);
  };
  for (const GradientStore &Store : S.Gradients.Stores)
    Prepare(Store);
  for (const GradientStore &Store : S.Gradients.Result)
    Prepare(Store);
  // Of what the places held when the callee began.
  auto On = [&](GradientKind Kind, const std::vector<Path> &Paths) {
    for (const Path &P : Paths)
      if (PlaceID Place = resolve(P, C, NoPlace)) {
        GradientEvent &E = gradient(Kind, NoPlace, C.E);
        E.Operands.push_back(Place);
        E.IsAccumulating = true;
        Out.Blocks[Cur].Facts.back().Callee = C.Callee;
      }
  };
  On(GradientKind::Backward, S.Gradients.Backward);
  On(GradientKind::Consume, S.Gradients.Consumed);
  return Prepared;
}

void FactsBuilder::storeGradient(const GradientStore &Store, PlaceID Value,
                                 const CallSite &C, PlaceID Result,
                                 bool MayKeepGraph) {
  PlaceID To = resolve(Store.To, C, Result);
  if (To == NoPlace)
    return;
  GradientEvent &Given = gradient(GradientKind::Derive, To, C.E);
  Out.Blocks[Cur].Facts.back().Callee = C.Callee;
  Given.Passed.push_back(Value);
  Given.IsWeak = Store.IsWeak || Out.Places.isElementPath(To);
  Given.IsForward = Result != NoPlace && Store.HasGraph && runsForward(C);
  Given.MayKeepGraph = MayKeepGraph;
  Given.Module = C.ObjectPlace;
  if (!Store.IsInsertion)
    return;
  gradient(GradientKind::Insert, To, C.E).Operands.push_back(Value);
  Out.Blocks[Cur].Facts.back().Callee = C.Callee;
}

/// The stores of a callee into what its caller gave it, or (with \p Result) into
/// its result.
void FactsBuilder::applyGradients(const Summary &S, const CallSite &C,
                                  PlaceID Result,
                                  llvm::ArrayRef<PlaceID> Prepared) {
  const GradientSummary &G = S.Gradients;
  if (Result != NoPlace) {
    for (size_t I = 0; I < G.Result.size(); ++I)
      storeGradient(G.Result[I], Prepared[G.Stores.size() + I], C, Result,
                    /*MayKeepGraph=*/!G.Stores.empty());
    return;
  }
  for (size_t I = 0; I < G.Stores.size(); ++I)
    storeGradient(G.Stores[I], Prepared[I], C, Result, /*MayKeepGraph=*/true);
  if (G.ResetsGradients)
    gradient(GradientKind::ResetGradients, NoPlace, C.E);
}

/// One more element in a container, each time.
void FactsBuilder::noteInsertion(const CallSite &C, PlaceID Into) {
  for (const Expr *Arg : C.Args) {
    PlaceID Value = valueOf(Arg);
    if (Value == NoPlace || Into == NoPlace || !carries(Arg->getType()) ||
        Unit.Types.role(Arg->getType()) == TypeRole::Module)
      continue;
    PlaceID Element =
        C.Object && Into == C.ObjectPlace
            ? Out.Places.element(Into, isHandle(Arg->getType()))
            : Into;
    gradient(GradientKind::Insert, Element, C.E).Operands.push_back(Value);
  }
}

/// `i % 8`, `i & 7`: one of a few.
static bool isWrapped(const Stmt *Index) {
  const auto *Binary = dyn_cast_or_null<BinaryOperator>(Index);
  if (Binary && (Binary->getOpcode() == BO_Rem || Binary->getOpcode() == BO_And))
    return true;
  return Index && llvm::any_of(Index->children(), isWrapped);
}

/// `t[0] = x` writes to the tensor; `list[i] = x` fills a place of its own in
/// each iteration, if `i` is another one then.
void FactsBuilder::noteElementStore(const CallSite &C) {
  PlaceID Value = argPlace(C, 0);
  if (isHandle(C.Object->getType()) && !C.Object->isLValue()) {
    takeIn(C.ObjectPlace, C, /*WithObject=*/false);
    return;
  }
  const auto *Element =
      dyn_cast<CXXOperatorCallExpr>(stripWrappers(C.Object));
  const Stmt *Loop = Top->Body->LoopOf.lookup(C.E);
  if (!Element || Element->getOperator() != OO_Subscript || !Loop ||
      C.ObjectPlace == NoPlace || Value == NoPlace ||
      !Out.Places.isElementPath(C.ObjectPlace) ||
      isWrapped(Element->getArg(1)) ||
      !varies(Element->getArg(1), Loop, *Top->Body))
    return;
  gradient(GradientKind::Insert, C.ObjectPlace, C.E).Operands.push_back(Value);
}

/// The mode that an object of type \p T sets for its life; none for any other
/// type.
std::optional<GradientMode>
FactsBuilder::modeOfGuard(QualType T, const Expr *Init, unsigned Depth) {
  constexpr unsigned MaxDepth = 3;
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  if (!RD || Depth > MaxDepth)
    return std::nullopt;
  const auto *Construct =
      dyn_cast_or_null<CXXConstructExpr>(Init ? stripWrappers(Init) : nullptr);
  std::optional<bool> Given = Construct && Construct->getNumArgs() > 0
                                  ? constantBool(Construct->getArg(0))
                                  : std::nullopt;
  switch (Unit.Api.gradients(RD)) {
  case GradientRole::NoGradGuard:
    return GradientMode::Off;
  case GradientRole::InferenceGuard:
    return Given && *Given ? GradientMode::Off : GradientMode::Unknown;
  case GradientRole::GradGuard:
    return !Given   ? GradientMode::Unknown
           : *Given ? GradientMode::On
                    : GradientMode::Off;
  default:
    break;
  }
  if (const auto *Spec = dyn_cast<ClassTemplateSpecializationDecl>(RD)) {
    for (const TemplateArgument &A : Spec->getTemplateArgs().asArray())
      if (A.getKind() == TemplateArgument::Type &&
          modeOfGuard(A.getAsType(), nullptr, Depth + 1))
        return GradientMode::Unknown;
    return std::nullopt;
  }
  if (!RD->hasDefinition() ||
      isLibraryDecl(RD, Unit.Ctx.getSourceManager()) || carries(T))
    return std::nullopt;
  for (const FieldDecl *Field : RD->getDefinition()->fields())
    if (auto Mode = modeOfGuard(Field->getType(), nullptr, Depth + 1))
      return Mode;
  for (const CXXBaseSpecifier &Base : RD->getDefinition()->bases())
    if (auto Mode = modeOfGuard(Base.getType(), nullptr, Depth + 1))
      return Mode;
  return std::nullopt;
}

bool FactsBuilder::declareModeGuard(const VarDecl *V, const Stmt *At) {
  auto Mode = modeOfGuard(V->getType(), V->getInit(), 0);
  if (!Mode)
    return false;
  GradientEvent &E = gradient(GradientKind::Mode, NoPlace, At);
  E.Guard = V;
  E.Mode = *Mode;
  ModeGuards.insert(V);
  return true;
}

void FactsBuilder::leaveModeGuard(const VarDecl *V, const Stmt *At) {
  if (ModeGuards.contains(V))
    gradient(GradientKind::ModeEnd, NoPlace, At).Guard = V;
}

/// In which state the callee finds the modules that it is given.
void FactsBuilder::noteCall(const CallSite &C, const FunctionDecl *Callee) {
  GradientEvent &E = gradient(GradientKind::Call, NoPlace, C.E);
  Out.Blocks[Cur].Facts.back().Callee = Callee;
  E.Module = C.ObjectPlace;
  for (const Expr *Arg : C.Args)
    E.Operands.push_back(valueOf(Arg));
}

/// What a thread runs has a mode and a scope of its own.
void FactsBuilder::noteThread(const CallSite &C, bool InheritsMode) {
  auto Note = [&](const Expr *Arg) {
    const FunctionDecl *F = Arg ? definitionOf(resolveCallable(Arg)) : nullptr;
    if (!F)
      return false;
    gradient(GradientKind::Thread, NoPlace, C.E).Mode =
        InheritsMode ? GradientMode::Inherited : GradientMode::On;
    Fact &Started = Out.Blocks[Cur].Facts.back();
    Started.Callee = F;
    Started.Src = valueOf(Arg);
    return true;
  };
  for (const Expr *Arg : C.Args)
    if (Note(Arg))
      return;
}

} // namespace tensorscope
