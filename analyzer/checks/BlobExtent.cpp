// SPDX-License-Identifier: Apache-2.0
//
// Finds tensors over memory that is smaller than they are, or that holds values
// of another type.
// User page: docs/checks/blob-extent.md
#include "checks/Check.h"

#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

/// `torch::` or `at::`, as the call has it.
static std::string namespaceOf(const Expr *Call) {
  const auto *E = dyn_cast<CallExpr>(Call);
  const FunctionDecl *F = E ? E->getDirectCallee() : nullptr;
  return F && qualifiedName(F) == "at::from_blob" ? "at::" : "torch::";
}

std::vector<FlowFinding> findBlobExtents(CheckInput &Input) {
  std::vector<FlowFinding> Findings;
  for (const BlobExtentFinding &Found : Input.Borrows().Extents) {
    FlowFinding F;
    F.Loc = locationOf(Found.Call);
    F.Subject = Found.Buffer;
    std::string Type =
        "'" + Found.DType + "'" + (Found.IsDefault ? ", the default" : "");
    std::string Elements =
        Found.ElementType.empty() ? "" : " of '" + Found.ElementType + "'";
    F.Holder = Found.TensorBytes == 0
                   ? "holds values" + Elements +
                         ", and the tensor is over " + Type
                   : "holds " + std::to_string(Found.BufferBytes) + " bytes" +
                         Elements + ", and the tensor reads " +
                         std::to_string(Found.TensorBytes) + " of " + Type;
    std::string Right = namespaceOf(Found.Call) + Found.RightDType;
    F.Remedy = Found.RightDType.empty() ? "make the sizes smaller"
                                        : "say '" + Right + "'";
    if (Found.Declared)
      F.Steps.push_back(
          {FlowStepKind::Declared, Found.Declared->getLocation(), ""});
    if (!Found.RightDType.empty() && Found.DTypeRange.isValid() &&
        !Found.DTypeRange.getBegin().isMacroID())
      F.Edits.push_back({Found.DTypeRange,
                         (Found.DTypeRange.isCharRange() ? ", " : "") + Right});
    Findings.push_back(std::move(F));
  }
  return Findings;
}

Diagnostic describeBlobExtent(const FlowFinding &F) {
  return makeDiagnostic(F, "'" + F.Subject + "' " + F.Holder + "; " + F.Remedy);
}

} // namespace tensorscope
