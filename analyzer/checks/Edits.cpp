// SPDX-License-Identifier: Apache-2.0
#include "checks/Edits.h"

#include "utils/AstUtils.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace tensorscope {

bool isTensor(QualType T) {
  const CXXRecordDecl *RD = T.getNonReferenceType()->getAsCXXRecordDecl();
  return RD && qualifiedName(RD) == "at::Tensor";
}

static FlowEdit insertion(SourceLocation Where, std::string Text) {
  return {CharSourceRange::getCharRange(Where, Where), std::move(Text)};
}

std::vector<FlowEdit> callEdit(const Expr *E, llvm::StringRef Call,
                               const ASTContext &Ctx) {
  const SourceManager &SM = Ctx.getSourceManager();
  if (!isTensor(E->getType()) || E->getBeginLoc().isMacroID() ||
      E->getEndLoc().isMacroID())
    return {};
  SourceLocation End =
      Lexer::getLocForEndOfToken(E->getEndLoc(), 0, SM, Ctx.getLangOpts());
  if (End.isInvalid())
    return {};
  const Expr *Bare = stripWrappers(E);
  bool IsPostfix = isa<DeclRefExpr, MemberExpr, ParenExpr>(Bare) ||
                   (isa<CallExpr>(Bare) && !isa<CXXOperatorCallExpr>(Bare)) ||
                   isa<ParenExpr>(E->IgnoreImplicit());
  if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Bare))
    IsPostfix |= Operator->getOperator() == OO_Subscript ||
                 Operator->getOperator() == OO_Call;
  if (IsPostfix)
    return {insertion(End, ("." + Call).str())};
  return {insertion(E->getBeginLoc(), "("), insertion(End, (")." + Call).str())};
}

static const Stmt *bodyOf(const Stmt *Loop) {
  if (const auto *For = dyn_cast<ForStmt>(Loop))
    return For->getBody();
  if (const auto *Range = dyn_cast<CXXForRangeStmt>(Loop))
    return Range->getBody();
  if (const auto *While = dyn_cast<WhileStmt>(Loop))
    return While->getBody();
  if (const auto *Do = dyn_cast<DoStmt>(Loop))
    return Do->getBody();
  return nullptr;
}

std::vector<FlowEdit> firstStatementEdit(const Stmt *Loop,
                                         llvm::StringRef Statement,
                                         const ASTContext &Ctx) {
  const auto *Body =
      dyn_cast_or_null<CompoundStmt>(Loop ? bodyOf(Loop) : nullptr);
  if (!Body || Body->body_empty() || Body->getLBracLoc().isMacroID())
    return {};
  const SourceManager &SM = Ctx.getSourceManager();
  SourceLocation First = Body->body_front()->getBeginLoc();
  if (First.isMacroID())
    return {};
  unsigned Column = SM.getSpellingColumnNumber(First);
  bool IsOnOneLine = SM.getSpellingLineNumber(First) ==
                     SM.getSpellingLineNumber(Body->getLBracLoc());
  std::string Gap = IsOnOneLine ? " " : "\n" + std::string(Column - 1, ' ');
  return {insertion(Body->getLBracLoc().getLocWithOffset(1),
                    Gap + Statement.str())};
}

} // namespace tensorscope
