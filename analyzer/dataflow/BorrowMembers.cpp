// SPDX-License-Identifier: Apache-2.0
//
// Members that point into one another: what a member function may take to be
// so when it begins.
#include "dataflow/BorrowBuilder.h"
#include "utils/AstUtils.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

/// A member's pointer into a tensor that is a member, too.
struct MemberBorrow {
  const FieldDecl *Tensor = nullptr;
  MemoryKind Kind = MemoryKind::PointsInto;
  const Expr *At = nullptr;
};

MemberBorrow memberBorrow(const Expr *E, BorrowTypes &Types) {
  MemberBorrow Borrow;
  const auto *Call =
      dyn_cast_or_null<CXXMemberCallExpr>(E ? stripForBorrow(E) : nullptr);
  const CXXMethodDecl *M = Call ? Call->getMethodDecl() : nullptr;
  const MemoryModel *Model = M ? Types.memory(M) : nullptr;
  if (!Model || Model->empty() ||
      Types.role(Call->getImplicitObjectArgument()->getType()) !=
          MemoryRole::Shared)
    return Borrow;
  const auto *Object = dyn_cast<MemberExpr>(
      stripForBorrow(Call->getImplicitObjectArgument()));
  if (!Object || !isa<CXXThisExpr>(stripForBorrow(Object->getBase())))
    return Borrow;
  Borrow.Kind = Model->front().Kind;
  Borrow.At = Call;
  if (Borrow.Kind == MemoryKind::PointsInto ||
      Borrow.Kind == MemoryKind::Describes)
    Borrow.Tensor = dyn_cast<FieldDecl>(Object->getMemberDecl());
  return Borrow;
}

/// Whether a member function makes \p Pointer point elsewhere than into
/// \p Tensor, or lets somebody else do so.
class OtherWrites : public RecursiveASTVisitor<OtherWrites> {
public:
  OtherWrites(const FieldDecl *Pointer, const FieldDecl *Tensor,
              BorrowTypes &Types)
      : Pointer(Pointer), Tensor(Tensor), Types(Types) {}
  bool VisitBinaryOperator(BinaryOperator *E) {
    if (E->isAssignmentOp() && names(E->getLHS()))
      Found |= memberBorrow(E->getRHS(), Types).Tensor != Tensor;
    return !Found;
  }
  bool VisitUnaryOperator(UnaryOperator *E) {
    Found |= names(E->getSubExpr()) && (E->isIncrementDecrementOp() ||
                                        E->getOpcode() == UO_AddrOf);
    return !Found;
  }
  bool Found = false;

private:
  bool names(const Expr *E) const {
    const auto *Member = dyn_cast<MemberExpr>(stripForBorrow(E));
    return Member && Member->getMemberDecl() == Pointer;
  }
  const FieldDecl *Pointer;
  const FieldDecl *Tensor;
  BorrowTypes &Types;
};

} // namespace

bool hasMemberBorrows(const FunctionDecl *F, BorrowTypes &Types) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Method &&
         llvm::any_of(Method->getParent()->fields(), [&](const FieldDecl *D) {
           return D->hasInClassInitializer() && Types.mayBorrow(D->getType()) &&
                  memberBorrow(D->getInClassInitializer(), Types).Tensor;
         });
}

/// Members that have such an initializer, and that nothing in the class makes
/// point elsewhere, point there when a member function begins.
void BorrowBuilder::assumeMembers() {
  const auto *Method = dyn_cast<CXXMethodDecl>(Out.Function);
  if (!Method || !Method->isInstance() ||
      isa<CXXConstructorDecl, CXXDestructorDecl>(Method) ||
      Method->getParent()->isLambda())
    return;
  const CXXRecordDecl *Class = Method->getParent();
  for (const FieldDecl *Field : Class->fields()) {
    if (Field->getType()->isReferenceType() ||
        !Types.mayBorrow(Field->getType()))
      continue;
    MemberBorrow Borrow = memberBorrow(Field->getInClassInitializer(), Types);
    if (!Borrow.Tensor || isWrittenElsewhere(Class, Field, Borrow.Tensor))
      continue;
    BorrowFact &F = emit(Borrow.Kind == MemoryKind::PointsInto
                             ? BorrowKind::TakeData
                             : BorrowKind::TakeShape,
                         Borrow.At);
    F.Src = Out.Places.field(Out.This, Borrow.Tensor, false);
    F.Dst = Out.Places.field(Out.This, Field, false);
  }
}

bool BorrowBuilder::isWrittenElsewhere(const CXXRecordDecl *Class,
                                       const FieldDecl *Pointer,
                                       const FieldDecl *Tensor) {
  for (const CXXMethodDecl *M : Class->methods()) {
    const FunctionDecl *Body = definitionOf(M);
    if (!Body) {
      if (!M->isImplicit() && !M->isDefaulted() && !M->isDeleted())
        return true;
      continue;
    }
    if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(Body))
      for (const CXXCtorInitializer *Init : Ctor->inits())
        if (Init->getAnyMember() == Pointer && Init->isWritten())
          return true;
    OtherWrites Writes(Pointer, Tensor, Types);
    Writes.TraverseStmt(Body->getBody());
    if (Writes.Found)
      return true;
  }
  return false;
}

} // namespace tensorscope
