// SPDX-License-Identifier: Apache-2.0
//
// Finds tensors over memory that ends before they do.
// User page: docs/checks/dangling-blob.md
#include "checks/Check.h"

#include "utils/AstUtils.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

static FlowStepKind endStep(EndKind End) {
  switch (End) {
  case EndKind::Block:
    return FlowStepKind::Destroyed;
  case EndKind::Statement:
    return FlowStepKind::StatementEnded;
  case EndKind::Freed:
    return FlowStepKind::Freed;
  case EndKind::Realloc:
    return FlowStepKind::Reallocated;
  case EndKind::Resized:
    return FlowStepKind::Resized;
  case EndKind::Rebound:
    return FlowStepKind::Rebound;
  }
  return FlowStepKind::Destroyed;
}

static std::string calledName(const Stmt *At) {
  const auto *Call = dyn_cast_or_null<CallExpr>(At);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  return F ? F->getNameAsString() : "";
}

/// Null where it is not returned.
static const Expr *returnedValue(const BorrowFinding &B) {
  const auto *Return = dyn_cast_or_null<ReturnStmt>(B.Used);
  return Return ? Return->getRetValue() : nullptr;
}

/// Of an object that frees something, callers expect that it has its memory.
static bool givesOwner(const BorrowFinding &B) {
  const Expr *Value = returnedValue(B);
  const CXXRecordDecl *Class =
      Value ? Value->getType()->getAsCXXRecordDecl() : nullptr;
  return Class && Class->hasDefinition() && !Class->hasTrivialDestructor();
}

FlowFinding danglingFinding(const BorrowFinding &B) {
  FlowFinding F;
  F.Loc = locationOf(B.At);
  F.Subject = B.Name;
  F.Holder = B.Owner;
  F.IsMaybe = B.IsMaybe;
  F.Remedy = B.IsIfCopied ? calledName(B.Copied) : "";
  if (B.Taken)
    F.Steps.push_back(
        {B.IsRef ? FlowStepKind::Viewed : FlowStepKind::Borrowed,
         locationOf(B.Taken), B.TakenThrough});
  if (B.Ended || B.How == DanglingKind::Used)
    F.Steps.push_back(
        {endStep(B.End), B.Ended ? locationOf(B.Ended) : F.Loc, B.Through});
  F.Form = unsigned(B.How);
  F.Level = B.How != DanglingKind::GivenOut ? 0 : givesOwner(B) ? 1 : 2;
  FlowStepKind Last = B.How == DanglingKind::Used ? FlowStepKind::Used
                      : B.How == DanglingKind::Returned ||
                              B.How == DanglingKind::GivenOut
                          ? FlowStepKind::Returned
                          : FlowStepKind::Stored;
  F.Steps.push_back({Last, locationOf(B.Used), ""});
  return F;
}

/// `.clone()` behind what is returned, where it is the tensor itself.
static void addClone(FlowFinding &F, const BorrowFinding &B,
                     const ASTContext &Ctx) {
  const Expr *Value = returnedValue(B);
  const CXXRecordDecl *Class =
      Value ? Value->getType()->getAsCXXRecordDecl() : nullptr;
  if (!Class || qualifiedName(Class) != "at::Tensor")
    return;
  const Expr *Named = stripForBorrow(Value);
  while (const auto *Made = dyn_cast<CXXConstructExpr>(Named)) {
    if (Made->getNumArgs() != 1)
      return;
    Named = stripForBorrow(Made->getArg(0));
  }
  if (!isa<DeclRefExpr, MemberExpr>(Named) &&
      (!isa<CallExpr>(Named) || isa<CXXOperatorCallExpr>(Named)))
    return;
  SourceLocation End = Lexer::getLocForEndOfToken(
      Value->getEndLoc(), 0, Ctx.getSourceManager(), Ctx.getLangOpts());
  if (End.isValid() && !Value->getEndLoc().isMacroID())
    F.Edits.push_back({CharSourceRange::getCharRange(End, End), ".clone()"});
}

std::vector<FlowFinding> findDanglingBlobs(CheckInput &Input) {
  std::vector<FlowFinding> Findings;
  const BorrowFindings &Borrows = Input.Borrows();
  Input.Silenced.insert(Borrows.Silenced.begin(), Borrows.Silenced.end());
  for (const BorrowFinding &B : Borrows.Dangling) {
    if (B.Borrower != BorrowerKind::Blob)
      continue;
    FlowFinding F = danglingFinding(B);
    if (B.How == DanglingKind::Returned)
      addClone(F, B, Input.Ctx);
    Findings.push_back(std::move(F));
  }
  return Findings;
}

static std::string quoted(const std::string &Name, const char *Else) {
  return Name.empty() ? Else : "'" + Name + "'";
}

/// How the memory that a tensor borrows ends, as a sentence goes on.
static std::string endWords(const FlowFinding &F) {
  std::string Owner = quoted(F.Holder, "a temporary");
  for (const FlowStep &S : F.Steps)
    switch (S.Kind) {
    case FlowStepKind::StatementEnded:
      return "a temporary, which is gone at the end of this statement";
    case FlowStepKind::Freed:
      return "what was freed";
    case FlowStepKind::Destroyed:
      return Owner + ", which was destroyed";
    default:
      break;
    }
  return Owner + ", which is gone at the end of this function";
}

static std::string usedAfter(const FlowFinding &F) {
  std::string Owner = quoted(F.Holder, "a temporary");
  for (const FlowStep &S : F.Steps)
    switch (S.Kind) {
    case FlowStepKind::Freed:
      return std::string("the memory that it borrows ") +
             (F.IsMaybe ? "may have been" : "was") + " freed; free it later";
    case FlowStepKind::Reallocated:
      return "the elements of " + Owner + ", which it borrows, " +
             (F.IsMaybe ? "may have been" : "were") +
             " moved; make it again";
    default:
      break;
    }
  return Owner + ", whose memory it borrows, was destroyed; let " + Owner +
         " live longer";
}

Diagnostic describeDanglingBlob(const FlowFinding &F) {
  bool IsTemporary = llvm::any_of(F.Steps, [](const FlowStep &S) {
    return S.Kind == FlowStepKind::StatementEnded;
  });
  switch (F.Steps.back().Kind) {
  case FlowStepKind::Returned:
    return makeDiagnostic(F, quoted(F.Subject, "the result") +
                                 " borrows the memory of " + endWords(F) +
                                 "; return a 'clone()'");
  case FlowStepKind::Stored:
    return makeDiagnostic(F, quoted(F.Subject, "what is kept") +
                                 " keeps a tensor on the memory of " +
                                 endWords(F) + "; store a 'clone()'");
  default:
    if (IsTemporary)
      return makeDiagnostic(F, quoted(F.Subject, "the tensor") +
                                   " borrows the memory of " + endWords(F) +
                                   "; give it a name first, or 'clone()'");
    return makeDiagnostic(F, "use of " + quoted(F.Subject, "a tensor") +
                                 " after " + usedAfter(F) +
                                 ", or use a 'clone()'");
  }
}

} // namespace tensorscope
