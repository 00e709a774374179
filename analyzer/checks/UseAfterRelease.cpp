// SPDX-License-Identifier: Apache-2.0
//
// Finds uses of a tensor after it was released or its scope ended.
// User page: docs/checks/use-after-release.md
#include "checks/Check.h"

#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

/// The dead storage that a use meets in one state, if it surely meets one.
struct Meeting {
  StorageID Storage = UnknownStorage;
  StorageStatus Status;
};

class UseQuery {
public:
  explicit UseQuery(CheckInput &Input)
      : Input(Input), Facts(Input.Flow.facts()) {}

  bool isDead(StorageID S, const StorageStatus &Status) const {
    // An unknown function may have returned what is older than the scope.
    return Status.How == Life::Released ||
           (Status.How == Life::Ended && !Facts.Storages[S].IsAssumed);
  }

  std::optional<Meeting> meet(const State &S, const Fact &Use) {
    std::vector<StorageID> Storages;
    if (Use.Kind == FactKind::UseDeep) {
      Storages = Input.Flow.store().reachable(S, Use.Src);
    } else {
      for (const Held &H :
           Input.Flow.store().valueAt(S, Use.Src).Storages)
        Storages.push_back(H.Storage);
    }
    std::optional<Meeting> Found;
    for (StorageID Storage : Storages) {
      StorageStatus Status = S.status(Storage);
      bool Dead = Storage != UnknownStorage && isDead(Storage, Status);
      if (Dead && !Found)
        Found = Meeting{Storage, Status};
      // A handle holds one of them, and so does a reference to one of several
      // carriers; a carrier holds all of them.
      if (!Dead && (Use.Kind == FactKind::Use ||
                    Facts.Places.isOneOf(Use.Src))) {
        if (Status.How == Life::Unknown)
          Input.Silenced.insert(locationOf(Use.At));
        return std::nullopt;
      }
    }
    return Found;
  }

private:
  CheckInput &Input;
  const FunctionFacts &Facts;
};

} // namespace

std::vector<FlowFinding> findUsesAfterRelease(CheckInput &Input) {
  std::vector<FlowFinding> Findings;
  FunctionFacts &Facts = Input.Flow.facts();
  UseQuery Query(Input);
  std::set<std::pair<const Fact *, unsigned>> Told;
  Input.Flow.forEachFact([&](const Fact &Use, llvm::ArrayRef<State> Before) {
    if (Use.Kind != FactKind::Use && Use.Kind != FactKind::UseDeep)
      return;
    std::optional<Meeting> First;
    unsigned Count = 0;
    bool IsAskedFor = true;
    for (const State &S : Before)
      if (auto M = Query.meet(S, Use)) {
        ++Count;
        IsAskedFor &= M->Status.IsAskedFor;
        if (!First)
          First = M;
      }
    if (!First)
      return;
    // Where not all paths release it, a branch may know which did.
    if (Count < Before.size() && IsAskedFor) {
      Input.Silenced.insert(locationOf(Use.At));
      return;
    }
    // `x[1] = 7` looks at x, and at its element: one mistake.
    if (!Told.insert({First->Status.Where, Use.Statement}).second)
      return;
    FlowFinding F;
    F.Loc = locationOf(Use.At);
    F.Subject = Facts.Places.name(Use.Src, Input.Ctx);
    F.IsMaybe = Count < Before.size();
    addCreation(F, Facts, First->Storage);
    addEnd(F, Facts, First->Status);
    Findings.push_back(std::move(F));
  });
  return Findings;
}

Diagnostic describeUseAfterRelease(const FlowFinding &F) {
  FlowStepKind How = F.Steps.empty() ? FlowStepKind::Released : F.Steps.back().Kind;
  std::string Path = F.IsMaybe ? " on some path" : "";
  switch (How) {
  case FlowStepKind::ScopeEnded:
    return makeDiagnostic(
        F, "use of '" + F.Subject + "' after its scope ended" + Path +
               ": its memory is gone; return it from the scope or 'retain' it");
  case FlowStepKind::SessionEnded:
    return makeDiagnostic(F, "use of '" + F.Subject +
                                 "' after its session ended" + Path +
                                 ": its memory is gone; 'retain' it first");
  default:
    return makeDiagnostic(
        F, "use of '" + F.Subject + "' after it was released" + Path +
               ": its memory is gone for every alias and view");
  }
}

} // namespace tensorscope
