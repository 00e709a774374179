// SPDX-License-Identifier: Apache-2.0
//
// The graph of borrow facts: blocks, and where objects end.
#include "dataflow/BorrowBuilder.h"
#include "utils/AstUtils.h"
#include "clang/Analysis/Analyses/PostOrderCFGView.h"

using namespace clang;

namespace tensorscope {

LenderID BorrowFacts::lender(LenderKind Kind, PlaceID Place,
                             const Expr *Origin) {
  auto [It, IsNew] = Index.try_emplace({Kind, Place, Origin}, Lenders.size());
  if (IsNew) {
    Lender R;
    R.Kind = Kind;
    R.Place = Place;
    R.Origin = Origin;
    Lenders.push_back(R);
  }
  return It->second;
}

unsigned BorrowBuilder::newBlock() {
  Out.Blocks.emplace_back();
  return Out.Blocks.size() - 1;
}

BorrowFact &BorrowBuilder::emit(BorrowKind Kind, const Stmt *At) {
  std::vector<BorrowFact> &Facts = Out.Blocks[Cur].Facts;
  Facts.emplace_back();
  Facts.back().Kind = Kind;
  Facts.back().At = At;
  return Facts.back();
}

void BorrowBuilder::on(BorrowKind Kind, PlaceID Src, const Stmt *At) {
  if (Src != NoPlace && Src != Nothing)
    emit(Kind, At).Src = Src;
}

void BorrowBuilder::copy(PlaceID Dst, PlaceID Src, const Stmt *At,
                         bool IsWeak) {
  if (Dst == NoPlace || Dst == Src)
    return;
  BorrowFact &F = emit(BorrowKind::Copy, At);
  F.Dst = Dst;
  F.IsWeak = IsWeak || Out.Places.isElementPath(Dst);
  F.Sources.push_back(Src);
}

void BorrowBuilder::build(const FunctionDecl *F) {
  Out.Function = F;
  Out.Entry = Cur = newBlock();
  Body = &Unit.body(F);
  Nothing = Out.Places.temporary(nullptr, 0, 1, false);
  Out.Return = Out.Places.returnValue(0, false);
  Out.This = Out.Places.thisObject(0);
  for (const ParmVarDecl *Param : F->parameters()) {
    PlaceID P = Out.Places.variable(Param, false);
    Out.Places[P].IsOuter = Param->getType()->isReferenceType();
    Out.Params.push_back(P);
  }
  CFG::BuildOptions Options;
  Options.setAllAlwaysAdd();
  Options.AddImplicitDtors = true;
  Options.AddLifetime = true;
  Options.AddInitializers = true;
  Options.PruneTriviallyFalseEdges = true;
  std::unique_ptr<CFG> Graph =
      CFG::buildCFG(F, F->getBody(), &Unit.Ctx, Options);
  if (!Graph || Graph->size() > Unit.BlockLimit) {
    Out.IsIncomplete = true;
    return;
  }
  assumeMembers();
  std::vector<unsigned> Starts(Graph->getNumBlockIDs());
  for (unsigned &Start : Starts)
    Start = newBlock();
  Out.Blocks[Out.Entry].Successors.push_back(
      Starts[Graph->getEntry().getBlockID()]);
  PostOrderCFGView Order(Graph.get());
  for (const CFGBlock *B : Order)
    walkBlock(B, Starts);
  Cur = Out.Exit = Starts[Graph->getExit().getBlockID()];
  emit(BorrowKind::Leave, F->getBody());
}

void BorrowBuilder::walkBlock(const CFGBlock *B,
                              llvm::ArrayRef<unsigned> Starts) {
  Cur = Starts[B->getBlockID()];
  for (const CFGElement &Element : *B) {
    visitElement(Element);
    if (auto S = Element.getAs<CFGStmt>();
        S && isa<CXXThrowExpr>(S->getStmt()))
      return;
  }
  for (const CFGBlock::AdjacentBlock &Next : B->succs())
    if (const CFGBlock *To = Next.getReachableBlock();
        To && !B->hasNoReturnElement())
      Out.Blocks[Cur].Successors.push_back(Starts[To->getBlockID()]);
}

/// The graph has a statement of its own for each variable of a declaration of
/// several; the temporaries of one end with it.
static bool isOneOfMany(const Stmt *S) {
  const auto *Declaration = dyn_cast<DeclStmt>(S);
  return Declaration && Declaration->isSingleDecl() &&
         !Declaration->getSingleDecl()->isImplicit();
}

void BorrowBuilder::visitElement(const CFGElement &Element) {
  if (auto S = Element.getAs<CFGStmt>()) {
    Visit(S->getStmt());
    if (Body->Statements.contains(S->getStmt()) ||
        isOneOfMany(S->getStmt()))
      endStatement(S->getStmt());
  } else if (auto Init = Element.getAs<CFGInitializer>()) {
    visitInitializer(Init->getInitializer());
  } else if (auto Dtor = Element.getAs<CFGAutomaticObjDtor>()) {
    destroy(Dtor->getVarDecl(), Dtor->getTriggerStmt());
  } else if (auto End = Element.getAs<CFGLifetimeEnds>()) {
    endVariable(End->getVarDecl(), End->getTriggerStmt());
  }
}

void BorrowBuilder::visitInitializer(const CXXCtorInitializer *Init) {
  const FieldDecl *Field = Init->getAnyMember();
  if (Field && Types.mayBorrow(Field->getType())) {
    PlaceID To = Out.Places.field(Out.This, Field, false);
    copy(To, valueOf(Init->getInit()), Init->getInit());
  }
  endStatement(Init->getInit());
}

/// What the destructor of a user's class does to the memory it has.
void BorrowBuilder::destroy(const VarDecl *V, const Stmt *At) {
  const CXXRecordDecl *Class = V->getType()->getAsCXXRecordDecl();
  const FunctionDecl *D =
      Class ? definitionOf(Class->getDestructor()) : nullptr;
  if (!D || isLibraryDecl(D, Unit.Ctx.getSourceManager()))
    return;
  const BorrowSummary *S = Summaries.borrowSummary(D);
  if (!S)
    return;
  Call C;
  C.Callee = D;
  for (const Path &P : S->Freed)
    if (PlaceID Freed = placeAt(P, C, placeOf(V), NoPlace)) {
      BorrowFact &F = emit(BorrowKind::Free, At);
      F.Src = Freed;
      F.Callee = D;
    }
}

void BorrowBuilder::endVariable(const VarDecl *V, const Stmt *At) {
  if (V->isStaticLocal())
    return;
  auto Alias = Aliases.find(V);
  PlaceID P = NoPlace;
  if (Alias == Aliases.end()) {
    if (!V->getType()->isReferenceType())
      P = Out.Places.variable(V, false);
  } else if (Out.Places[Alias->second].Kind == PlaceKind::Temporary) {
    P = Alias->second;
  }
  on(BorrowKind::Kill, P, At);
}

void BorrowBuilder::endStatement(const Stmt *S) {
  for (PlaceID Temporary : llvm::reverse(Pending)) {
    BorrowFact &F = emit(BorrowKind::Kill, S);
    F.Src = Temporary;
    F.IsStatementEnd = true;
  }
  Pending.clear();
}

// --- Places ---------------------------------------------------------------

bool BorrowBuilder::isOuter(PlaceID P) const {
  const PlaceInfo &Root = Out.Places[Out.Places.root(P)];
  return Root.IsOuter || Root.Kind == PlaceKind::This ||
         Root.Kind == PlaceKind::Return;
}

PlaceID BorrowBuilder::placeOf(const ValueDecl *V) {
  if (auto It = Aliases.find(V); It != Aliases.end())
    return It->second;
  const auto *Var = dyn_cast<VarDecl>(V);
  if (!Var)
    return NoPlace;
  PlaceID P = Out.Places.variable(V, false);
  bool IsOther =
      Var->hasGlobalStorage() || Var->getDeclContext() != Out.Function;
  Out.Places[P].IsOuter |= IsOther || Var->getType()->isReferenceType();
  return P;
}

PlaceID BorrowBuilder::temporary(const Expr *E, unsigned Index) {
  PlaceID P = Out.Places.temporary(E, Index, 0, false);
  if (!llvm::is_contained(Pending, P))
    Pending.push_back(P);
  return P;
}

LenderID BorrowBuilder::lenderAt(LenderKind Kind, PlaceID P) {
  LenderID R = Out.lender(Kind, P, nullptr);
  Out.Lenders[R].IsLocal = !isOuter(P);
  return R;
}

QualType BorrowBuilder::typeOf(PlaceID P) const {
  const PlaceInfo &Info = Out.Places[P];
  switch (Info.Kind) {
  case PlaceKind::Variable:
  case PlaceKind::Field:
    return static_cast<const ValueDecl *>(Info.Key)->getType();
  case PlaceKind::Temporary:
    return Info.Key ? static_cast<const Expr *>(Info.Key)->getType()
                    : QualType();
  default:
    return QualType();
  }
}

/// Where the object at \p P lies: an element, where its container keeps it.
LenderID BorrowBuilder::lenderOf(PlaceID P) {
  if (P == NoPlace || P == Nothing)
    return NoLender;
  const PlaceInfo &Info = Out.Places[P];
  if (Info.Kind != PlaceKind::Element)
    return lenderAt(LenderKind::Own, P);
  QualType Container = typeOf(Info.Base);
  if (!Container.isNull() && Container->isPointerType())
    return NoLender;
  if (Types.role(Container) == MemoryRole::Inline)
    return lenderOf(Info.Base);
  return lenderAt(LenderKind::Content, Info.Base);
}

/// Where the object of type \p T at \p P keeps its elements; none for one that
/// does not own them.
LenderID BorrowBuilder::elementsOf(PlaceID P, QualType T) {
  switch (P == NoPlace ? MemoryRole::None : Types.role(T)) {
  case MemoryRole::Owner:
    return lenderAt(LenderKind::Content, P);
  case MemoryRole::Inline:
    return lenderOf(P);
  default:
    return NoLender;
  }
}

PlaceID BorrowBuilder::pointTo(LenderID R, const Expr *E, unsigned Index) {
  if (R == NoLender)
    return NoPlace;
  PlaceID Temp = temporary(E, Index);
  BorrowFact &F = emit(BorrowKind::Point, E);
  F.Dst = Temp;
  F.Lender = R;
  return Temp;
}

PlaceID BorrowBuilder::objectOf(const Expr *E) const {
  return E ? Objects.lookup(stripForBorrow(E)) : NoPlace;
}

/// The value of \p E: of an array, a pointer to its first element.
PlaceID BorrowBuilder::valueOf(const Expr *E) {
  if (!E)
    return NoPlace;
  const Expr *Stripped = stripForBorrow(E);
  if (E->isNullPointerConstant(Unit.Ctx, Expr::NPC_ValueDependentIsNull))
    return Nothing;
  PlaceID P = Objects.lookup(Stripped);
  if (Stripped->getType()->isArrayType() && E->getType()->isPointerType()) {
    if (PlaceID Known = Addresses.lookup(Stripped))
      return Known;
    return pointTo(lenderOf(P), Stripped, /*Index=*/9);
  }
  return P;
}

/// A pointer to what the glvalue \p E names.
PlaceID BorrowBuilder::addressOf(const Expr *E) {
  const Expr *Stripped = stripForBorrow(E);
  if (PlaceID P = Objects.lookup(Stripped))
    return pointTo(lenderOf(P), Stripped, /*Index=*/8);
  return Addresses.lookup(Stripped);
}

const Expr *stripForBorrow(const Expr *E) {
  while (E && !isa<CXXStdInitializerListExpr>(E)) {
    const Expr *Before = E;
    E = stripOneWrapper(E);
    if (const auto *Default = dyn_cast<CXXDefaultInitExpr>(E))
      E = Default->getExpr();
    if (E == Before)
      break;
  }
  return E;
}

} // namespace tensorscope
