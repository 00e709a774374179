// SPDX-License-Identifier: Apache-2.0
//
// Questions to GradientFlow that no state answers: what a graph is made of,
// where it may get to, and which loop a fact belongs to. The fates look at all
// facts at once, in no order: they silence, so more is safe.
#include "dataflow/GradientFlow.h"
#include "llvm/ADT/STLExtras.h"

namespace tensorscope {

const GradientValue &GradientFlow::operandsOf(const Fact *Made) const {
  static const GradientValue None;
  auto It = Operands.find(Made);
  return It == Operands.end() ? None : It->second;
}

std::set<GradientAtom> GradientFlow::history(const GradientValue &V) const {
  std::set<GradientAtom> Found;
  GradientValue Todo = V;
  while (!Todo.empty()) {
    GradientAtom A = Todo.back();
    Todo.pop_back();
    if (!Found.insert(A).second || !A.Made)
      continue;
    const GradientValue &From = operandsOf(A.Made);
    Todo.insert(Todo.end(), From.begin(), From.end());
  }
  return Found;
}

/// A place takes part in what becomes of its parts and of what holds it.
static unsigned around(const FunctionFacts &Facts,
                       llvm::ArrayRef<unsigned> Fates, PlaceID P,
                       bool WithParts = true) {
  unsigned Bits = 0;
  for (PlaceID Q = P; Q != NoPlace; Q = Facts.Places[Q].Base)
    Bits |= Fates[Q];
  if (!WithParts)
    return Bits;
  llvm::SmallVector<PlaceID, 8> Todo{P};
  while (!Todo.empty()) {
    PlaceID Part = Todo.pop_back_val();
    Bits |= Fates[Part];
    auto Below = Facts.Places.children(Part);
    Todo.append(Below.begin(), Below.end());
  }
  return Bits;
}

unsigned GradientFlow::fate(PlaceID P, bool WithParts) {
  if (Fates.size() != Facts.Places.size())
    findFates();
  return around(Facts, Fates, P, WithParts);
}

static bool outlives(const FunctionFacts &Facts, PlaceID P) {
  const PlaceInfo &Root = Facts.Places[Facts.Places.root(P)];
  return Root.Kind == PlaceKind::This || Root.IsOuter;
}

void GradientFlow::findFates() {
  Fates.assign(Facts.Places.size(), 0);
  std::set<PlaceID> CutPlaces;
  std::vector<const Fact *> Flows;
  for (const FactBlock &B : Facts.Blocks)
    for (const Fact &F : B.Facts) {
      if (F.Kind == FactKind::Keep)
        Fates[F.Src] |= GivenAway;
      if (F.Kind == FactKind::Assign)
        Flows.push_back(&F);
      if (F.Kind != FactKind::Gradient)
        continue;
      const GradientEvent &E = Facts.Gradients[F.Event];
      Flows.push_back(&F);
      if (E.Kind == GradientKind::Cut &&
          Facts.Places[F.Dst].Kind == PlaceKind::Temporary)
        CutPlaces.insert(F.Dst);
      if (E.Kind == GradientKind::Backward)
        for (PlaceID P : E.Operands)
          Fates[P] |= WalkedBack;
      if (E.Kind == GradientKind::Consume)
        for (PlaceID P : E.Operands)
          Fates[P] |= GivenAway;
    }
  Fates[Facts.Return] |= Returned;
  bool Changed = true;
  auto Pass = [&](PlaceID From, unsigned Bits) {
    Changed |= From != NoPlace && (Fates[From] | Bits) != Fates[From];
    if (From != NoPlace)
      Fates[From] |= Bits;
  };
  while (Changed) {
    Changed = false;
    for (const Fact *F : llvm::reverse(Flows)) {
      if (F->Dst == NoPlace || CutPlaces.count(F->Dst))
        continue;
      unsigned Bits = around(Facts, Fates, F->Dst);
      if (outlives(Facts, F->Dst))
        Bits |= StoredOutside;
      for (PlaceID Source : F->Sources)
        Pass(Source, Bits);
      if (F->Kind != FactKind::Gradient)
        continue;
      const GradientEvent &E = Facts.Gradients[F->Event];
      for (PlaceID Source : E.Operands)
        Pass(Source, Bits);
      for (PlaceID Source : E.Passed)
        Pass(Source, Bits);
    }
  }
}

void GradientFlow::findWalked() {
  WalkedAtoms.emplace();
  forEachFact([&](const Fact &F, const GradientState &S) {
    if (F.Kind != FactKind::Gradient ||
        Facts.Gradients[F.Event].Kind != GradientKind::Backward)
      return;
    for (PlaceID P : Facts.Gradients[F.Event].Operands)
      WalkedAtoms->merge(history(reachable(S, P)));
  });
}

bool GradientFlow::mayBeWalkedBack(const GradientValue &V) {
  if (!WalkedAtoms)
    findWalked();
  return WalkedAtoms->count(GradientAtom::tooMany()) ||
         llvm::any_of(V, [&](const GradientAtom &A) {
           return WalkedAtoms->count(A);
         });
}

/// The blocks from which the end of an iteration is reached without its head in
/// between, and the head.
void GradientFlow::findLoops() {
  std::vector<llvm::SmallVector<BlockID, 2>> Predecessors(Facts.Blocks.size());
  for (BlockID B = 0; B < Facts.Blocks.size(); ++B) {
    for (BlockID To : Facts.Blocks[B].Successors)
      Predecessors[To].push_back(B);
    for (const Fact &F : Facts.Blocks[B].Facts)
      BlockOf[&F] = B;
  }
  for (BlockID B = 0; B < Facts.Blocks.size(); ++B)
    for (const Fact &F : Facts.Blocks[B].Facts) {
      if (F.Kind != FactKind::LoopBack)
        continue;
      std::set<BlockID> &Body = Loops[F.Loop];
      llvm::SmallVector<BlockID, 16> Todo{B};
      for (BlockID Head : Facts.Blocks[B].Successors)
        Body.insert(Head);
      while (!Todo.empty()) {
        BlockID Inside = Todo.pop_back_val();
        if (Body.insert(Inside).second)
          Todo.append(Predecessors[Inside].begin(), Predecessors[Inside].end());
      }
    }
}

bool GradientFlow::isInLoop(const Fact *F, LoopID Loop) {
  if (BlockOf.empty())
    findLoops();
  auto It = BlockOf.find(F);
  return It != BlockOf.end() && Loops[Loop].count(It->second);
}

bool GradientFlow::isOlder(PlaceID P, LoopID Loop,
                           const clang::SourceManager &SM) const {
  const PlaceInfo &Root = Facts.Places[Facts.Places.root(P)];
  if (Root.Kind == PlaceKind::This)
    return true;
  if (Root.Kind != PlaceKind::Variable)
    return false;
  const auto *V = static_cast<const clang::ValueDecl *>(Root.Key);
  return Root.IsOuter || llvm::is_contained(Facts.Params, Facts.Places.root(P)) ||
         SM.isBeforeInTranslationUnit(V->getLocation(), Facts.Loops[Loop].Loc);
}

} // namespace tensorscope
