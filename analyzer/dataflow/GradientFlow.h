// SPDX-License-Identifier: Apache-2.0
//
// The dataflow of autograd's graphs, over the same facts as StorageFlow's and
// apart from it: a place holds a graph or not, on some paths or on all.
// Terminates: atoms are facts and places, of which there are finitely many.
#ifndef TENSORSCOPE_DATAFLOW_GRADIENTFLOW_H
#define TENSORSCOPE_DATAFLOW_GRADIENTFLOW_H

#include "dataflow/GradientState.h"
#include "dataflow/ModuleParameters.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace tensorscope {

/// Where what a place holds may get to in the function.
enum GradientFate : unsigned {
  WalkedBack = 1,    ///< backward runs from it
  GivenAway = 2,     ///< somebody unknown may do so
  Returned = 4,
  StoredOutside = 8, ///< in what outlives the function
};

class GradientFlow {
public:
  GradientFlow(FunctionFacts &Facts, ModuleParameters &Parameters,
               unsigned StepLimit)
      : Facts(Facts), Parameters(Parameters), StepLimit(StepLimit) {}

  /// False when the step limit was reached: then nothing may be asked.
  bool run();

  /// Calls \p Visit with each reachable fact and the state before it.
  void forEachFact(
      llvm::function_ref<void(const Fact &, const GradientState &)> Visit);

  const FunctionFacts &facts() const { return Facts; }
  FunctionFacts &facts() { return Facts; }
  const std::optional<GradientState> &exitState() const {
    return In[Facts.Exit];
  }

  /// What \p P holds, without what lies below it.
  GradientValue valueAt(const GradientState &S, PlaceID P) const;
  /// What \p P and all below it hold.
  GradientValue reachable(const GradientState &S, PlaceID P) const;
  static bool hasGraph(const GradientValue &V);
  /// A graph on every path: what it may be besides is to hold nothing.
  static bool isGraph(const GradientValue &V);

  /// The atoms that those of \p V were computed from, with themselves.
  std::set<GradientAtom> history(const GradientValue &V) const;
  /// The atoms that \p Made was computed from, directly.
  const GradientValue &operandsOf(const Fact *Made) const;

  bool isEvaluated(const GradientState &S, PlaceID Module) const;
  /// Bits of GradientFate, of \p P, what holds it, and (\p WithParts) what lies
  /// below it.
  unsigned fate(PlaceID P, bool WithParts = true);
  /// Backward may run from one of \p V. Unlike the fate of a place this tells
  /// apart what the place holds at one time and another.
  bool mayBeWalkedBack(const GradientValue &V);

  /// \p F is in the body or the head of \p Loop.
  bool isInLoop(const Fact *F, LoopID Loop);
  /// \p P was there before the first iteration of \p Loop.
  bool isOlder(PlaceID P, LoopID Loop, const clang::SourceManager &SM) const;

private:
  void apply(GradientState &S, const Fact &F);
  void applyEvent(GradientState &S, const Fact &F, const GradientEvent &E);
  void assign(GradientState &S, const Fact &F);
  void derive(GradientState &S, const Fact &F, const GradientEvent &E);
  GradientValue computed(const GradientState &S, const Fact &F,
                         llvm::ArrayRef<PlaceID> Operands, bool IsSure,
                         bool HasUnknown);
  void set(GradientState &S, PlaceID P, GradientValue V);
  void eraseBelow(GradientState &S, PlaceID P);
  void write(GradientState &S, PlaceID P, GradientValue V, bool IsWeak);
  void endGuard(GradientState &S, const clang::VarDecl *Guard);
  bool join(BlockID To, const GradientState &S);
  void findFates();
  void findWalked();
  void findLoops();

  FunctionFacts &Facts;
  ModuleParameters &Parameters;
  const unsigned StepLimit;
  std::vector<std::optional<GradientState>> In;
  std::vector<unsigned> Order;
  std::map<const Fact *, GradientValue> Operands;
  std::vector<unsigned> Fates;
  /// All that backward runs from, once it was asked.
  std::optional<std::set<GradientAtom>> WalkedAtoms;
  std::map<LoopID, std::set<BlockID>> Loops;
  std::map<const Fact *, BlockID> BlockOf;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_GRADIENTFLOW_H
