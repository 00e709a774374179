// SPDX-License-Identifier: Apache-2.0
//
// Borrowed memory in one translation unit: what a function does with it, and
// where something points to memory that is gone.
#ifndef TENSORSCOPE_DATAFLOW_BORROWANALYSIS_H
#define TENSORSCOPE_DATAFLOW_BORROWANALYSIS_H

#include "dataflow/BlobExtents.h"
#include "dataflow/BorrowBuilder.h"
#include "dataflow/BorrowFlow.h"
#include <set>

namespace tensorscope {

/// What points to memory that is gone.
enum class BorrowerKind { Blob, Pointer };

/// How it comes to do so.
enum class DanglingKind {
  Used,     ///< used after the end
  Returned, ///< returned, and the memory ends with the function
  Stored,   ///< kept where it outlives the memory
  GivenOut, ///< returned; a caller's temporary tensor ends with its statement
};

struct BorrowFinding {
  BorrowerKind Borrower = BorrowerKind::Blob;
  DanglingKind How = DanglingKind::Used;
  EndKind End = EndKind::Block;
  /// Where the mistake is.
  const clang::Stmt *At = nullptr;
  /// The borrower and the owner, as the user wrote them; empty for a value
  /// without a name.
  std::string Name;
  std::string Owner;
  bool IsMaybe = false;
  /// Where a copy is made, it ends; no copy may be needed.
  bool IsIfCopied = false;
  /// What points there is an array reference, or points into a tensor.
  bool IsRef = false;
  bool IsTensor = false;
  const clang::Stmt *Copied = nullptr; ///< by which call
  const clang::Stmt *Taken = nullptr;
  const clang::Stmt *Ended = nullptr;
  const clang::Stmt *Used = nullptr;
  /// The callees in which it was taken, and ended, if not here.
  std::string TakenThrough;
  std::string Through;
};

struct BorrowFindings {
  std::vector<BorrowFinding> Dangling;
  std::vector<BlobExtentFinding> Extents;
  /// Places where a finding was kept back.
  std::vector<clang::SourceLocation> Silenced;
};

BorrowSummary buildBorrowSummary(BorrowFlow &Flow);
/// Adds what \p Flow shows.
void findDangling(BorrowFlow &Flow, BorrowTypes &Types,
                  const clang::ASTContext &Ctx, BorrowFindings &Findings);

class BorrowAnalysis : public BorrowSummaryProvider {
public:
  BorrowAnalysis(UnitContext &Unit, const ModelSet &Models, unsigned StepLimit)
      : Unit(Unit), Types(Models, Unit.Types), StepLimit(StepLimit) {}

  /// Of \p F and of the lambdas in it.
  const BorrowFindings &findings(const clang::FunctionDecl *F);

  const BorrowSummary *borrowSummary(const clang::FunctionDecl *F) override;

private:
  struct Result {
    BorrowFindings Findings;
    BorrowSummary Summary;
    bool HasSummary = false;
    bool IsDone = false;
    std::vector<const clang::FunctionDecl *> Lambdas;
  };
  Result &analyze(const clang::FunctionDecl *F);
  bool mayFind(const clang::FunctionDecl *F);
  bool mentionsBorrows(const clang::FunctionDecl *F);

  UnitContext &Unit;
  BorrowTypes Types;
  const unsigned StepLimit;
  unsigned Depth = 0;
  std::map<const clang::FunctionDecl *, Result> Results;
  llvm::DenseMap<const clang::FunctionDecl *, bool> Mentions;
  std::map<const clang::FunctionDecl *, BorrowFindings> WithLambdas;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_BORROWANALYSIS_H
