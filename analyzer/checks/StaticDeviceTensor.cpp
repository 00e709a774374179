// SPDX-License-Identifier: Apache-2.0
//
// Finds tensors that may be on a device and are destroyed when the program
// ends.
// User page: docs/checks/static-device-tensor.md
#include "checks/Check.h"

#include "dataflow/UnitFacts.h"

using namespace clang;

namespace tensorscope {

std::vector<UnitFinding> findStaticDeviceTensors(const UnitFacts &Facts,
                                                 const ASTContext &) {
  std::vector<UnitFinding> Findings;
  for (const StaticOnDevice &S : Facts.OnDevice) {
    // Somebody empties it, and may do so in time.
    if (Facts.Emptied.contains(S.Variable->getCanonicalDecl()))
      continue;
    FlowFinding F;
    F.Loc = S.At ? locationOf(S.At) : S.Variable->getLocation();
    F.Subject = S.Variable->getNameAsString();
    F.Remedy = S.Variable->getTSCSpec() != TSCS_unspecified ? "its thread"
                                                            : "the program";
    if (S.At)
      F.Steps.push_back(
          {FlowStepKind::Declared, S.Variable->getLocation(), ""});
    Findings.push_back({std::move(F), S.In});
  }
  return Findings;
}

Diagnostic describeStaticDeviceTensor(const FlowFinding &F) {
  return makeDiagnostic(
      F, "'" + F.Subject + "' may be on a device, and is destroyed when " +
             F.Remedy +
             " ends, perhaps after the device's driver; free it before that, "
             "or hold it by a pointer that is never deleted");
}

} // namespace tensorscope
