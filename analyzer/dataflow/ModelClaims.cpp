// SPDX-License-Identifier: Apache-2.0
#include "dataflow/ModelClaims.h"

#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

/// \p P lies in the argument, or is the argument.
static bool isIn(const Path &P, int Arg) {
  return Arg == ThisArg ? P.Root == PathRoot::This
                        : P.Root == PathRoot::Param && P.Param == unsigned(Arg);
}

static bool anyIn(llvm::ArrayRef<Path> Paths, int Arg) {
  return llvm::any_of(Paths, [&](const Path &P) { return isIn(P, Arg); });
}

static void moveThose(std::vector<Path> &From, std::vector<Path> &To, int Arg) {
  auto Rest = std::stable_partition(From.begin(), From.end(), [&](const Path &P) {
    return !isIn(P, Arg);
  });
  To.insert(To.end(), Rest, From.end());
  From.erase(Rest, From.end());
}

static Path argumentPath(int Arg) {
  Path P;
  P.Root = Arg == ThisArg ? PathRoot::This : PathRoot::Param;
  P.Param = Arg == ThisArg ? 0 : Arg;
  return P;
}

static void settleResult(Summary &S, const FunctionModel &Claim) {
  bool IsNew = Claim.Result == ResultKind::New;
  if (!IsNew && Claim.Result != ResultKind::Alias)
    return;
  for (SummaryStore &Store : S.Result)
    for (SummarySource &Source : Store.Sources) {
      if (Source.Kind != SourceKind::Unknown &&
          Source.Kind != SourceKind::Assumed)
        continue;
      Source.Kind = IsNew ? SourceKind::New : SourceKind::Interface;
      Source.From = argumentPath(Claim.ResultArg);
    }
}

void settleByClaim(Summary &S, const FunctionModel &Claim) {
  for (const Effect &E : Claim.Effects) {
    if (E.Kind == EffectKind::Release) {
      moveThose(S.MaybeReleased, S.Released, E.Arg);
      if (!anyIn(S.Released, E.Arg))
        moveThose(S.Kept, S.Released, E.Arg);
    } else if (E.Kind == EffectKind::Retain && !anyIn(S.Retained, E.Arg)) {
      moveThose(S.Kept, S.Retained, E.Arg);
    }
  }
  settleResult(S, Claim);
}

static bool hasArgument(const FunctionDecl *F, int Arg) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Arg == ThisArg ? Method && Method->isInstance()
                        : unsigned(Arg) < F->getNumParams();
}

/// Who the result comes from, as far as its paths agree.
static std::optional<Contradiction> resultContradiction(const Summary &S,
                                                        const FunctionModel &M) {
  bool AllNew = true, AllGiven = true, AllOthers = true;
  const SummarySource *Given = nullptr;
  for (const SummaryStore &Store : S.Result)
    for (const SummarySource &Source : Store.Sources) {
      bool IsGiven = Source.Kind == SourceKind::Interface;
      AllNew &= Source.Kind == SourceKind::New ||
                Source.Kind == SourceKind::ScopeResult;
      AllGiven &= IsGiven;
      AllOthers &= IsGiven && !isIn(Source.From, M.ResultArg);
      if (IsGiven)
        Given = &Source;
    }
  bool HasSources = llvm::any_of(
      S.Result, [](const SummaryStore &R) { return !R.Sources.empty(); });
  if (!HasSources)
    return std::nullopt;
  if (M.Result == ResultKind::New && AllGiven && Given &&
      Given->From.Root != PathRoot::Global)
    return Contradiction{ContradictionKind::NotNew,
                         Given->From.Root == PathRoot::This
                             ? ThisArg
                             : int(Given->From.Param)};
  if (M.Result == ResultKind::Alias && (AllNew || AllOthers))
    return Contradiction{ContradictionKind::NotItself, M.ResultArg};
  return std::nullopt;
}

std::vector<Contradiction> contradictions(const Summary &S,
                                          const FunctionFacts &Facts) {
  const FunctionModel &Claim = *Facts.Claim;
  const FunctionDecl *F = Facts.Function;
  std::vector<Contradiction> Found;
  for (const Effect &E : Claim.Effects) {
    bool Releases = E.Kind == EffectKind::Release;
    if (!Releases && E.Kind != EffectKind::Retain)
      continue;
    if (!hasArgument(F, E.Arg))
      Found.push_back({ContradictionKind::NoSuchParameter, E.Arg});
    else if (Facts.ClaimedCarriers.count(E.Arg) && !anyIn(Releases ? S.Released : S.Retained, E.Arg) &&
             !anyIn(S.MaybeReleased, E.Arg) && !anyIn(S.Kept, E.Arg))
      Found.push_back({Releases ? ContradictionKind::NeverReleases
                                : ContradictionKind::NeverRetains,
                       E.Arg});
  }
  if (Claim.Result == ResultKind::Alias && !hasArgument(F, Claim.ResultArg))
    Found.push_back({ContradictionKind::NoSuchParameter, Claim.ResultArg});
  else if (auto Result = resultContradiction(S, Claim))
    Found.push_back(*Result);
  return Found;
}

} // namespace tensorscope
