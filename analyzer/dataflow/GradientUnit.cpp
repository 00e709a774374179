// SPDX-License-Identifier: Apache-2.0
#include "dataflow/GradientUnit.h"

#include "utils/AstUtils.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

std::vector<const ValueDecl *> membersOf(const FunctionFacts &Facts,
                                         PlaceID P) {
  std::vector<const ValueDecl *> Members;
  for (; P != NoPlace; P = Facts.Places[P].Base) {
    const PlaceInfo &Info = Facts.Places[P];
    if (Info.Kind == PlaceKind::Field ||
        (Info.Kind == PlaceKind::Variable && Info.IsOuter))
      Members.push_back(static_cast<const ValueDecl *>(Info.Key));
  }
  return Members;
}

std::vector<const ValueDecl *> modulesOf(const FunctionFacts &Facts,
                                         PlaceID P) {
  std::vector<const ValueDecl *> Modules;
  for (; P != NoPlace; P = Facts.Places[P].Base) {
    const PlaceInfo &Info = Facts.Places[P];
    if (Info.Kind == PlaceKind::Field || Info.Kind == PlaceKind::Variable)
      Modules.push_back(static_cast<const ValueDecl *>(Info.Key));
  }
  return Modules;
}

/// The loop around \p F that does not run just a few times.
static bool repeats(const FunctionFacts &Facts, LoopID L) {
  while (L != NoLoop && Facts.Loops[L].IsSmall)
    L = Facts.Loops[L].Outer;
  return L != NoLoop;
}

void GradientUnit::collect(const FunctionDecl *F, GradientFlow &Flow) {
  const FunctionFacts &Facts = Flow.facts();
  Flow.forEachFact([&](const Fact &Made, const GradientState &S) {
    if (Made.Kind != FactKind::Gradient) {
      collectWrite(F, Facts, Made);
      return;
    }
    const GradientEvent &E = Facts.Gradients[Made.Event];
    bool IsThread = E.Kind == GradientKind::Thread;
    if (IsThread || E.Kind == GradientKind::Call) {
      CallFrom Call;
      Call.Caller = F;
      Call.At = Made.At;
      Call.Mode = S.Mode;
      Call.IsInLoop = repeats(Facts, Made.Loop);
      Call.IsThread = IsThread;
      Call.HasOwnMode = IsThread && E.Mode != GradientMode::Inherited;
      for (PlaceID Arg : E.Operands)
        Call.Evaluated.push_back(Flow.isEvaluated(S, Arg));
      Calls[Made.Callee->getCanonicalDecl()].push_back(std::move(Call));
    } else if (E.Kind == GradientKind::Evaluate ||
               E.Kind == GradientKind::Train) {
      auto Named = modulesOf(Facts, E.Module);
      if (!Named.empty()) {
        Kept &K = Members[Named.front()];
        (E.Kind == GradientKind::Evaluate ? K.IsEvaluated : K.IsTrained) = true;
      }
    } else {
      collectWrite(F, Facts, Made);
    }
  });
  collectPlaces(F, Flow);
}

/// A write that takes away what was there, other than a constructor's.
void GradientUnit::collectWrite(const FunctionDecl *F,
                                const FunctionFacts &Facts,
                                const Fact &Write) {
  if (isa<CXXConstructorDecl>(F))
    return;
  PlaceID P = Write.Kind == FactKind::Remove ? Write.Src : Write.Dst;
  if (P == NoPlace || Write.Kind == FactKind::Kill)
    return;
  if (Write.Kind == FactKind::Gradient) {
    GradientKind Kind = Facts.Gradients[Write.Event].Kind;
    if (Kind != GradientKind::Cut && Kind != GradientKind::Forget)
      return;
  }
  // What a callee writes is counted there.
  const auto *By = dyn_cast_or_null<CallExpr>(Write.At);
  bool IsCallees = By && !isa<CXXOperatorCallExpr>(By) &&
                   By->getDirectCallee() && definitionOf(By->getDirectCallee());
  if (Write.Kind == FactKind::Assign && (Write.IsWeak || IsCallees))
    return;
  for (const ValueDecl *Member : membersOf(Facts, P))
    Members[Member].Cutters.insert(F->getCanonicalDecl());
}

void GradientUnit::collectPlaces(const FunctionDecl *, GradientFlow &Flow) {
  const FunctionFacts &Facts = Flow.facts();
  for (PlaceID P = 1; P < Facts.Places.size(); ++P) {
    const PlaceInfo &Info = Facts.Places[P];
    if (Info.Kind == PlaceKind::Field ||
        (Info.Kind == PlaceKind::Variable && Info.IsOuter))
      Members[static_cast<const ValueDecl *>(Info.Key)].Fate |=
          Flow.fate(P) & (WalkedBack | GivenAway | Returned);
  }
}

const std::vector<GradientUnit::CallFrom> *
GradientUnit::callsOf(const FunctionDecl *F) const {
  auto It = Calls.find(F->getCanonicalDecl());
  return It == Calls.end() ? nullptr : &It->second;
}

bool GradientUnit::isThread(const FunctionDecl *F) const {
  const auto *From = callsOf(F);
  return From && llvm::any_of(*From, [](const CallFrom &C) {
           return C.IsThread;
         });
}

bool GradientUnit::isThreadUnderGuard(const FunctionDecl *F) const {
  const auto *From = callsOf(F);
  return From && llvm::any_of(*From, [](const CallFrom &C) {
           return C.HasOwnMode && C.Mode == GradientMode::Off;
         });
}

const Stmt *GradientUnit::threadStart(const FunctionDecl *F) const {
  if (const auto *From = callsOf(F))
    for (const CallFrom &C : *From)
      if (C.IsThread)
        return C.At;
  return nullptr;
}

const Stmt *GradientUnit::callInLoop(const FunctionDecl *F) const {
  if (const auto *From = callsOf(F))
    for (const CallFrom &C : *From)
      if (C.IsInLoop)
        return C.At;
  return nullptr;
}

Verdict GradientUnit::runsWithGradients(const FunctionDecl *F) const {
  llvm::DenseSet<const FunctionDecl *> Seen;
  return runsWithGradients(F, Seen);
}

Verdict GradientUnit::runsWithGradients(
    const FunctionDecl *F, llvm::DenseSet<const FunctionDecl *> &Seen) const {
  F = F->getCanonicalDecl();
  if (!Seen.insert(F).second)
    return Verdict::No;
  const auto *From = callsOf(F);
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!From)
    return F->isMain() ? Verdict::Sure
           // Who calls it, and in which mode, is not known.
           : Method && Method->getParent()->isLambda() ? Verdict::No
                                                       : Verdict::Maybe;
  Verdict Best = Verdict::No;
  for (const CallFrom &C : *From) {
    Verdict V = C.HasOwnMode || C.Mode == GradientMode::On ? Verdict::Sure
                : C.Mode == GradientMode::Inherited
                    ? runsWithGradients(C.Caller, Seen)
                    : Verdict::No;
    Best = std::max(Best, V);
  }
  return Best;
}

/// A function of the class is not seen: it may do anything to its members.
static bool isHidden(const ValueDecl *Member) {
  const auto *RD = dyn_cast<CXXRecordDecl>(Member->getDeclContext());
  return RD && llvm::any_of(RD->methods(), [](const CXXMethodDecl *M) {
           return M->isUserProvided() && !M->isPureVirtual() &&
                  !M->isDeleted() && !definitionOf(M);
         });
}

bool GradientUnit::isEvaluated(const GradientCondition &C) const {
  if (C.IsEvaluated || isThreadUnderGuard(C.Runs))
    return true;
  if (C.EvaluatedParam >= 0) {
    const auto *From = callsOf(C.Runs);
    return From && llvm::all_of(*From, [&](const CallFrom &Call) {
             return size_t(C.EvaluatedParam) < Call.Evaluated.size() &&
                    Call.Evaluated[C.EvaluatedParam];
           });
  }
  bool Is = false;
  for (const ValueDecl *Member : C.EvaluatedMembers)
    if (auto It = Members.find(Member); It != Members.end()) {
      if (It->second.IsTrained)
        return false;
      Is |= It->second.IsEvaluated;
    }
  return Is;
}

Verdict GradientUnit::judge(const GradientCondition &C) const {
  if ((C.NeedsNoFreezing && MayFreeze) || (C.NeedsNoTraining && UsesGradients))
    return Verdict::No;
  if ((C.OnThread && !isThread(C.OnThread)) ||
      (C.GivesOut && !GivingOut.contains(C.GivesOut)))
    return Verdict::No;
  if (C.NeedsLoopAround && !callInLoop(C.Runs))
    return Verdict::No;
  if (C.NeedsEvaluation && !isEvaluated(C))
    return Verdict::No;
  for (const ValueDecl *Member : C.Left) {
    auto It = Members.find(Member);
    bool IsTaken = It != Members.end() &&
                   (It->second.Fate || !It->second.Cutters.empty());
    if (IsTaken || isHidden(Member))
      return Verdict::No;
  }
  if (C.OwnOf) {
    const Kept &K = Members.find(C.OwnOf)->second;
    bool IsOthers = llvm::any_of(K.Cutters, [&](const FunctionDecl *F) {
      return F != C.Runs->getCanonicalDecl();
    });
    if (IsOthers || (K.Fate & WalkedBack) || isHidden(C.OwnOf))
      return Verdict::No;
  }
  return C.Runs ? runsWithGradients(C.Runs) : Verdict::Sure;
}

} // namespace tensorscope
