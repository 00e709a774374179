// SPDX-License-Identifier: Apache-2.0
//
// What a check is: a query over one function's dataflow that gives findings,
// and words for them. The table of all checks is in Registry.cpp.
#ifndef TENSORSCOPE_CHECKS_CHECK_H
#define TENSORSCOPE_CHECKS_CHECK_H

#include "checks/Analyzer.h"
#include "dataflow/BorrowAnalysis.h"
#include "dataflow/FlowFinding.h"
#include "dataflow/GradientFlow.h"
#include "dataflow/StorageFlow.h"
#include "dataflow/StreamAnalysis.h"
#include "clang/AST/ASTContext.h"
#include <memory>
#include <set>

namespace tensorscope {

struct UnitFacts;

/// A dataflow and what it runs on.
struct OwnedFlow {
  FunctionFacts Facts;
  StorageFlow Flow;
  OwnedFlow(FunctionFacts F, unsigned StepLimit)
      : Facts(std::move(F)), Flow(Facts, StepLimit) {}
};

/// One function as the checks see it.
struct CheckInput {
  StorageFlow &Flow;
  /// Null past a budget.
  GradientFlow *Gradients;
  const clang::ASTContext &Ctx;
  /// Places where a finding was kept back since something was unknown.
  std::set<clang::SourceLocation> &Silenced;
  /// The same function with the ways of its exceptions; null past a budget.
  std::function<std::unique_ptr<OwnedFlow>()> WithExceptions;

  /// What the function does with borrowed memory; made when it is asked for.
  std::function<const BorrowFindings &()> Borrows;
  /// The same of the streams of a device.
  std::function<std::vector<StreamReport>()> Streams;
};

/// A finding of the whole translation unit, and the function it is in, if any.
struct UnitFinding {
  FlowFinding Finding;
  const clang::FunctionDecl *In = nullptr;
};

/// A query over each function, one over the translation unit, or both; null
/// for none.
struct Check {
  CheckInfo Info;
  std::vector<FlowFinding> (*Find)(CheckInput &Input);
  Diagnostic (*Describe)(const FlowFinding &F);
  std::vector<UnitFinding> (*FindInUnit)(const UnitFacts &Facts,
                                         const clang::ASTContext &Ctx) =
      nullptr;
};

/// Sorted by rule.
llvm::ArrayRef<Check> checkTable();

std::vector<FlowFinding> findCollectionsInLoops(CheckInput &Input);
std::vector<FlowFinding> findContradictedModel(CheckInput &Input);
std::vector<FlowFinding> findDiscardedScopeResults(CheckInput &Input);
std::vector<FlowFinding> findGraphRetentions(CheckInput &Input);
std::vector<FlowFinding> findLongLivedInScopes(CheckInput &Input);
std::vector<FlowFinding> findRawHandleLeaks(CheckInput &Input);
std::vector<FlowFinding> findMissingNoGrads(CheckInput &Input);
std::vector<FlowFinding> findThreadsWithoutScope(CheckInput &Input);
std::vector<FlowFinding> findScopesOfWrongSize(CheckInput &Input);
std::vector<FlowFinding> findUnbalancedSessions(CheckInput &Input);
std::vector<FlowFinding> findUnretainedEscapes(CheckInput &Input);
std::vector<FlowFinding> findUnscopedLoops(CheckInput &Input);
std::vector<FlowFinding> findUsesAfterRelease(CheckInput &Input);
Diagnostic describeCollectionInLoop(const FlowFinding &F);
Diagnostic describeContradictedModel(const FlowFinding &F);
Diagnostic describeDiscardedScopeResult(const FlowFinding &F);
Diagnostic describeGraphRetention(const FlowFinding &F);
Diagnostic describeLongLivedInScope(const FlowFinding &F);
Diagnostic describeRawHandleLeak(const FlowFinding &F);
Diagnostic describeReferenceCycle(const FlowFinding &F);
Diagnostic describeScopeGranularity(const FlowFinding &F);
Diagnostic describeStaticDeviceTensor(const FlowFinding &F);
Diagnostic describeMissingNoGrad(const FlowFinding &F);
Diagnostic describeThreadWithoutScope(const FlowFinding &F);
Diagnostic describeUnbalancedSession(const FlowFinding &F);
Diagnostic describeUnboundedContainer(const FlowFinding &F);
Diagnostic describeUnretainedEscape(const FlowFinding &F);
Diagnostic describeUnscopedLoop(const FlowFinding &F);
Diagnostic describeUseAfterRelease(const FlowFinding &F);
Diagnostic describeViewKeepsStorage(const FlowFinding &F);

std::vector<FlowFinding> findBlobExtents(CheckInput &Input);
std::vector<FlowFinding> findDanglingBlobs(CheckInput &Input);
std::vector<FlowFinding> findDanglingDataPtrs(CheckInput &Input);
std::vector<FlowFinding> findStreamHazards(CheckInput &Input);
Diagnostic describeBlobExtent(const FlowFinding &F);
Diagnostic describeDanglingBlob(const FlowFinding &F);
Diagnostic describeDanglingDataPtr(const FlowFinding &F);
Diagnostic describeStreamHazard(const FlowFinding &F);

/// What a dangling finding says, for a check's words.
FlowFinding danglingFinding(const BorrowFinding &B);
std::vector<UnitFinding> findReferenceCycles(const UnitFacts &Facts,
                                             const clang::ASTContext &Ctx);
std::vector<UnitFinding> findSavedPointers(const UnitFacts &Facts,
                                           const clang::ASTContext &Ctx);
std::vector<UnitFinding> findStaticDeviceTensors(const UnitFacts &Facts,
                                                 const clang::ASTContext &Ctx);
std::vector<UnitFinding> findUnboundedContainers(const UnitFacts &Facts,
                                                 const clang::ASTContext &Ctx);
std::vector<UnitFinding> findViewsThatKeep(const UnitFacts &Facts,
                                           const clang::ASTContext &Ctx);

/// A diagnostic with the finding's place and confidence and a note for each
/// step; the caller adds rule, level and function.
Diagnostic makeDiagnostic(const FlowFinding &F, std::string Message);

/// The step "created here" for a storage, if its creation is known.
void addCreation(FlowFinding &F, const FunctionFacts &Facts, StorageID S);
/// Where a scope's end is, for the user: a call, or the end of its block.
clang::SourceLocation endLocation(const FunctionFacts &Facts, const Fact &End);
/// The step for what freed a storage.
void addEnd(FlowFinding &F, const FunctionFacts &Facts, const StorageStatus &S);
std::string calleeName(const Fact &F);
/// Where the user looks for what \p At does: the operator or the member name.
clang::SourceLocation locationOf(const clang::Stmt *At);

} // namespace tensorscope

#endif // TENSORSCOPE_CHECKS_CHECK_H
