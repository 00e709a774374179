// SPDX-License-Identifier: Apache-2.0
//
// Finds pointers, accessors and array references that outlive what they point
// into.
// User page: docs/checks/dangling-data-ptr.md
#include "checks/Check.h"

using namespace clang;

namespace tensorscope {

std::vector<FlowFinding> findDanglingDataPtrs(CheckInput &Input) {
  std::vector<FlowFinding> Findings;
  for (const BorrowFinding &B : Input.Borrows().Dangling)
    if (B.Borrower == BorrowerKind::Pointer)
      Findings.push_back(danglingFinding(B));
  return Findings;
}

static std::string quoted(const std::string &Name, const char *Else) {
  return Name.empty() ? Else : "'" + Name + "'";
}

Diagnostic describeDanglingDataPtr(const FlowFinding &F) {
  bool IsView = F.Steps.front().Kind == FlowStepKind::Viewed;
  std::string Borrower = quoted(F.Subject, "the result");
  std::string Points = IsView ? " views " : " points into ";
  std::string Owner =
      quoted(F.Holder, IsView ? "a temporary" : "a temporary tensor");
  if (F.Form == unsigned(DanglingKind::GivenOut))
    return makeDiagnostic(F, "the result points into " + quoted(F.Holder, "") +
                                 ", which is gone after the call where the "
                                 "caller gives a temporary; take a named "
                                 "tensor ('Tensor &'), or give out a copy");
  std::string Copied =
      F.Remedy.empty() ? "" : ", where '" + F.Remedy + "' makes a copy";
  FlowStepKind Last = F.Steps.back().Kind;
  if (Last == FlowStepKind::Returned || Last == FlowStepKind::Stored)
    return makeDiagnostic(
        F, Borrower + Points + quoted(F.Holder, IsView ? "a local object"
                                                       : "a local tensor") +
               ", which is gone at the end of this function" + Copied +
               (IsView ? "; give out a 'std::vector'"
                       : "; give out the tensor with it"));
  for (const FlowStep &S : F.Steps)
    switch (S.Kind) {
    case FlowStepKind::StatementEnded:
      return makeDiagnostic(
          F, Borrower + Points + Owner +
                 ", which is gone at the end of this statement" + Copied +
                 (IsView ? "; keep a 'std::vector'"
                         : "; give the tensor a name first"));
    case FlowStepKind::Resized:
      return makeDiagnostic(F, "use of " + Borrower + " after " + Owner +
                                   ", which it points into, was resized: its "
                                   "memory may be elsewhere; take the pointer "
                                   "again");
    case FlowStepKind::Rebound:
      return makeDiagnostic(F, "use of " + Borrower + " after " + Owner +
                                   ", which it points into, was given another "
                                   "tensor; keep the first one, or take the "
                                   "pointer again");
    case FlowStepKind::Reallocated:
      return makeDiagnostic(F, "use of " + Borrower +
                                   " after the elements of " + Owner + ", which it points to, were moved; "
                                           "take it again");
    default:
      break;
    }
  return makeDiagnostic(F, "use of " + Borrower + " after " + Owner +
                               ", which it points into, was destroyed; let it "
                               "live longer");
}

} // namespace tensorscope
