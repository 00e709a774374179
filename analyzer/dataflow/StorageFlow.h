// SPDX-License-Identifier: Apache-2.0
//
// The dataflow: states at each block of a function's facts, and queries on
// them. Each point keeps up to a few states apart, so that what holds together
// on one path stays together (a release and the flag or the reset that goes
// with it); past that they are merged, and what differs becomes unknown.
// Terminates: places, storages and sets are bounded, merging only adds.
#ifndef TENSORSCOPE_DATAFLOW_STORAGEFLOW_H
#define TENSORSCOPE_DATAFLOW_STORAGEFLOW_H

#include "dataflow/PathStates.h"
#include "dataflow/State.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <set>

namespace tensorscope {

/// Numbers of blocks in reverse post order, so that a block runs after those
/// that lead to it. Of the ways on, the last is gone first: a loop's body is its
/// condition's first successor, and comes before what follows the loop.
std::vector<unsigned> reversePostOrder(const FunctionFacts &F);

class StorageFlow {
public:
  StorageFlow(FunctionFacts &Facts, unsigned StepLimit)
      : Facts(Facts), Store(Facts), StepLimit(StepLimit) {}

  /// False when the step limit was reached: then nothing may be asked.
  bool run();

  /// Calls \p Visit with each reachable fact and the states before it, a loop's
  /// body before the edge back.
  void forEachFact(
      llvm::function_ref<void(const Fact &, llvm::ArrayRef<State>)> Visit);

  /// Takes \p S past \p F; false when no path can go on.
  bool step(State &S, const Fact &F) { return transfer(S, F); }

  /// Tensors that a number is read out of: too small for a scope to matter.
  std::set<StorageID> oneElementStorages();

  llvm::ArrayRef<State> exitStates() const { return In.at(Facts.Exit); }
  /// The open scope that \p F, met in \p S, ends: its own, or the session.
  ScopeID endedBy(const State &S, const Fact &F) const;
  StateStore &store() { return Store; }
  FunctionFacts &facts() { return Facts; }
  const FunctionFacts &facts() const { return Facts; }

private:
  /// A fact and the states before it.
  struct Step {
    const Fact *At;
    size_t First;
    size_t Count;
  };

  void replay();
  bool transfer(State &S, const Fact &F);
  void apply(State &S, const Fact &F);
  bool assumeGuard(State &S, const Fact &F);
  void note(State &S, const Fact &F);
  void ask(State &S, const Fact &F);
  void release(State &S, const Fact &F, bool IsCertain);
  void retain(State &S, const Fact &F);
  void keep(State &S, const Fact &F);
  void beginScope(State &S, const Fact &F);
  void endScope(State &S, const Fact &F);
  void forgetScope(State &S, const Fact &F);
  void forgetSession(State &S, const Fact &F);
  void keepAdopted(State &S);
  void endRegion(State &S, ScopeID Scope, const Fact &F);
  bool assumeDefined(State &S, const Fact &F);
  bool assumeAlive(State &S, const Fact &F);
  bool join(BlockID To, const State &S);

  FunctionFacts &Facts;
  StateStore Store;
  const unsigned StepLimit;
  bool IsAnyAdopted = false;
  PathStates<State> In;
  std::vector<unsigned> Order; ///< of each block, in reverse post order
  std::vector<Step> Replayed;  ///< all reachable facts, in order; made when asked for
  std::vector<State> ReplayedStates;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_STORAGEFLOW_H
