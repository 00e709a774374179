// SPDX-License-Identifier: Apache-2.0
//
// The dataflow of raw pointers that own: who points to what, and whether it is
// still to be freed. It runs over the graph of a function's facts, and only
// where that has facts of owners. As in StorageFlow.h, a point keeps a few
// states apart; what differs where they are merged becomes unknown, and
// nothing is said about it.
#ifndef TENSORSCOPE_DATAFLOW_OWNERSHIPFLOW_H
#define TENSORSCOPE_DATAFLOW_OWNERSHIPFLOW_H

#include "dataflow/PathStates.h"
#include "dataflow/State.h"
#include "dataflow/Summary.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <optional>

namespace tensorscope {

/// What is still to be done with what a pointer points to.
enum class Duty : uint8_t {
  Lent,    ///< the caller's
  Owed,    ///< it is to be freed here
  Done,    ///< it was freed, by the fact Where
  Taken,   ///< an object owns it since the fact Where, and will free it
  Unknown, ///< perhaps somebody else's
};

struct OwnedThing {
  Duty Is = Duty::Unknown;
  const Fact *Where = nullptr;
  /// A tensor was put on this memory, or something was copied from it.
  const Fact *Wrapped = nullptr;
  /// It is there: no call that may fail was to make it, or a branch asked.
  bool IsSure = false;

  friend bool operator==(const OwnedThing &A, const OwnedThing &B) {
    return A.Is == B.Is && A.Where == B.Where && A.Wrapped == B.Wrapped &&
           A.IsSure == B.IsSure;
  }
};

struct OwnershipState {
  /// What each pointer points to; not known without an entry.
  std::map<PlaceID, StorageID> Pointees;
  std::map<StorageID, OwnedThing> Things;
  /// The call that each number says the outcome of, and the note that says so.
  std::map<const clang::ValueDecl *, const Fact *> Outcomes;
  GuardMap Guards{nullptr};

  friend bool operator==(const OwnershipState &A, const OwnershipState &B) {
    return A.Pointees == B.Pointees && A.Things == B.Things &&
           A.Outcomes == B.Outcomes && A.Guards == B.Guards;
  }
  /// UnknownStorage, NullPointee, or a storage.
  StorageID pointee(PlaceID P) const;
  OwnedThing thing(StorageID S) const;
};

/// What a null pointer points to.
inline constexpr StorageID NullPointee = ~0U;

/// How something that is owed is lost: a way out, or what sets its last
/// pointer.
struct Loss {
  const Fact *By = nullptr;
  /// Where a tensor was put on it, or something copied from it.
  const Fact *Wrapped = nullptr;
};

class OwnershipFlow {
public:
  OwnershipFlow(FunctionFacts &Facts, unsigned StepLimit)
      : Facts(Facts), StepLimit(StepLimit) {}

  /// False when the step limit was reached: then nothing may be asked.
  bool run();

  /// Calls \p Visit with each reachable fact and the states before it.
  void forEachFact(
      llvm::function_ref<void(const Fact &, llvm::ArrayRef<OwnershipState>)>
          Visit);

  /// Where each thing is lost, in order of storages; one way for each.
  const std::map<StorageID, Loss> &losses() const { return Losses; }
  const FunctionFacts &facts() const { return Facts; }

  /// Some path leads from \p From to \p To.
  bool reaches(const Fact &From, const Fact &To) const;
  /// Each path from \p From to the end of the function comes by \p To.
  bool reachesAlways(const Fact &From, const Fact &To) const;

private:
  bool transfer(OwnershipState &S, const Fact &F);
  bool assumeNull(OwnershipState &S, const Fact &F);
  void assumeOutcome(OwnershipState &S, const Fact &F);
  void settle(OwnershipState &S, const clang::Stmt *Call, bool Failed,
              bool IsCertain);
  void acquire(OwnershipState &S, const Fact &F);
  void point(OwnershipState &S, PlaceID P, StorageID To, const Fact &By);
  void drop(OwnershipState &S, PlaceID P, const Fact &By);
  void leave(OwnershipState &S, const Fact &F);
  void freeUnknown(OwnershipState &S);
  void lose(const OwnershipState &S, StorageID Thing, const Fact &By);
  void setDuty(OwnershipState &S, PlaceID P, Duty Is, const Fact *Where);
  bool isHeldElsewhere(const OwnershipState &S, StorageID Thing,
                       PlaceID But) const;
  bool isFollowed(PlaceID P) const;
  std::optional<BlockID> blockOf(const Fact &F) const;
  OwnershipState merge(const OwnershipState &A, const OwnershipState &B);
  bool join(BlockID To, const OwnershipState &S);

  FunctionFacts &Facts;
  const unsigned StepLimit;
  GuardMap::Factory GuardFactory{false};
  PathStates<OwnershipState> In;
  std::map<StorageID, Loss> Losses;
  std::map<StorageID, const Fact *> Acquisitions;
};

/// At a call of a function of LibTorch, which throws where its arguments don't
/// fit.
bool throwsItself(const Fact &F);

/// What \p Flow, of a function whose parameters are followed, does to the
/// pointers of a caller.
OwnershipSummary summarizeOwnership(OwnershipFlow &Flow);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_OWNERSHIPFLOW_H
