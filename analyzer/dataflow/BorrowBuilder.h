// SPDX-License-Identifier: Apache-2.0
//
// The generator of borrow facts, private to dataflow/. Its members live in
// BorrowFacts.cpp (graph, objects' ends), BorrowExpressions.cpp (what is no
// call), BorrowCalls.cpp (calls), BorrowModels.cpp (what a model says),
// BorrowCallees.cpp (constructions, summaries, callees that are not known) and
// BorrowMembers.cpp (members that point into one another).
#ifndef TENSORSCOPE_DATAFLOW_BORROWBUILDER_H
#define TENSORSCOPE_DATAFLOW_BORROWBUILDER_H

#include "dataflow/BorrowTypes.h"
#include "dataflow/Borrows.h"
#include "dataflow/FactsGenerator.h"
#include "clang/AST/StmtVisitor.h"

namespace tensorscope {

/// Answers for callees.
class BorrowSummaryProvider {
public:
  /// Null when nothing is known.
  virtual const BorrowSummary *borrowSummary(const clang::FunctionDecl *F) = 0;

protected:
  ~BorrowSummaryProvider() = default;
};

class BorrowBuilder : public clang::ConstStmtVisitor<BorrowBuilder> {
public:
  BorrowBuilder(UnitContext &Unit, BorrowTypes &Types,
                BorrowSummaryProvider &Summaries, BorrowFacts &Out)
      : Unit(Unit), Types(Types), Summaries(Summaries), Out(Out) {}
  void build(const clang::FunctionDecl *F);

  // What is no call.
  void VisitDeclRefExpr(const clang::DeclRefExpr *E);
  void VisitMemberExpr(const clang::MemberExpr *E);
  void VisitCXXThisExpr(const clang::CXXThisExpr *E);
  void VisitLambdaExpr(const clang::LambdaExpr *E);
  void VisitInitListExpr(const clang::InitListExpr *E);
  void VisitCXXStdInitializerListExpr(
      const clang::CXXStdInitializerListExpr *E);
  void VisitArraySubscriptExpr(const clang::ArraySubscriptExpr *E);
  void VisitUnaryOperator(const clang::UnaryOperator *E);
  void VisitBinaryOperator(const clang::BinaryOperator *E);
  void VisitConditionalOperator(const clang::ConditionalOperator *E);
  void VisitCXXNewExpr(const clang::CXXNewExpr *E);
  void VisitCXXDeleteExpr(const clang::CXXDeleteExpr *E);
  void VisitReturnStmt(const clang::ReturnStmt *S);
  void VisitDeclStmt(const clang::DeclStmt *S);

  // Calls.
  void VisitCallExpr(const clang::CallExpr *E);
  void VisitCXXConstructExpr(const clang::CXXConstructExpr *E);

private:
  struct Call {
    const clang::Expr *E = nullptr;
    const clang::FunctionDecl *Callee = nullptr;
    const clang::Expr *Object = nullptr;
    llvm::SmallVector<const clang::Expr *, 4> Args;
  };

  // Graph.
  unsigned newBlock();
  BorrowFact &emit(BorrowKind Kind, const clang::Stmt *At);
  void on(BorrowKind Kind, PlaceID Src, const clang::Stmt *At);
  void copy(PlaceID Dst, PlaceID Src, const clang::Stmt *At,
            bool IsWeak = false);
  void walkBlock(const clang::CFGBlock *B, llvm::ArrayRef<unsigned> Starts);
  void visitElement(const clang::CFGElement &Element);
  void visitInitializer(const clang::CXXCtorInitializer *Init);
  void endVariable(const clang::VarDecl *V, const clang::Stmt *At);
  void destroy(const clang::VarDecl *V, const clang::Stmt *At);
  void endStatement(const clang::Stmt *S);
  void assumeMembers();
  bool isWrittenElsewhere(const clang::CXXRecordDecl *Class,
                          const clang::FieldDecl *Pointer,
                          const clang::FieldDecl *Tensor);

  // Places and values.
  PlaceID placeOf(const clang::ValueDecl *V);
  PlaceID valueOf(const clang::Expr *E);
  PlaceID objectOf(const clang::Expr *E) const;
  PlaceID addressOf(const clang::Expr *E);
  PlaceID temporary(const clang::Expr *E, unsigned Index = 0);
  PlaceID pointTo(LenderID R, const clang::Expr *E, unsigned Index = 0);
  LenderID lenderAt(LenderKind Kind, PlaceID P);
  LenderID elementsOf(PlaceID P, clang::QualType T);
  LenderID lenderOf(PlaceID P);
  clang::QualType typeOf(PlaceID P) const;
  bool isOuter(PlaceID P) const;
  void declare(const clang::VarDecl *V, const clang::Stmt *At);
  void notePosition(const clang::VarDecl *V);
  void forgetBehind(const clang::Expr *Arg, const clang::Stmt *At);
  bool visitPosition(const Call &C);
  void store(const clang::Expr *To, const clang::Expr *Value,
             const clang::Stmt *At);

  // Calls.
  void visitCall(const Call &C);
  bool visitAssignment(const Call &C);
  void applyMemory(const MemoryModel &M, const Call &C);
  void applyEffect(const MemoryEffect &E, const Call &C);
  void applyResult(const MemoryModel &M, const Call &C);
  void applyApi(const FunctionModel &M, const Call &C);
  void resultOf(MemoryKind Kind, const clang::Expr *From, const Call &C);
  void wrap(const Call &C, const clang::Expr *Pointer);
  void pointInto(const Call &C, const clang::Expr *Into);
  void handOver(const Call &C);
  void useAll(const Call &C, bool OnlyArrayRefs = false);
  void collect(const Call &C);
  void add(PlaceID To, clang::QualType T, const clang::Expr *Value,
           const clang::Expr *At);
  void insert(const Call &C);
  const clang::Expr *argument(const Call &C, int Index) const;
  bool isOwningDeleter(const Call &C) const;
  bool hasStrides(const Call &C) const;
  BlobElements elementsIn(const Call &C);
  std::optional<BlobElements> conversion(const Call &C);

  // Constructions.
  void enclose(const Call &C);
  void constructShared(const Call &C);

  // Callees.
  void visitUser(const Call &C, PlaceID This);
  void applySummary(const BorrowSummary &S, const Call &C, PlaceID This,
                    PlaceID Result);
  PlaceID placeAt(const Path &P, const Call &C, PlaceID This, PlaceID Result);
  void addPart(const BorrowSummary::Part &Part, PlaceID From, PlaceID To,
               const Call &C, unsigned Index);
  void applyUnknown(const Call &C, PlaceID This);
  void giveToUnknown(const clang::Expr *Arg, clang::QualType Param,
                     const clang::Expr *At);
  void noteLambda(const clang::LambdaExpr *E);

  UnitContext &Unit;
  BorrowTypes &Types;
  BorrowSummaryProvider &Summaries;
  BorrowFacts &Out;
  const BodyIndex *Body = nullptr;
  unsigned Cur = 0;
  llvm::DenseMap<const clang::Expr *, PlaceID> Objects;
  /// What a glvalue of no known object lies in.
  llvm::DenseMap<const clang::Expr *, PlaceID> Addresses;
  llvm::DenseMap<const clang::ValueDecl *, PlaceID> Aliases;
  /// The containers that iterators, and pointers to their elements, are in.
  llvm::DenseMap<const clang::ValueDecl *, PlaceID> Positions;
  llvm::SmallVector<PlaceID, 8> Pending;
  llvm::SmallVector<PlaceID, 2> Reserved;
  bool HasReturned = false;
  /// A place that never holds anything.
  PlaceID Nothing = NoPlace;
};

/// The object of a member call that goes through a pointer is not known, but
/// for `this`.
bool isThroughPointer(const clang::Expr *Object);

/// Whether members of the class of \p F point into one another.
bool hasMemberBorrows(const clang::FunctionDecl *F, BorrowTypes &Types);

/// The expression under parentheses, casts and temporaries' wrappers; a braced
/// list that becomes a `std::initializer_list` stays one.
const clang::Expr *stripForBorrow(const clang::Expr *E);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_BORROWBUILDER_H
