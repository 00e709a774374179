// SPDX-License-Identifier: Apache-2.0
//
// Runs borrow facts through a function's graph: which pointers, views and
// tensors point into which memory, and whether it has ended. Some states of a
// block are kept apart, so that a branch that ends the memory and rebinds what
// points there is understood; past a bound they are merged, which loses
// findings and makes none.
#ifndef TENSORSCOPE_DATAFLOW_BORROWFLOW_H
#define TENSORSCOPE_DATAFLOW_BORROWFLOW_H

#include "dataflow/BorrowTypes.h"
#include "dataflow/Borrows.h"
#include "dataflow/PathStates.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <set>

namespace tensorscope {

/// One place that a pointer, a view or a tensor may point to.
struct Loan {
  LenderID Lender = NoLender;
  const BorrowFact *Taken = nullptr;
  /// Null while the memory is there.
  const BorrowFact *Ended = nullptr;
  /// A tensor was made over it.
  bool IsBlob = false;
  /// An array reference was.
  bool IsRef = false;
  /// Or a copy was made of it.
  bool IsUnsure = false;
  /// The elements of the tensor lie in it in order, without gaps.
  bool IsOrdered = false;
  BlobElements Elements;

  auto key() const {
    return std::tie(Lender, Taken, Ended, IsBlob, IsRef, IsUnsure, IsOrdered,
                    Elements);
  }
  bool operator==(const Loan &O) const { return key() == O.key(); }
  bool operator<(const Loan &O) const { return key() < O.key(); }
};

/// What a place is: where it points to, and which tensors it keeps alive.
struct BorrowValue {
  std::vector<Loan> Loans;      ///< sorted
  std::vector<LenderID> Holds;  ///< sorted
  bool IsUnknown = false;
  /// What set it.
  const BorrowFact *Stored = nullptr;

  void add(const Loan &L);
  void hold(LenderID R);
  void join(const BorrowValue &Other);
  bool operator==(const BorrowValue &O) const {
    return Loans == O.Loans && Holds == O.Holds && IsUnknown == O.IsUnknown;
  }
};

struct BorrowState {
  std::map<PlaceID, BorrowValue> Values;
  /// Tensors that somebody unknown may hold.
  std::set<LenderID> Kept;
  /// Borrows and ends that have come.
  std::set<const BorrowFact *> Happened;
  bool operator==(const BorrowState &O) const {
    return Values == O.Values && Kept == O.Kept && Happened == O.Happened;
  }
};

class BorrowFlow {
public:
  BorrowFlow(BorrowFacts &Facts, BorrowTypes &Types, unsigned StepLimit)
      : Facts(Facts), Types(Types), StepLimit(StepLimit) {}

  /// False over the step limit.
  bool run();

  /// Each fact with the states before it, block by block.
  void forEachFact(
      llvm::function_ref<void(unsigned Block, const BorrowFact &,
                              llvm::ArrayRef<BorrowState>)>
          Visit);

  BorrowFacts &facts() { return Facts; }
  /// The value of \p P alone, and with all that lies in it.
  BorrowValue valueAt(const BorrowState &S, PlaceID P);
  BorrowValue deepValueAt(const BorrowState &S, PlaceID P);
  /// Its value at the beginning is its caller's.
  bool isInterface(PlaceID P) const;

private:
  using BlockQueue = std::set<unsigned, std::greater<unsigned>>;

  void apply(BorrowState &S, const BorrowFact &F);
  BorrowState merge(const BorrowState &A, const BorrowState &B);
  bool join(unsigned Block, const BorrowState &S);
  BorrowValue initialValue(PlaceID P);
  void set(BorrowState &S, PlaceID P, BorrowValue V, const BorrowFact &F,
           bool IsWeak);
  void copy(BorrowState &S, const BorrowFact &F);
  void create(BorrowState &S, const BorrowFact &F);
  BorrowValue viewOf(const BorrowState &S, const BorrowFact &F);
  BorrowValue wrapOf(const BorrowState &S, const BorrowFact &F);
  BorrowValue takeFrom(const BorrowState &S, const BorrowFact &F, bool IsShape);
  void kill(BorrowState &S, const BorrowFact &F);
  void free(BorrowState &S, const BorrowFact &F);
  void end(BorrowState &S, const BorrowFact &F,
           llvm::function_ref<bool(LenderID)> Ends);
  void drop(BorrowState &S, llvm::function_ref<bool(LenderID)> IsDropped);
  void letGo(BorrowState &S, llvm::ArrayRef<LenderID> Holds,
             const BorrowFact &F);
  std::vector<LenderID> eraseBelow(BorrowState &S, PlaceID P);

  BorrowFacts &Facts;
  BorrowTypes &Types;
  const unsigned StepLimit;
  PathStates<BorrowState> In;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_BORROWFLOW_H
