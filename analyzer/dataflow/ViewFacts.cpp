// SPDX-License-Identifier: Apache-2.0
//
// How little of a storage a view uses, where its source was made with constant
// sizes.
#include "dataflow/UnitVisitor.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

using namespace clang;

namespace tensorscope {
namespace {

using Sizes = llvm::SmallVector<int64_t, 4>;

std::optional<int64_t> constant(const Expr *E, const ASTContext &Ctx) {
  Expr::EvalResult Known;
  if (!E || E->isValueDependent() ||
      !E->getType()->isIntegralOrEnumerationType() ||
      !E->EvaluateAsInt(Known, Ctx))
    return std::nullopt;
  return Known.Val.getInt().getExtValue();
}

/// The numbers of a list in braces, whatever it is made into.
bool listedIn(const Expr *E, const ASTContext &Ctx, Sizes &Out) {
  E = stripWrappers(E);
  if (const auto *List = dyn_cast<InitListExpr>(E)) {
    for (const Expr *Part : List->inits()) {
      std::optional<int64_t> Size = constant(stripWrappers(Part), Ctx);
      if (!Size || *Size <= 0)
        return false;
      Out.push_back(*Size);
    }
    return List->getNumInits() != 0;
  }
  const auto *Made = dyn_cast<CXXConstructExpr>(E);
  return Made && Made->getNumArgs() >= 1 && listedIn(Made->getArg(0), Ctx, Out);
}

/// The sizes that a factory function is given.
bool madeWith(const Expr *E, const ASTContext &Ctx, Sizes &Out) {
  const auto *Call = dyn_cast<CallExpr>(stripWrappers(E));
  if (!Call || isa<CXXMemberCallExpr>(Call) || Call->getNumArgs() == 0 ||
      !isNamed(Call->getDirectCallee(),
               {"rand", "randn", "zeros", "ones", "empty", "full"}))
    return false;
  return listedIn(Call->getArg(0), Ctx, Out);
}

/// What is taken out of a tensor: \p Dim, and how much is left of it (0: it is
/// gone).
struct Cut {
  int64_t Dim = 0;
  int64_t Left = 0;
};

std::optional<Cut> cutOf(const CallExpr *Call, const ASTContext &Ctx) {
  const FunctionDecl *F = Call->getDirectCallee();
  const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
  if (Op && Op->getOperator() == OO_Subscript && Op->getNumArgs() == 2 &&
      constant(stripWrappers(Op->getArg(1)), Ctx))
    return Cut{0, 0};
  auto Arg = [&](unsigned I) -> std::optional<int64_t> {
    if (I >= Call->getNumArgs())
      return std::nullopt;
    return constant(stripConstructions(Call->getArg(I)), Ctx);
  };
  if (isNamed(F, {"select"}) && Arg(0) && Arg(1))
    return Cut{*Arg(0), 0};
  if (isNamed(F, {"narrow"}) && Arg(0) && Arg(1) && Arg(2))
    return Cut{*Arg(0), *Arg(2)};
  // `x.slice(dim, start, end)`, without a step.
  bool IsSlice = isNamed(F, {"slice"}) && isa<CXXMemberCallExpr>(Call) &&
                 Call->getNumArgs() == 4 &&
                 isa<CXXDefaultArgExpr>(Call->getArg(3));
  if (IsSlice && Arg(0) && Arg(1) && Arg(2) && *Arg(1) >= 0 &&
      *Arg(2) > *Arg(1))
    return Cut{*Arg(0), *Arg(2) - *Arg(1)};
  return std::nullopt;
}

/// What \p E is a copy of, or is moved from.
const Expr *copiedFrom(const Expr *E) {
  E = stripWrappers(E);
  while (const auto *Copy = dyn_cast<CXXConstructExpr>(E)) {
    if (Copy->getNumArgs() != 1 ||
        !Copy->getConstructor()->isCopyOrMoveConstructor())
      break;
    E = stripWrappers(Copy->getArg(0));
  }
  return E;
}

} // namespace

std::optional<unsigned> shareOfStorage(const Expr *View, const VarDecl *&Source,
                                       const ASTContext &Ctx) {
  llvm::SmallVector<Cut, 4> Cuts;
  while (true) {
    View = copiedFrom(View);
    const auto *Call = dyn_cast<CallExpr>(View);
    std::optional<Cut> C = Call ? cutOf(Call, Ctx) : std::nullopt;
    if (!C)
      break;
    Cuts.push_back(*C);
    const auto *Member = dyn_cast<CXXMemberCallExpr>(Call);
    View = Member ? Member->getImplicitObjectArgument() : Call->getArg(0);
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(View);
  Source = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  Sizes Shape;
  if (Cuts.empty() || !Source || !Source->hasLocalStorage() ||
      isa<ParmVarDecl>(Source) || !Source->getInit() ||
      !madeWith(Source->getInit(), Ctx, Shape))
    return std::nullopt;
  int64_t Share = 1;
  for (const Cut &C : llvm::reverse(Cuts)) {
    int64_t Dim = C.Dim < 0 ? C.Dim + int64_t(Shape.size()) : C.Dim;
    if (Dim < 0 || Dim >= int64_t(Shape.size()))
      return std::nullopt;
    Share *= Shape[Dim] / std::max<int64_t>(C.Left, 1);
    if (C.Left == 0)
      Shape.erase(Shape.begin() + Dim);
    else
      Shape[Dim] = C.Left;
  }
  return Share;
}

/// All of a tensor is kept, whatever becomes of views of it.
void UnitVisitor::noteStoredWhole(const Expr *Value) {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(copiedFrom(Value)))
    if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl()))
      Out.StoredWhole.insert(V);
}

/// \p View is put into \p Into, or (null) is the result of a scope. Less than
/// a quarter is worth a word.
void UnitVisitor::keepView(const Expr *View, const Expr *Into) {
  constexpr unsigned LeastShare = 4;
  const VarDecl *Source = nullptr;
  std::optional<unsigned> Share = shareOfStorage(View, Source, Unit.Ctx);
  if (!Share || *Share < LeastShare)
    return;
  // What is declared beside its source dies with it.
  bool IsMember = false;
  const VarDecl *Holder = Into ? rootOf(Into, &IsMember) : nullptr;
  bool IsLonger =
      IsMember ||
      (Holder &&
       (Holder->hasGlobalStorage() || Holder->getType()->isReferenceType() ||
        Holder->getType()->isPointerType() ||
        LoopsAround.lookup(Holder) < LoopsAround.lookup(Source)));
  if (Into && !IsLonger)
    return;
  const Expr *Cut = stripWrappers(View);
  if (const auto *Copy = dyn_cast<CXXConstructExpr>(Cut);
      Copy && Copy->getNumArgs() == 1)
    Cut = stripWrappers(Copy->getArg(0));
  SourceLocation End = Lexer::getLocForEndOfToken(
      Cut->getEndLoc(), 0, Unit.Ctx.getSourceManager(), Unit.Ctx.getLangOpts());
  Out.KeptViews.push_back(
      {Cut, Source, *Share, Into == nullptr, End, Function});
}

} // namespace tensorscope
