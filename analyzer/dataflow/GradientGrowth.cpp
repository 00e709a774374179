// SPDX-License-Identifier: Apache-2.0
#include "dataflow/GradientGrowth.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

using Atoms = std::set<GradientAtom>;

class GrowthQuery {
public:
  GrowthQuery(GradientFlow &Flow, const SourceManager &SM)
      : Flow(Flow), F(Flow.facts()), SM(SM) {}

  std::vector<Growth> find() {
    Flow.forEachFact([&](const Fact &Made, const GradientState &S) {
      noteWalk(Made, S);
    });
    Flow.forEachFact([&](const Fact &Made, const GradientState &S) {
      if (Made.Kind == FactKind::LoopBack)
        findChains(Made.Loop, S);
      else if (Made.Kind == FactKind::Gradient)
        visitEvent(Made, F.Gradients[Made.Event], S);
    });
    findAcross();
    return std::move(Found);
  }

private:
  void noteWalk(const Fact &Made, const GradientState &S);
  void findChains(LoopID Loop, const GradientState &S);
  void visitChain(LoopID Loop, PlaceID T, const GradientValue &V,
                  const GradientState &S);
  void visitEvent(const Fact &Made, const GradientEvent &E,
                  const GradientState &S);
  void visitInsertion(const Fact &Made, const GradientEvent &E,
                      const GradientState &S);
  void visitOptions(const Fact &Made, const GradientEvent &E);
  void visitCopy(const Fact &Made, const GradientEvent &E,
                 const GradientState &S);
  void findAcross();
  bool isBounded(PlaceID T, LoopID Loop);
  bool resetsGradients(LoopID Loop);
  const Fact *freedBy(const Atoms &History, LoopID Loop);
  const Fact *lastWrite(PlaceID T, LoopID Loop);
  LoopID countedLoop(const Fact &Made);
  bool isOfCallee(const Growth &G) const;

  GradientFlow &Flow;
  FunctionFacts &F;
  const SourceManager &SM;
  Repetition Repeating{F};
  /// What each call of backward walks.
  std::map<const Fact *, Atoms> Walks;
  std::vector<Growth> Found;
  std::set<const Fact *> Reported;
};

void GrowthQuery::noteWalk(const Fact &Made, const GradientState &S) {
  if (Made.Kind != FactKind::Gradient ||
      F.Gradients[Made.Event].Kind != GradientKind::Backward)
    return;
  GradientValue V;
  for (PlaceID P : F.Gradients[Made.Event].Operands)
    for (const GradientAtom &A : Flow.reachable(S, P))
      V.push_back(A);
  Walks[&Made] = Flow.history(V);
}

LoopID GrowthQuery::countedLoop(const Fact &Made) {
  LoopID L = Made.Loop;
  while (L != NoLoop && (F.Loops[L].IsSmall || !Repeating.goesOn(L, Made)))
    L = F.Loops[L].Outer;
  return L;
}

/// The backward in \p Loop that has walked a graph which the same iteration
/// made, and has let go of it.
const Fact *GrowthQuery::freedBy(const Atoms &History, LoopID Loop) {
  for (const auto &[Walk, Walked] : Walks) {
    const GradientEvent &E = F.Gradients[Walk->Event];
    if (E.RetainsGraph || !E.IsAccumulating || !Flow.isInLoop(Walk, Loop))
      continue;
    for (const GradientAtom &A : Walked)
      if (A.Kind == GradientAtomKind::Graph && History.count(A) &&
          Flow.isInLoop(A.Made, Loop))
        return Walk;
  }
  return nullptr;
}

/// What last writes to \p T in the text of \p Loop.
const Fact *GrowthQuery::lastWrite(PlaceID T, LoopID Loop) {
  const Fact *Last = nullptr;
  for (const FactBlock &B : F.Blocks)
    for (const Fact &W : B.Facts) {
      bool Writes = W.Kind == FactKind::Assign || W.Kind == FactKind::Gradient;
      if (Writes && W.Dst != NoPlace && W.At && Flow.isInLoop(&W, Loop) &&
          (W.Dst == T || F.Places.isBelow(T, W.Dst)) &&
          (!Last || !SM.isBeforeInTranslationUnit(W.At->getBeginLoc(),
                                                  Last->At->getBeginLoc())))
        Last = &W;
    }
  return Last;
}

/// A member function adds a graph of its own to its object: that is said there.
bool GrowthQuery::isOfCallee(const Growth &G) const {
  if (!G.At->Callee || G.At->Kind != FactKind::Gradient ||
      G.Graph->Kind != FactKind::Gradient)
    return false;
  PlaceID Object = F.Gradients[G.At->Event].Module;
  return Object != NoPlace && F.Places.isBelow(G.Target, Object) &&
         F.Gradients[G.Graph->Event].HasParameters;
}

void GrowthQuery::findChains(LoopID Loop, const GradientState &S) {
  if (F.Loops[Loop].IsOverModules)
    return;
  for (const auto &[T, V] : S.Values)
    if (Flow.isOlder(T, Loop, SM))
      visitChain(Loop, T, V, S);
}

void GrowthQuery::visitChain(LoopID Loop, PlaceID T, const GradientValue &V,
                             const GradientState &S) {
  const GradientAtom *Link = nullptr;
  for (const GradientAtom &A : V) {
    if (A.Kind == GradientAtomKind::Unknown)
      return;
    if (!A.Made || !Flow.isInLoop(A.Made, Loop))
      continue;
    // Also where it is reset on some path only, it does not grow for ever.
    if (A.Kind != GradientAtomKind::Graph ||
        !Flow.history(Flow.operandsOf(A.Made)).count(A))
      return;
    Link = &A;
  }
  if (!Link || Reported.count(Link->Made))
    return;
  Growth G;
  G.Target = T;
  G.Graph = Link->Made;
  G.Loop = Loop;
  for (const auto &[Walk, Walked] : Walks) {
    if (!Walked.count(*Link))
      continue;
    const GradientEvent &E = F.Gradients[Walk->Event];
    bool IsEach = E.IsAccumulating && !E.CreatesGraph && S.Walked.count(Walk) &&
                  Flow.isInLoop(Walk, Loop);
    if (!IsEach)
      return;
    G.Kind = GrowthKind::Carried;
    G.Walk = Walk;
  }
  // A sum of a few is not worth a word; a chain that is walked each time is
  // wrong from the second time on.
  if (G.Kind == GrowthKind::Chain && F.Loops[Loop].IsSmall)
    return;
  if (!G.Walk)
    G.Walk = freedBy(Flow.history({*Link}), Loop);
  const Fact *Write = lastWrite(T, Loop);
  G.At = Write ? Write : Link->Made;
  if (isOfCallee(G))
    return;
  Reported.insert(Link->Made);
  Found.push_back(G);
}

/// Something is taken out of \p T, or it is made anew: in the loop, or anywhere
/// where it is not known what.
bool GrowthQuery::isBounded(PlaceID T, LoopID Loop) {
  for (const FactBlock &B : F.Blocks)
    for (const Fact &W : B.Facts) {
      bool Takes = W.Kind == FactKind::Remove &&
                   (W.Src == T || F.Places.isBelow(T, W.Src));
      bool Renews = (W.Kind == FactKind::Null || W.Kind == FactKind::Forget ||
                     (W.Kind == FactKind::Assign && !W.IsWeak)) &&
                    F.Places.isBelow(T, W.Dst);
      if (Takes || (Renews && Flow.isInLoop(&W, Loop)))
        return true;
    }
  return false;
}

void GrowthQuery::visitInsertion(const Fact &Made, const GradientEvent &E,
                                 const GradientState &S) {
  LoopID Loop = countedLoop(Made);
  if (Loop == NoLoop || !Flow.isOlder(Made.Dst, Loop, SM) ||
      !F.Places.isElementPath(Made.Dst) || E.HasPlain || E.MayBeUnknown ||
      isBounded(Made.Dst, Loop))
    return;
  GradientValue V;
  for (PlaceID P : E.Operands)
    for (const GradientAtom &A : Flow.reachable(S, P))
      V.push_back(A);
  for (PlaceID P : E.Passed)
    for (const GradientAtom &A : Flow.reachable(S, P))
      V.push_back(A);
  bool IsOfCallee = E.HasParameters && (S.Mode == GradientMode::On ||
                                        S.Mode == GradientMode::Inherited);
  if (!GradientFlow::isGraph(V) && !(IsOfCallee && V.empty()))
    return;
  Growth G;
  G.Kind = GrowthKind::Stored;
  G.Target = Made.Dst;
  G.At = &Made;
  G.Loop = Loop;
  auto Graph = llvm::find_if(V, [](const GradientAtom &A) {
    return A.Kind == GradientAtomKind::Graph;
  });
  G.Graph = Graph == V.end() ? &Made : Graph->Made;
  G.Walk = freedBy(Flow.history(V), Loop);
  if (Flow.fate(Made.Dst) & WalkedBack)
    return;
  Found.push_back(G);
}

bool GrowthQuery::resetsGradients(LoopID Loop) {
  for (const FactBlock &B : F.Blocks)
    for (const Fact &W : B.Facts)
      if (W.Kind == FactKind::Gradient &&
          F.Gradients[W.Event].Kind == GradientKind::ResetGradients &&
          Flow.isInLoop(&W, Loop))
        return true;
  return false;
}

/// What backward is asked to do beside walking the graph.
void GrowthQuery::visitOptions(const Fact &Made, const GradientEvent &E) {
  LoopID Loop = countedLoop(Made);
  if (Loop == NoLoop || !E.IsAccumulating || E.Operands.empty() || Made.Callee)
    return;
  Growth G;
  G.Target = E.Operands[0];
  G.At = G.Graph = &Made;
  G.Loop = Loop;
  if (E.CreatesGraph) {
    G.Kind = GrowthKind::Created;
    if (!resetsGradients(Loop))
      Found.push_back(G);
    return;
  }
  if (!E.AsksToRetain || Flow.fate(G.Target) & ~unsigned(WalkedBack))
    return;
  const Atoms &Walked = Walks[&Made];
  bool HasGraph = false;
  for (const GradientAtom &A : Walked) {
    if (A.Kind == GradientAtomKind::Unknown ||
        A.Kind == GradientAtomKind::Given ||
        A.Kind == GradientAtomKind::Symbolic)
      return;
    if (A.Kind != GradientAtomKind::Graph)
      continue;
    HasGraph = true;
    // A graph that is older, or goes on in the next iteration, is needed.
    if (!Flow.isInLoop(A.Made, Loop) ||
        Flow.history(Flow.operandsOf(A.Made)).count(A))
      return;
    for (const auto &[Other, Also] : Walks)
      if (Other != &Made && Also.count(A))
        return;
  }
  G.Kind = GrowthKind::Kept;
  if (HasGraph)
    Found.push_back(G);
}

void GrowthQuery::visitEvent(const Fact &Made, const GradientEvent &E,
                             const GradientState &S) {
  if (E.Kind == GradientKind::Insert)
    visitInsertion(Made, E, S);
  else if (E.Kind == GradientKind::Backward)
    visitOptions(Made, E);
  else if (E.Kind == GradientKind::TakeIn && E.IsCopiedInto)
    visitCopy(Made, E, S);
}

/// The tensor that is copied into is there before the call and after it.
void GrowthQuery::visitCopy(const Fact &Made, const GradientEvent &E,
                            const GradientState &S) {
  if (S.Mode == GradientMode::Off)
    return;
  for (PlaceID Value : E.Operands)
    for (const GradientAtom &A : Flow.reachable(S, Value)) {
      bool IsComputed = A.Kind == GradientAtomKind::Graph ||
                        A.Kind == GradientAtomKind::Symbolic ||
                        A.Kind == GradientAtomKind::Unknown;
      if (!IsComputed)
        continue;
      Growth G;
      G.Kind = GrowthKind::Copied;
      G.Target = Made.Dst;
      G.Graph = A.Made ? A.Made : &Made;
      G.At = &Made;
      Found.push_back(G);
      return;
    }
}

/// Members that hold, when the function has ended, a graph on top of what they
/// held before.
void GrowthQuery::findAcross() {
  if (!Flow.exitState() || isa<CXXConstructorDecl>(F.Function))
    return;
  for (const auto &[T, V] : Flow.exitState()->Values) {
    if (F.Places.root(T) != F.This || F.Places[T].Kind != PlaceKind::Field ||
        F.Places.isElementPath(T) || V.size() != 1 ||
        V[0].Kind != GradientAtomKind::Graph || Reported.count(V[0].Made))
      continue;
    GradientAtom Before{GradientAtomKind::Given, nullptr, T};
    if (!Flow.history(V).count(Before))
      continue;
    Growth G;
    G.Kind = GrowthKind::Across;
    G.Target = T;
    G.Graph = V[0].Made;
    G.At = V[0].Made;
    for (const FactBlock &B : F.Blocks)
      for (const Fact &W : B.Facts)
        if (W.Kind == FactKind::Assign && W.Dst == T)
          G.At = &W;
    Found.push_back(G);
  }
}

} // namespace

std::vector<Growth> findGrowth(GradientFlow &Flow, const SourceManager &SM) {
  return GrowthQuery(Flow, SM).find();
}

} // namespace tensorscope
