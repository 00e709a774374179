// SPDX-License-Identifier: Apache-2.0
//
// Finds small views that are kept and keep a big storage alive.
// User page: docs/checks/view-keeps-storage.md
#include "checks/Check.h"

#include "dataflow/UnitFacts.h"

using namespace clang;

namespace tensorscope {

std::vector<UnitFinding> findViewsThatKeep(const UnitFacts &Facts,
                                           const ASTContext &) {
  std::vector<UnitFinding> Findings;
  for (const KeptView &V : Facts.KeptViews) {
    if (Facts.StoredWhole.contains(V.Source))
      continue;
    FlowFinding F;
    F.Loc = locationOf(V.View);
    F.Subject = V.Source->getNameAsString();
    F.Holder = V.IsScopeResult ? "scope" : "";
    F.Remedy = std::to_string(V.Share);
    F.Steps.push_back({FlowStepKind::Created, V.Source->getLocation(), ""});
    // What has no spelling of its own can't be edited.
    SourceLocation End = V.End;
    if (End.isValid() && !End.isMacroID())
      F.Edits.push_back({CharSourceRange::getCharRange(End, End), ".clone()"});
    Findings.push_back({std::move(F), V.In});
  }
  return Findings;
}

Diagnostic describeViewKeepsStorage(const FlowFinding &F) {
  std::string What = F.Holder.empty()
                         ? "the view that is kept here uses"
                         : "the scope's result is a view that uses";
  return makeDiagnostic(F, What + " 1/" + F.Remedy + " of the storage of '" +
                               F.Subject +
                               "', and keeps all of it; keep a clone");
}

} // namespace tensorscope
