// SPDX-License-Identifier: Apache-2.0
//
// Finds threads that work without a scope where the code uses scopes.
// User page: docs/checks/thread-without-scope.md
#include "checks/Check.h"

#include "dataflow/GradientUnit.h"

using namespace clang;

namespace tensorscope {
namespace {

enum Form : unsigned {
  Loop,   ///< the thread's own loop creates tensors in no scope
  Escape, ///< tensors leave a thread that was started in a scope
};

} // namespace

std::vector<FlowFinding> findThreadsWithoutScope(CheckInput &Input) {
  std::vector<FlowFinding> Findings;
  const FunctionFacts &Facts = Input.Flow.facts();
  for (FlowFinding &F : findUnscopedLoops(Input)) {
    F.Form = Loop;
    F.Condition.emplace();
    F.Condition->OnThread = Facts.Function;
    Findings.push_back(std::move(F));
  }
  Input.Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<State> Before) {
    bool IsStart = F.Kind == FactKind::Gradient &&
                   Facts.Gradients[F.Event].Kind == GradientKind::Thread;
    if (!IsStart || !llvm::all_of(Before, [](const State &S) {
          return !S.ScopesUnknown && !S.Scopes.empty();
        }))
      return;
    FlowFinding Found;
    Found.Form = Escape;
    Found.Loc = locationOf(F.At);
    ScopeID Scope = Before.front().Scopes.back();
    if (const Stmt *Begin = Facts.Scopes[Scope].Begin)
      Found.Steps.push_back(
          {FlowStepKind::ScopeBegan, locationOf(Begin), ""});
    Found.Condition.emplace();
    Found.Condition->GivesOut = F.Callee;
    Findings.push_back(std::move(Found));
  });
  return Findings;
}

Diagnostic describeThreadWithoutScope(const FlowFinding &F) {
  if (F.Form == Loop)
    return makeDiagnostic(
        F, "this loop runs on a thread of its own and creates tensors in each "
           "iteration with no scope open: a scope of another thread does not "
           "cover it; open one here");
  return makeDiagnostic(
      F, "a scope is open here, but not on the thread that this starts: the "
         "tensors that leave the thread are nobody's; open a scope in it");
}

} // namespace tensorscope
