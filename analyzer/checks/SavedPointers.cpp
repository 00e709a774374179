// SPDX-License-Identifier: Apache-2.0
//
// Finds raw pointers in the context of an autograd function that its `backward`
// alone frees: a part of the check of raw handles.
// User page: docs/checks/raw-handle-leak.md
#include "checks/Check.h"

#include "dataflow/UnitFacts.h"

using namespace clang;

namespace tensorscope {

std::vector<UnitFinding> findSavedPointers(const UnitFacts &Facts,
                                           const ASTContext &) {
  std::vector<UnitFinding> Findings;
  for (const SavedPointer &P : Facts.SavedPointers) {
    auto Delete = Facts.DeletedInBackward.find(P.Class);
    if (Delete == Facts.DeletedInBackward.end())
      continue;
    FlowFinding F;
    F.Loc = locationOf(P.At);
    F.Remedy = "context";
    F.IsMaybe = true;
    F.Steps.push_back(
        {FlowStepKind::GivenBack, Delete->second->getBeginLoc(), ""});
    Findings.push_back({std::move(F), P.In});
  }
  return Findings;
}

} // namespace tensorscope
