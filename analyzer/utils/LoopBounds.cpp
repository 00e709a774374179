// SPDX-License-Identifier: Apache-2.0
#include "utils/LoopBounds.h"

#include "utils/AstUtils.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

std::optional<int64_t> constantValue(const Expr *E, const ASTContext &Ctx,
                                     const BodyIndex *Body = nullptr) {
  Expr::EvalResult Result;
  // A local that is set once.
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E ? stripWrappers(E) : E);
  const auto *V = Ref && Body ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (V && V->hasLocalStorage() && V->getInit() && !isa<ParmVarDecl>(V) &&
      Body->Writes.lookup(V).empty() && !Body->WrittenElsewhere.contains(V))
    E = V->getInit();
  if (!E || E->isValueDependent() || !E->getType()->isIntegralOrEnumerationType()
      || !E->EvaluateAsInt(Result, Ctx) ||
      Result.Val.getInt().getSignificantBits() > 62)
    return std::nullopt;
  return Result.Val.getInt().getExtValue();
}

/// What one iteration compares its counter with: `i-- > 0`.
struct Comparison {
  const VarDecl *Counter = nullptr;
  BinaryOperatorKind Operator = BO_NE;
  int64_t Last = 0;
  /// The counter is stepped first, and then compared.
  bool IsStepped = false;
};

/// A counter, by its name or while it is stepped.
bool readCounter(const Expr *E, Comparison &C) {
  E = stripWrappers(E);
  if (const auto *Step = dyn_cast<UnaryOperator>(E);
      Step && Step->isIncrementDecrementOp()) {
    C.IsStepped = Step->isPrefix();
    E = stripWrappers(Step->getSubExpr());
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  C.Counter = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return C.Counter && C.Counter->hasLocalStorage() &&
         C.Counter->getType()->isIntegerType();
}

std::optional<Comparison> readComparison(const Expr *Condition, bool IsDenied,
                                         const BodyIndex &Body,
                                         const ASTContext &Ctx) {
  Comparison C;
  Condition = stripWrappers(Condition);
  const auto *Binary = dyn_cast<BinaryOperator>(Condition);
  if (!Binary)
    return !IsDenied && readCounter(Condition, C) ? std::optional(C)
                                                  : std::nullopt;
  if (!Binary->isComparisonOp() || Binary->getOpcode() == BO_Cmp)
    return std::nullopt;
  const Expr *Left = Binary->getLHS(), *Right = Binary->getRHS();
  C.Operator = Binary->getOpcode();
  if (IsDenied)
    C.Operator = BinaryOperator::negateComparisonOp(C.Operator);
  if (constantValue(Left, Ctx, &Body)) {
    std::swap(Left, Right);
    C.Operator = BinaryOperator::reverseComparisonOp(C.Operator);
  }
  auto Last = constantValue(Right, Ctx, &Body);
  if (!Last || !readCounter(Left, C))
    return std::nullopt;
  C.Last = *Last;
  return C;
}

/// By how much a write moves a counter, at least; zero if it can't be told.
int64_t stepOf(const Expr *Write, const ASTContext &Ctx) {
  if (const auto *Unary = dyn_cast<UnaryOperator>(Write))
    return Unary->isIncrementOp() ? 1 : -1;
  const auto *Binary = cast<BinaryOperator>(Write);
  auto By = constantValue(Binary->getRHS(), Ctx);
  if (!By || *By <= 0)
    return 0;
  switch (Binary->getOpcode()) {
  case BO_AddAssign:
    return *By;
  case BO_SubAssign:
    return -*By;
  case BO_MulAssign:
    return *By > 1 ? 1 : 0;
  case BO_ShlAssign:
    return 1;
  case BO_DivAssign:
    return *By > 1 ? -1 : 0;
  case BO_ShrAssign:
    return -1;
  default:
    return 0;
  }
}

bool contains(const Stmt *Whole, const Stmt *Part) {
  llvm::SmallVector<const Stmt *, 16> Todo{Whole};
  while (!Todo.empty()) {
    const Stmt *S = Todo.pop_back_val();
    if (S == Part)
      return true;
    if (S)
      Todo.append(S->child_begin(), S->child_end());
  }
  return false;
}

/// The parts of a loop.
struct LoopParts {
  const Expr *Condition = nullptr;
  const Stmt *Step = nullptr;
  const Stmt *Body = nullptr;
};

LoopParts partsOf(const Stmt *Loop) {
  if (const auto *For = dyn_cast<ForStmt>(Loop))
    return {For->getCond(), For->getInc(), For->getBody()};
  if (const auto *While = dyn_cast<WhileStmt>(Loop))
    return {While->getCond(), nullptr, While->getBody()};
  if (const auto *Do = dyn_cast<DoStmt>(Loop))
    return {Do->getCond(), nullptr, Do->getBody()};
  return {};
}

/// \p Write is in the condition, where it is evaluated whatever the rest is.
bool isAsked(const Expr *Condition, const Expr *Write) {
  Condition = stripWrappers(Condition);
  const auto *Binary = dyn_cast<BinaryOperator>(Condition);
  if (!Binary)
    return Condition == Write;
  return isAsked(Binary->getLHS(), Write) ||
         (!Binary->isLogicalOp() && isAsked(Binary->getRHS(), Write));
}

/// Each iteration that goes on comes to it.
bool isInEachIteration(const Expr *Write, const LoopParts &Loop) {
  if (contains(Loop.Condition, Write) || contains(Loop.Step, Write))
    return true;
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Loop.Body);
  auto IsIt = [&](const Stmt *S) {
    const auto *If = dyn_cast_or_null<IfStmt>(S);
    const auto *E = If ? If->getCond() : dyn_cast_or_null<Expr>(S);
    return E && (stripWrappers(E) == Write || (If && isAsked(E, Write)));
  };
  return IsIt(Loop.Body) || (Block && llvm::any_of(Block->body(), IsIt));
}

/// How a counter begins and moves on.
struct Counting {
  llvm::SmallVector<int64_t, 2> Firsts;
  int64_t Step = 0; ///< at least, in one iteration
  bool IsCertain = false;
};

std::optional<Counting> countingOf(const VarDecl *V, const Stmt *Loop,
                                   const LoopParts &Parts,
                                   const BodyIndex &Body,
                                   const ASTContext &Ctx) {
  Counting C;
  const auto *For = dyn_cast<ForStmt>(Loop);
  const auto *Init = For ? dyn_cast_or_null<DeclStmt>(For->getInit()) : nullptr;
  // A variable of the loop's own is taken to be left alone.
  bool IsOfTheLoop = Init && llvm::is_contained(Init->decls(), V);
  if ((Body.WrittenElsewhere.contains(V) && !IsOfTheLoop) ||
      V->getDeclContext() != Body.Function || isa<ParmVarDecl>(V))
    return std::nullopt;
  bool IsKnown = true;
  if (V->getInit()) {
    auto First = constantValue(V->getInit(), Ctx);
    IsKnown = First.has_value();
    C.Firsts.push_back(First.value_or(0));
  }
  const Stmt *Outer = Body.OuterLoop.lookup(Loop);
  const SourceManager &SM = Ctx.getSourceManager();
  bool WasSetInOuter =
      IsOfTheLoop || (Outer && SM.isBeforeInTranslationUnit(
                                   Outer->getBeginLoc(), V->getLocation()));
  // In the order of the text: what is written last before the loop counts.
  for (const ScalarWrite &W : Body.Writes.lookup(V)) {
    bool IsInit = For && contains(For->getInit(), W.At);
    if (!contains(Loop, W.At) || IsInit) {
      bool IsLater = !SM.isBeforeInTranslationUnit(
          W.At->getExprLoc(), IsInit ? For->getEndLoc() : Loop->getBeginLoc());
      if (IsLater)
        continue; // an outer loop writes it again before it is back here
      const auto *Set = dyn_cast<BinaryOperator>(W.At);
      auto First = Set && Set->getOpcode() == BO_Assign
                       ? constantValue(Set->getRHS(), Ctx)
                       : std::nullopt;
      IsKnown = First && (W.Loop == Outer || IsInit || IsKnown);
      C.Firsts.push_back(First.value_or(0));
      WasSetInOuter |= W.Loop == Outer;
      continue;
    }
    int64_t Step = stepOf(W.At, Ctx);
    if (Step == 0 || (C.Step != 0 && (C.Step > 0) != (Step > 0)))
      return std::nullopt;
    bool IsCertain = isInEachIteration(W.At, Parts);
    if (C.Step == 0 || (IsCertain && !C.IsCertain))
      C.Step = Step;
    C.IsCertain |= IsCertain;
  }
  // An outer loop comes back with what this one left, unless it is set anew.
  if (Outer && !WasSetInOuter)
    return std::nullopt;
  return C.IsCertain && IsKnown && !C.Firsts.empty() ? std::optional(C)
                                                     : std::nullopt;
}

/// \p IsDenied: the loop goes on where the condition is false.
std::optional<unsigned> countedIterations(const Expr *Condition, bool IsDenied,
                                          const Stmt *Loop,
                                          const LoopParts &Parts,
                                          const BodyIndex &Body,
                                          const ASTContext &Ctx) {
  Condition = Condition ? stripWrappers(Condition) : nullptr;
  // Of two conditions that must hold, the one that ends first.
  if (const auto *Both = dyn_cast_or_null<BinaryOperator>(Condition);
      Both && Both->getOpcode() == (IsDenied ? BO_LOr : BO_LAnd)) {
    auto Left =
        countedIterations(Both->getLHS(), IsDenied, Loop, Parts, Body, Ctx);
    auto Right =
        countedIterations(Both->getRHS(), IsDenied, Loop, Parts, Body, Ctx);
    return Left && Right ? std::min(*Left, *Right) : Left ? Left : Right;
  }
  auto C =
      Condition ? readComparison(Condition, IsDenied, Body, Ctx) : std::nullopt;
  auto Counts = C ? countingOf(C->Counter, Loop, Parts, Body, Ctx)
                  : std::nullopt;
  if (!Counts || C->Operator == BO_EQ)
    return std::nullopt;
  bool IsUp = Counts->Step > 0;
  bool WantsUp = C->Operator == BO_LT || C->Operator == BO_LE;
  if (C->Operator != BO_NE && IsUp != WantsUp)
    return std::nullopt;
  int64_t Most = 0;
  for (int64_t First : Counts->Firsts) {
    int64_t Way = IsUp ? C->Last - First : First - C->Last;
    if (Way < 0 && C->Operator == BO_NE)
      return std::nullopt;
    if (C->Operator == BO_LE || C->Operator == BO_GE)
      ++Way;
    int64_t Size = IsUp ? Counts->Step : -Counts->Step;
    Most = std::max(Most, (Way + Size - 1) / Size - (C->IsStepped ? 1 : 0));
  }
  // The first iteration of a `do` is before the first comparison.
  Most += isa<DoStmt>(Loop) ? 1 : 0;
  return static_cast<unsigned>(std::min<int64_t>(Most, UINT32_MAX));
}

/// `break` or `return`, at the end of a block or alone.
bool leavesTheLoop(const Stmt *S) {
  if (const auto *Block = dyn_cast<CompoundStmt>(S))
    return !Block->body_empty() && leavesTheLoop(Block->body_back());
  return isa<BreakStmt, ReturnStmt>(S);
}

std::optional<unsigned> rangeIterations(const CXXForRangeStmt *For,
                                        const ASTContext &Ctx) {
  const Expr *Range = For->getRangeInit();
  QualType T = Range->getType().getNonReferenceType().getCanonicalType();
  if (const auto *Array = Ctx.getAsConstantArrayType(T))
    return Array->getSize().getLimitedValue(UINT32_MAX);
  // A list in braces, also where a container is made of it.
  const auto *Made = dyn_cast<CXXConstructExpr>(stripWrappers(Range));
  const Expr *Listed = Made && Made->getNumArgs() > 0 ? Made->getArg(0) : Range;
  if (const auto *List = dyn_cast<InitListExpr>(stripWrappers(Listed)))
    return List->getNumInits();
  const auto *RD = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      T->getAsCXXRecordDecl());
  if (RD && qualifiedName(RD) == "std::array")
    return RD->getTemplateArgs()[1].getAsIntegral().getLimitedValue(UINT32_MAX);
  return std::nullopt;
}

} // namespace

std::optional<unsigned> constantIterations(const Stmt *Loop,
                                           const BodyIndex &Body,
                                           const ASTContext &Ctx) {
  if (const auto *Range = dyn_cast<CXXForRangeStmt>(Loop))
    return rangeIterations(Range, Ctx);
  LoopParts Parts = partsOf(Loop);
  auto Least =
      countedIterations(Parts.Condition, false, Loop, Parts, Body, Ctx);
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Parts.Body);
  if (!Block)
    return Least;
  for (const Stmt *Child : Block->body()) {
    const auto *If = dyn_cast<IfStmt>(Child);
    if (!If || !leavesTheLoop(If->getThen()))
      continue;
    // The iteration in which it is left has begun.
    if (auto Count =
            countedIterations(If->getCond(), true, Loop, Parts, Body, Ctx))
      Least = std::min(Least.value_or(UINT32_MAX), *Count + 1);
  }
  return Least;
}

bool isCounterOf(const ValueDecl *V, const Stmt *Loop, const BodyIndex &Body) {
  return llvm::any_of(Body.Writes.lookup(V), [&](const ScalarWrite &W) {
    const auto *Binary = dyn_cast<BinaryOperator>(W.At);
    return (!Binary || Binary->isCompoundAssignmentOp()) &&
           contains(Loop, W.At);
  });
}

} // namespace tensorscope
