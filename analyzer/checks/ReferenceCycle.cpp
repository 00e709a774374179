// SPDX-License-Identifier: Apache-2.0
//
// Finds hooks, callbacks and saved outputs that own the tensor or the module
// that owns them.
// User page: docs/checks/reference-cycle.md
#include "checks/Check.h"

#include "dataflow/UnitFacts.h"

using namespace clang;

namespace tensorscope {

std::vector<UnitFinding> findReferenceCycles(const UnitFacts &Facts,
                                             const ASTContext &) {
  std::vector<UnitFinding> Findings;
  for (const OwnershipCycle &C : Facts.Cycles) {
    // What is emptied by hand, or a hook that is removed, ends the cycle.
    bool IsHook = C.Form == CycleForm::Hook;
    if (C.Slot && (IsHook ? Facts.Unhooked : Facts.Emptied).contains(C.Slot))
      continue;
    FlowFinding F;
    F.Loc = locationOf(C.At);
    F.Subject = C.Owner;
    F.Holder = C.Slot ? C.Slot->getNameAsString() : "";
    F.Remedy = IsHook                             ? "hook"
               : C.Form == CycleForm::Member      ? "member"
               : C.Form == CycleForm::SavedOutput ? "output"
                                                  : "view";
    Findings.push_back({std::move(F), C.In});
  }
  return Findings;
}

Diagnostic describeReferenceCycle(const FlowFinding &F) {
  std::string Name = "'" + F.Subject + "'";
  if (F.Remedy == "hook")
    return makeDiagnostic(
        F, "this hook owns " + Name +
               ", which owns the hook: neither is ever freed; capture a "
               "detached tensor, or a pointer that does not own");
  if (F.Remedy == "member")
    return makeDiagnostic(
        F, "what is stored in '" + F.Holder + "' owns " + Name +
               ", which owns it: neither is ever freed; capture a "
               "'std::weak_ptr' or a raw pointer");
  std::string What = F.Remedy == "output" ? "the output " + Name
                                          : "a view of the output " + Name;
  return makeDiagnostic(F, What +
                               " is saved in the context of the node that made "
                               "it, and owns that node: neither is ever freed; "
                               "give the output itself to 'save_for_backward'");
}

} // namespace tensorscope
