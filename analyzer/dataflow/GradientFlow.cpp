// SPDX-License-Identifier: Apache-2.0
#include "dataflow/GradientFlow.h"

#include "dataflow/StorageFlow.h"
#include "llvm/ADT/STLExtras.h"

namespace tensorscope {

/// Atoms of one place that are told apart.
static constexpr size_t MaxAtoms = 12;
/// Steps of a place's path, as in StateStore.
static constexpr unsigned MaxLength = 6;

static GradientAtom unknownAtom() { return {}; }

static void add(GradientValue &V, const GradientAtom &A) {
  auto Where = llvm::lower_bound(V, A);
  if (Where != V.end() && *Where == A)
    return;
  if (V.size() >= MaxAtoms) {
    V.assign(1, GradientAtom::tooMany());
    return;
  }
  V.insert(Where, A);
}

static void addAll(GradientValue &V, const GradientValue &More) {
  for (const GradientAtom &A : More)
    add(V, A);
}

bool GradientFlow::hasGraph(const GradientValue &V) {
  return llvm::any_of(V, [](const GradientAtom &A) {
    return A.Kind == GradientAtomKind::Graph;
  });
}

bool GradientFlow::isGraph(const GradientValue &V) {
  return hasGraph(V) && llvm::all_of(V, [](const GradientAtom &A) {
           return A.Kind == GradientAtomKind::Graph ||
                  A.Kind == GradientAtomKind::Empty;
         });
}

static bool isGiven(const FunctionFacts &F, PlaceID Root) {
  const PlaceInfo &Info = F.Places[Root];
  return Info.Kind == PlaceKind::This || Info.IsOuter ||
         llvm::is_contained(F.Params, Root);
}

GradientValue GradientFlow::valueAt(const GradientState &S, PlaceID P) const {
  if (P == NoPlace)
    return {unknownAtom()};
  for (PlaceID Q = P; Q != NoPlace; Q = Facts.Places[Q].Base)
    if (auto It = S.Values.find(Q); It != S.Values.end())
      return It->second;
  const PlaceInfo &Info = Facts.Places[P];
  if (Info.Kind == PlaceKind::Field &&
      Parameters.isParameter(static_cast<const clang::FieldDecl *>(Info.Key)))
    return {{GradientAtomKind::Leaf, nullptr, NoPlace}};
  if (isGiven(Facts, Facts.Places.root(P)))
    return {{GradientAtomKind::Given, nullptr, P}};
  return {unknownAtom()};
}

GradientValue GradientFlow::reachable(const GradientState &S,
                                      PlaceID P) const {
  GradientValue V = valueAt(S, P);
  // What lies below a tensor is its gradient, and the like.
  if (P == NoPlace || Facts.Places[P].IsHandle)
    return V;
  llvm::SmallVector<PlaceID, 8> Todo(Facts.Places.children(P).begin(),
                                     Facts.Places.children(P).end());
  bool HasParts = false;
  while (!Todo.empty()) {
    PlaceID Part = Todo.pop_back_val();
    if (auto It = S.Values.find(Part); It != S.Values.end()) {
      HasParts = true;
      addAll(V, It->second);
    }
    if (Facts.Places[Part].IsHandle)
      continue;
    auto Below = Facts.Places.children(Part);
    Todo.append(Below.begin(), Below.end());
  }
  // The parts say what the whole is made of.
  if (HasParts)
    llvm::erase_if(V, [](const GradientAtom &A) {
      return A.Kind == GradientAtomKind::Empty;
    });
  return V;
}

void GradientFlow::eraseBelow(GradientState &S, PlaceID P) {
  llvm::SmallVector<PlaceID, 8> Todo{P};
  while (!Todo.empty()) {
    PlaceID Part = Todo.pop_back_val();
    S.Values.erase(Part);
    auto Below = Facts.Places.children(Part);
    Todo.append(Below.begin(), Below.end());
  }
}

void GradientFlow::set(GradientState &S, PlaceID P, GradientValue V) {
  S.Values[P] = std::move(V);
}

void GradientFlow::write(GradientState &S, PlaceID P, GradientValue V,
                         bool IsWeak) {
  if (P == NoPlace)
    return;
  if (IsWeak)
    addAll(V, valueAt(S, P));
  else
    eraseBelow(S, P);
  set(S, P, std::move(V));
}

void GradientFlow::assign(GradientState &S, const Fact &F) {
  GradientValue New;
  std::vector<std::pair<PlaceID, GradientValue>> Parts;
  bool IsSingle = F.Sources.size() == 1 && !F.IsWeak && !F.IsThrough;
  for (PlaceID Source : F.Sources) {
    if (Source == F.Dst)
      return;
    if (!IsSingle || Source == NoPlace) {
      addAll(New, reachable(S, Source));
      continue;
    }
    addAll(New, valueAt(S, Source));
    llvm::SmallVector<PlaceID, 8> Todo(Facts.Places.children(Source).begin(),
                                       Facts.Places.children(Source).end());
    while (!Todo.empty()) {
      PlaceID Part = Todo.pop_back_val();
      if (Facts.Places.isBelow(Part, F.Dst) ||
          Facts.Places.length(Part) >= MaxLength)
        continue;
      if (auto It = S.Values.find(Part); It != S.Values.end())
        Parts.emplace_back(Facts.Places.rebase(Part, Source, F.Dst),
                           It->second);
      auto Below = Facts.Places.children(Part);
      Todo.append(Below.begin(), Below.end());
    }
  }
  if (F.Sources.empty())
    New.push_back({GradientAtomKind::Empty, &F, NoPlace});
  write(S, F.Dst, std::move(New), F.IsWeak || F.IsThrough);
  for (auto &[Part, V] : Parts)
    set(S, Part, std::move(V));
}

/// What an operator gives that works on \p Operands. \p IsSure: and on
/// parameters.
GradientValue GradientFlow::computed(const GradientState &S, const Fact &F,
                                     llvm::ArrayRef<PlaceID> Operands,
                                     bool IsSure, bool HasUnknown) {
  bool IsPossible = false, IsSymbolic = false;
  GradientValue &Edges = this->Operands[&F];
  for (PlaceID Operand : Operands) {
    unsigned Recording = 0, Others = 0;
    for (const GradientAtom &A : reachable(S, Operand)) {
      bool Records = A.Kind == GradientAtomKind::Graph ||
                     A.Kind == GradientAtomKind::Leaf;
      Recording += Records;
      Others += !Records && A.Kind != GradientAtomKind::Empty;
      IsSymbolic |= A.Kind == GradientAtomKind::Given ||
                    A.Kind == GradientAtomKind::Symbolic;
      HasUnknown |= A.Kind == GradientAtomKind::Unknown;
      bool IsEdge = A.Kind >= GradientAtomKind::Graph &&
                    A.Kind != GradientAtomKind::Unknown;
      if ((IsEdge || A == GradientAtom::tooMany()) &&
          !llvm::is_contained(Edges, A))
        Edges.push_back(A);
    }
    IsSure |= Recording > 0 && Others == 0;
    IsPossible |= Recording > 0;
  }
  GradientAtom Plain{GradientAtomKind::Plain, &F, NoPlace};
  if (S.Mode == GradientMode::Off ||
      !(IsSure || IsPossible || IsSymbolic || HasUnknown))
    return {Plain};
  if (S.Mode == GradientMode::Unknown)
    return {unknownAtom()};
  GradientValue V;
  if (IsSure || IsPossible)
    add(V, {GradientAtomKind::Graph, &F, NoPlace});
  if (IsSure)
    return V;
  if (IsPossible)
    add(V, Plain);
  if (IsSymbolic)
    add(V, {GradientAtomKind::Symbolic, &F, NoPlace});
  if (HasUnknown)
    add(V, unknownAtom());
  return V;
}

void GradientFlow::derive(GradientState &S, const Fact &F,
                          const GradientEvent &E) {
  GradientValue V;
  for (PlaceID P : E.Passed)
    addAll(V, reachable(S, P));
  if (E.HasPlain)
    add(V, {GradientAtomKind::Plain, &F, NoPlace});
  if (E.HasLeaf)
    add(V, {GradientAtomKind::Leaf, &F, NoPlace});
  bool IsComputed = E.HasParameters || !E.Operands.empty();
  if (IsComputed || V.empty())
    addAll(V, computed(S, F, E.Operands, E.HasParameters, E.HasUnknown));
  else if (E.HasUnknown)
    add(V, unknownAtom());
  if (E.MayBeUnknown)
    add(V, unknownAtom());
  write(S, F.Dst, std::move(V), E.IsWeak);
}

void GradientFlow::endGuard(GradientState &S, const clang::VarDecl *Guard) {
  for (size_t I = S.Guards.size(); I-- > 0;)
    if (S.Guards[I].first == Guard) {
      S.Mode = S.Guards[I].second;
      S.Guards.resize(I);
      return;
    }
}

void GradientFlow::applyEvent(GradientState &S, const Fact &F,
                              const GradientEvent &E) {
  switch (E.Kind) {
  case GradientKind::Derive:
    derive(S, F, E);
    break;
  case GradientKind::TakeIn: {
    if (S.Mode == GradientMode::Off)
      break;
    llvm::SmallVector<PlaceID, 4> All(E.Operands.begin(), E.Operands.end());
    All.push_back(F.Dst);
    write(S, F.Dst, computed(S, F, All, /*IsSure=*/false, E.HasUnknown),
          Facts.Places.isElementPath(F.Dst));
    break;
  }
  case GradientKind::Cut:
    write(S, F.Dst, {{GradientAtomKind::Plain, &F, NoPlace}}, false);
    break;
  case GradientKind::Leaf:
    if (!hasGraph(valueAt(S, F.Dst)))
      write(S, F.Dst, {{GradientAtomKind::Leaf, &F, NoPlace}}, false);
    break;
  case GradientKind::Forget:
    write(S, F.Dst, {unknownAtom()}, false);
    break;
  case GradientKind::Backward:
    S.Walked.insert(&F);
    break;
  case GradientKind::Mode:
    if (E.Guard)
      S.Guards.emplace_back(E.Guard, S.Mode);
    S.Mode = E.Mode;
    break;
  case GradientKind::ModeEnd:
    endGuard(S, E.Guard);
    break;
  case GradientKind::Evaluate:
  case GradientKind::Train:
    S.Evaluated[E.Module] = E.Kind == GradientKind::Evaluate;
    break;
  default:
    break; // what only the queries look at
  }
}

/// \p F is in the text of \p Loop.
static bool standsIn(const FunctionFacts &Facts, const Fact *F, LoopID Loop) {
  LoopID L = F->Loop;
  while (L != NoLoop && L != Loop)
    L = Facts.Loops[L].Outer;
  return L == Loop;
}

void GradientFlow::apply(GradientState &S, const Fact &F) {
  switch (F.Kind) {
  case FactKind::Create:
    write(S, F.Dst,
          {Facts.Storages[F.Storage].IsAssumed
               ? unknownAtom()
               : GradientAtom{GradientAtomKind::Plain, &F, NoPlace}},
          false);
    break;
  case FactKind::Assign:
    assign(S, F);
    break;
  case FactKind::Null:
    write(S, F.Dst, {{GradientAtomKind::Empty, &F, NoPlace}}, false);
    break;
  case FactKind::Forget:
    write(S, F.Dst, {unknownAtom()}, false);
    break;
  case FactKind::Kill:
    eraseBelow(S, F.Dst);
    break;
  case FactKind::LoopBack:
    for (auto It = S.Walked.begin(); It != S.Walked.end();)
      It = standsIn(Facts, *It, F.Loop) ? S.Walked.erase(It) : std::next(It);
    break;
  case FactKind::Gradient:
    applyEvent(S, F, Facts.Gradients[F.Event]);
    break;
  default:
    break;
  }
}

bool GradientFlow::isEvaluated(const GradientState &S, PlaceID Module) const {
  for (PlaceID P = Module; P != NoPlace; P = Facts.Places[P].Base)
    if (auto It = S.Evaluated.find(P); It != S.Evaluated.end())
      return It->second;
  return false;
}

bool GradientFlow::join(BlockID To, const GradientState &S) {
  if (!In[To]) {
    In[To] = S;
    return true;
  }
  GradientState Old = *In[To];
  GradientState &M = *In[To];
  for (auto &[P, V] : M.Values)
    if (!S.Values.count(P) && isGiven(Facts, Facts.Places.root(P)))
      addAll(V, valueAt(S, P));
  for (const auto &[P, V] : S.Values) {
    auto [It, IsNew] = M.Values.try_emplace(P);
    if (IsNew && isGiven(Facts, Facts.Places.root(P)))
      It->second = valueAt(Old, P);
    addAll(It->second, V);
  }
  if (M.Mode != S.Mode)
    M.Mode = GradientMode::Unknown;
  if (M.Guards != S.Guards) {
    size_t Common = 0;
    while (Common < M.Guards.size() && Common < S.Guards.size() &&
           M.Guards[Common] == S.Guards[Common])
      ++Common;
    M.Guards.resize(Common);
  }
  for (auto It = M.Evaluated.begin(); It != M.Evaluated.end();)
    if (auto Other = S.Evaluated.find(It->first);
        Other == S.Evaluated.end() || Other->second != It->second)
      It = M.Evaluated.erase(It);
    else
      ++It;
  for (auto It = M.Walked.begin(); It != M.Walked.end();)
    It = S.Walked.count(*It) ? std::next(It) : M.Walked.erase(It);
  return !(Old == M);
}

bool GradientFlow::run() {
  if (Facts.IsIncomplete)
    return false;
  In.assign(Facts.Blocks.size(), std::nullopt);
  In[Facts.Entry].emplace();
  Order = reversePostOrder(Facts);
  std::set<std::pair<unsigned, BlockID>> Todo{{Order[Facts.Entry], Facts.Entry}};
  unsigned Steps = 0;
  while (!Todo.empty()) {
    BlockID B = Todo.begin()->second;
    Todo.erase(Todo.begin());
    Steps += Facts.Blocks[B].Facts.size() + 1;
    if (Steps > StepLimit)
      return false;
    GradientState S = *In[B];
    for (const Fact &F : Facts.Blocks[B].Facts)
      apply(S, F);
    for (BlockID To : Facts.Blocks[B].Successors)
      if (join(To, S))
        Todo.insert({Order[To], To});
  }
  return true;
}

void GradientFlow::forEachFact(
    llvm::function_ref<void(const Fact &, const GradientState &)> Visit) {
  std::vector<BlockID> Blocks(Facts.Blocks.size());
  for (BlockID B = 0; B < Blocks.size(); ++B)
    Blocks[B] = B;
  llvm::stable_sort(Blocks,
                    [&](BlockID A, BlockID B) { return Order[A] < Order[B]; });
  for (BlockID B : Blocks) {
    if (!In[B])
      continue;
    GradientState S = *In[B];
    for (const Fact &F : Facts.Blocks[B].Facts) {
      Visit(F, S);
      apply(S, F);
    }
  }
}

} // namespace tensorscope
