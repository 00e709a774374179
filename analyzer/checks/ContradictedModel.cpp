// SPDX-License-Identifier: Apache-2.0
//
// Finds functions whose bodies do not do what a model or an annotation says of
// them.
// User page: docs/checks/contradicted-model.md
#include "checks/Check.h"

#include "dataflow/ModelClaims.h"
#include "dataflow/SummaryBuilder.h"

using namespace clang;

namespace tensorscope {

static std::string argumentName(const FunctionDecl *F, int Arg) {
  if (Arg == ThisArg)
    return "its object";
  if (unsigned(Arg) >= F->getNumParams())
    return "argument " + std::to_string(Arg);
  std::string Name = F->getParamDecl(Arg)->getNameAsString();
  return Name.empty() ? "argument " + std::to_string(Arg) : "'" + Name + "'";
}

/// What is said, and what the body does instead.
static std::string wordsFor(const Contradiction &C, const FunctionDecl *F) {
  std::string Name = argumentName(F, C.Arg);
  switch (C.Kind) {
  case ContradictionKind::NoSuchParameter:
    return "to act on " + Name + ", which it does not have";
  case ContradictionKind::NeverReleases:
    return "to release " + Name + ", and no path through its body does";
  case ContradictionKind::NeverRetains:
    return "to retain " + Name + ", and no path through its body does";
  case ContradictionKind::NotNew:
    return "to return a new tensor, and its body returns what " + Name +
           " holds, or a view of it";
  case ContradictionKind::NotItself:
    return "to return a view of " + Name + ", and its body returns another";
  }
  return "";
}

std::vector<FlowFinding> findContradictedModel(CheckInput &Input) {
  const FunctionFacts &Facts = Input.Flow.facts();
  std::vector<FlowFinding> Findings;
  if (!Facts.Claim || Input.Flow.exitStates().empty())
    return Findings;
  const FunctionDecl *F = Facts.Function;
  for (const Contradiction &C :
       contradictions(buildSummary(Input.Flow), Facts)) {
    FlowFinding Found;
    Found.Loc = F->getLocation();
    Found.Subject = F->getNameAsString();
    Found.Holder = Facts.Claim->IsPartial ? "annotated" : "modelled";
    Found.Remedy = wordsFor(C, F);
    Findings.push_back(std::move(Found));
  }
  return Findings;
}

Diagnostic describeContradictedModel(const FlowFinding &F) {
  return makeDiagnostic(F, "'" + F.Subject + "' is " + F.Holder + " " +
                               F.Remedy +
                               "; what its callers are told is wrong");
}

} // namespace tensorscope
