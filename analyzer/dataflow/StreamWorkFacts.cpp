// SPDX-License-Identifier: Apache-2.0
//
// Facts of work on the streams of a device: what is given to one, who waits for
// it, and what the program itself writes to pinned memory.
#include "dataflow/FactsBuilder.h"
#include "dataflow/UnitVisitor.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

static const Expr *argumentAt(const CallSite &C, int Index) {
  if (Index == ThisArg)
    return C.Object;
  return unsigned(Index) < C.Args.size() ? C.Args[Index] : nullptr;
}

// --- Pinned memory -------------------------------------------------------

/// Whether \p S, the argument of a factory, asks for pinned memory.
bool FactsBuilder::asksForPinned(const Stmt *S, unsigned Depth) {
  constexpr unsigned MaxDepth = 12;
  if (!S || Depth > MaxDepth || isa<LambdaExpr>(S))
    return false;
  if (const auto *Call = dyn_cast<CallExpr>(S))
    if (const FunctionDecl *F = Call->getDirectCallee();
        F && Unit.Api.streams(F).Role == StreamRole::PinOption)
      return Call->getNumArgs() > 0 &&
             constantBool(Call->getArg(Call->getNumArgs() - 1)).value_or(false);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    return V && !carries(V->getType()) && !isa<ParmVarDecl>(V) &&
           asksForPinned(V->getInit(), Depth + 1);
  }
  return llvm::any_of(S->children(), [&](const Stmt *Part) {
    return asksForPinned(Part, Depth + 1);
  });
}

/// Whether what \p E makes is in pinned memory, for sure.
bool FactsBuilder::isPinned(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(E ? stripWrappers(E) : nullptr);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  if (!F || !carries(Call->getType()))
    return false;
  if (Unit.Api.streams(F).Role == StreamRole::Pin)
    return true;
  unsigned Offset = isa<CXXOperatorCallExpr>(Call) && isa<CXXMethodDecl>(F);
  for (unsigned I = 0; I + Offset < Call->getNumArgs(); ++I) {
    const Expr *Arg = Call->getArg(I + Offset);
    if (isa<CXXDefaultArgExpr>(Arg) || carries(Arg->getType()))
      continue;
    bool IsFlag =
        I < F->getNumParams() && F->getParamDecl(I)->getName() == "pin_memory";
    if (IsFlag ? constantBool(Arg).value_or(false) : asksForPinned(Arg))
      return true;
  }
  return false;
}

/// A member that its class makes in pinned memory.
bool FactsBuilder::isDeclaredPinned(PlaceID P) {
  const PlaceInfo &Info = Out.Places[P];
  if (Info.Kind != PlaceKind::Field)
    return false;
  const auto *Field = static_cast<const FieldDecl *>(Info.Key);
  return isPinned(declaredValue(Field));
}

// --- Work ----------------------------------------------------------------

/// The tensors among what a call is given, with the elements of lists.
static void addOperand(TypeModel &Types, const Expr *Arg, PlaceID P,
                       llvm::SmallVectorImpl<PlaceID> &Operands) {
  if (Arg && P != NoPlace && Types.carriesTensors(Arg->getType()) &&
      Types.role(Arg->getType()) != TypeRole::Module)
    Operands.push_back(P);
}

void FactsBuilder::launch(const CallSite &C, const FunctionModel &M) {
  llvm::SmallVector<PlaceID, 4> Operands;
  addOperand(Unit.Types, C.Object, C.ObjectPlace, Operands);
  for (const Expr *Arg : C.Args)
    if (!isa<CXXDefaultArgExpr>(Arg))
      addOperand(Unit.Types, Arg, valueOf(Arg), Operands);
  StreamRole Role = Unit.Api.streams(C.Callee).Role;
  bool IsCopy = Role == StreamRole::Copy;
  bool Makes =
      C.E->isPRValue() && carries(C.E->getType()) &&
      (M.Result == ResultKind::New || M.Result == ResultKind::MaybeAlias);
  llvm::SmallVector<PlaceID, 2> Written;
  for (const Effect &X : M.Effects)
    if (X.Kind == EffectKind::Write)
      Written.push_back(argPlace(C, X.Arg));
  // No schema has `+=` and its kind.
  if (C.Callee->isOverloadedOperator() &&
      CXXOperatorCallExpr::isAssignmentOp(C.Callee->getOverloadedOperator()))
    Written.push_back(C.Object ? C.ObjectPlace : argPlace(C, 0));
  // What may be a view of its object gives no work for sure, unless it copies.
  bool IsWork = M.Result == ResultKind::New || !Written.empty() || IsCopy;
  if (!Makes && !IsWork)
    return;
  StreamEvent &E =
      stream(StreamKind::Launch, Makes ? valueOf(C.E) : NoPlace, C.E);
  E.IsPinned = isPinned(C.E);
  E.IsOnDevice = !E.IsPinned && mayBeOnDevice(C.E, Unit);
  E.FollowsOperands =
      !IsCopy && Role != StreamRole::WaitForValue && !E.IsPinned;
  if (IsWork && Role != StreamRole::NoWork)
    E.Operands = Operands;
  for (PlaceID P : Written)
    writeMemory(P, C.E);
}

/// The program, or an operator that runs in it, writes to \p P, if that is in
/// its own memory.
void FactsBuilder::writeMemory(PlaceID P, const Stmt *At) {
  if (!FollowsStreams || P == NoPlace)
    return;
  bool IsDeclared = isDeclaredPinned(P);
  stream(StreamKind::Write, P, At).IsDeclaredPinned = IsDeclared;
}

/// `p[i] = x`, `*p = x`, `accessor[i][j] = x`.
void FactsBuilder::noteMemoryWrite(const Expr *Target, const Stmt *At) {
  if (!FollowsStreams || carries(Target->getType()))
    return;
  bool IsElement = false;
  while (true) {
    Target = stripWrappers(Target);
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Target);
    const auto *Unary = dyn_cast<UnaryOperator>(Target);
    const auto *Sum = dyn_cast<BinaryOperator>(Target);
    if (const auto *Element = dyn_cast<ArraySubscriptExpr>(Target))
      Target = Element->getBase();
    else if (Operator && Operator->getOperator() == OO_Subscript)
      Target = Operator->getArg(0);
    else if (Unary && (Unary->getOpcode() == UO_Deref || IsElement))
      Target = Unary->getSubExpr();
    else if (Sum && Sum->isAdditiveOp() && IsElement) // `*(p + i)`
      Target = Sum->getLHS();
    else
      break;
    IsElement = true;
  }
  if (IsElement)
    writeMemory(valueOf(Target), At);
}

static const Expr *argumentNamed(const CallSite &C, llvm::StringRef Name) {
  for (unsigned I = 0; I < C.Callee->getNumParams() && I < C.Args.size(); ++I)
    if (C.Callee->getParamDecl(I)->getName() == Name)
      return C.Args[I];
  return nullptr;
}

/// A copy that does not name a device changes the type alone.
static bool namesDevice(const CallSite &C) {
  if (C.Callee->getDeclName().isIdentifier() && C.Callee->getName() != "to" &&
      C.Callee->getName() != "_to_copy")
    return true;
  return llvm::any_of(C.Callee->parameters(), [](const ParmVarDecl *P) {
    std::string Type = P->getType().getNonReferenceType().getAsString();
    return llvm::StringRef(Type).contains("Device") ||
           llvm::StringRef(Type).contains("TensorOptions");
  });
}

void FactsBuilder::copyOnStream(const CallSite &C, int Source) {
  std::optional<bool> IsFree = constantBool(argumentNamed(C, "non_blocking"));
  PlaceID From = argPlace(C, Source);
  if (!namesDevice(C))
    return;
  if (!argumentNamed(C, "non_blocking"))
    IsFree = false;
  if (!IsFree) {
    stream(StreamKind::Doubt, NoPlace, C.E);
    return;
  }
  bool MakesOnCpu =
      carries(C.E->getType()) && C.E->isPRValue() && !mayBeOnDevice(C.E, Unit);
  if (*IsFree && (From == NoPlace || MakesOnCpu))
    return;
  StreamEvent &E = stream(*IsFree ? StreamKind::Copy : StreamKind::WaitForValue,
                          NoPlace, C.E);
  if (From == NoPlace)
    return;
  E.Operands.push_back(From);
  E.IsDeclaredPinned = isDeclaredPinned(From);
}

// --- Calls ---------------------------------------------------------------

void FactsBuilder::switchStream(const CallSite &C, const StreamModel &M) {
  const Expr *To = argumentAt(C, M.Arg);
  StreamName Name = streamOf(To);
  StreamEvent &E = stream(StreamKind::Switch, NoPlace, C.E);
  E.Stream = Name;
  E.Spelled = spelledStream(To);
}

/// What a function with a row, or of a library, does to streams.
void FactsBuilder::noteStreams(const CallSite &C, const FunctionModel &M) {
  if (!FollowsStreams)
    return;
  StreamModel Is = Unit.Api.streams(C.Callee);
  switch (Is.Role) {
  case StreamRole::Switch:
  case StreamRole::Exchange:
    switchStream(C, Is);
    return;
  case StreamRole::WaitForAll:
    stream(StreamKind::WaitForAll, NoPlace, C.E);
    return;
  case StreamRole::WaitForStream: {
    StreamName Name = streamOf(argumentAt(C, Is.Arg));
    stream(StreamKind::WaitForStream, NoPlace, C.E).Stream = Name;
    return;
  }
  case StreamRole::Order:
    stream(StreamKind::Order, NoPlace, C.E);
    return;
  case StreamRole::MayWait:
    stream(StreamKind::Doubt, NoPlace, C.E);
    return;
  case StreamRole::Record: {
    StreamName Name = streamOf(argumentAt(C, Is.Arg));
    StreamEvent &E = stream(StreamKind::Record, NoPlace, C.E);
    E.Stream = Name;
    if (C.ObjectPlace != NoPlace)
      E.Operands.push_back(C.ObjectPlace);
    else if (PlaceID P = argPlace(C, 0))
      E.Operands.push_back(P);
    return;
  }
  case StreamRole::WriteMemory:
    writeMemory(argPlace(C, Is.Arg), C.E);
    return;
  case StreamRole::Copy:
    launch(C, M);
    copyOnStream(C, Is.Arg);
    return;
  case StreamRole::WaitForValue: {
    launch(C, M);
    StreamEvent &E = stream(StreamKind::WaitForValue, NoPlace, C.E);
    addOperand(Unit.Types, C.Object, C.ObjectPlace, E.Operands);
    for (const Expr *Arg : C.Args)
      addOperand(Unit.Types, Arg, valueOf(Arg), E.Operands);
    return;
  }
  default:
    if (Unit.Api.gradients(C.Callee) != GradientRole::Other)
      launch(C, M);
    return;
  }
}

/// `t[i] = x` writes to the tensor, and uses both.
void FactsBuilder::noteElementWrite(const CallSite &C) {
  if (!FollowsStreams || !isHandle(C.Object->getType()))
    return;
  if (C.Object->isLValue())
    return;
  StreamEvent &E = stream(StreamKind::Launch, NoPlace, C.E);
  for (PlaceID P : {C.ObjectPlace, argPlace(C, 0)})
    if (P != NoPlace)
      E.Operands.push_back(P);
  writeMemory(C.ObjectPlace, C.E);
}

/// A user's function: walked in place, if it has to do with tensors or streams;
/// what is not seen may wait for any work.
bool FactsBuilder::walkForStreams(const CallSite &C, const FunctionDecl *Body) {
  if (!FollowsStreams)
    return false;
  if (C.Callee && Unit.Api.streams(C.Callee).Role != StreamRole::Other) {
    noteStreams(C, FunctionModel());
    return false;
  }
  bool Matters = !Body || passesTensors(C) || streamsIn(Body, Unit) != 0;
  if (!Matters)
    return false;
  if (Body && canWalkInPlace(Body)) {
    giveStreams(C);
    walkCallee(C);
    return true;
  }
  stream(StreamKind::Doubt, NoPlace, C.E);
  return false;
}

} // namespace tensorscope
