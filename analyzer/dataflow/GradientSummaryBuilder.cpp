// SPDX-License-Identifier: Apache-2.0
#include "dataflow/GradientSummaryBuilder.h"

#include "dataflow/SummaryBuilder.h"
#include "llvm/ADT/STLExtras.h"

namespace tensorscope {
namespace {

class GradientSummaryBuilder {
public:
  explicit GradientSummaryBuilder(GradientFlow &Flow)
      : Flow(Flow), F(Flow.facts()) {}

  GradientSummary build() {
    if (!Flow.exitState())
      return {};
    const GradientState &Exit = *Flow.exitState();
    for (const auto &[P, V] : Exit.Values)
      addStore(P, V);
    for (const FactBlock &B : F.Blocks)
      for (const Fact &Fact : B.Facts)
        if (Fact.Kind == FactKind::Gradient)
          addEvent(Fact, F.Gradients[Fact.Event]);
    addFates();
    return std::move(Result);
  }

private:
  void addStore(PlaceID P, const GradientValue &V);
  void addEvent(const Fact &Made, const GradientEvent &E);
  void addFates();
  void addPath(std::vector<Path> &Paths, PlaceID P);
  GradientStore storeOf(const GradientValue &V);

  GradientFlow &Flow;
  FunctionFacts &F;
  GradientSummary Result;
};

void GradientSummaryBuilder::addPath(std::vector<Path> &Paths, PlaceID P) {
  std::optional<Path> Named = pathOf(F, P);
  if (Named && !llvm::is_contained(Paths, *Named))
    Paths.push_back(*Named);
}

GradientStore GradientSummaryBuilder::storeOf(const GradientValue &V) {
  GradientStore Store;
  for (const GradientAtom &A : V)
    switch (A.Kind) {
    case GradientAtomKind::Empty:
      break;
    case GradientAtomKind::Plain:
      Store.HasPlain = true;
      break;
    case GradientAtomKind::Leaf:
      Store.HasLeaf = true;
      break;
    case GradientAtomKind::Unknown:
      Store.HasUnknown = true;
      break;
    case GradientAtomKind::Given:
      addPath(Store.Passed, A.Place);
      break;
    case GradientAtomKind::Graph:
    case GradientAtomKind::Symbolic:
      Store.HasGraph |= A.Kind == GradientAtomKind::Graph;
      for (const GradientAtom &From : Flow.history({A}))
        if (From.Kind == GradientAtomKind::Given)
          addPath(Store.Derived, From.Place);
      if (!Store.At)
        Store.At = A.Made->At;
      break;
    }
  return Store;
}

void GradientSummaryBuilder::addStore(PlaceID P, const GradientValue &V) {
  PlaceID Root = F.Places.root(P);
  bool IsResult = Root == F.Return;
  const PlaceInfo &Info = F.Places[Root];
  bool IsVisible = IsResult || Root == F.This || Info.IsOuter;
  bool IsUnchanged = V.size() == 1 && V[0].Kind == GradientAtomKind::Given &&
                     V[0].Place == P;
  std::optional<Path> To = IsVisible ? pathOf(F, P) : std::nullopt;
  if (!To || IsUnchanged)
    return;
  GradientStore Store = storeOf(V);
  Store.To = *To;
  Store.IsWeak = F.Places.isElementPath(P);
  if (Store.IsWeak) {
    // What an element place held stays in it.
    llvm::erase_if(Store.Passed, [&](const Path &From) { return From == *To; });
  }
  (IsResult ? Result.Result : Result.Stores).push_back(std::move(Store));
}

void GradientSummaryBuilder::addEvent(const Fact &Made,
                                      const GradientEvent &E) {
  if (E.Kind == GradientKind::ResetGradients)
    Result.ResetsGradients = true;
  if (E.Kind != GradientKind::Insert)
    return;
  // Once in each call: what a loop inserts is counted there.
  std::optional<Path> To = pathOf(F, Made.Dst);
  if (!To || !F.Places.isElementPath(Made.Dst))
    return;
  for (GradientStore &Store : Result.Stores)
    if (Store.To == *To) {
      Store.IsInsertion = true;
      Store.At = Made.At;
    }
}

/// What becomes of what the caller gave.
void GradientSummaryBuilder::addFates() {
  for (PlaceID P = 1; P < F.Places.size(); ++P) {
    PlaceID Root = F.Places.root(P);
    bool IsGiven = Root == F.This || F.Places[Root].IsOuter ||
                   llvm::is_contained(F.Params, Root);
    if (!IsGiven || P == F.This)
      continue;
    unsigned Fate = Flow.fate(P, /*WithParts=*/false);
    if (Fate & WalkedBack)
      addPath(Result.Backward, P);
    if (Fate & GivenAway)
      addPath(Result.Consumed, P);
  }
}

} // namespace

GradientSummary buildGradientSummary(GradientFlow &Flow) {
  return GradientSummaryBuilder(Flow).build();
}

} // namespace tensorscope
