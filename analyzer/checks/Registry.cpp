// SPDX-License-Identifier: Apache-2.0
//
// The table of checks, and what their findings and words have in common.
#include "checks/Check.h"

#include "utils/DeclNames.h"

#include "clang/AST/Expr.h"

using namespace clang;

namespace tensorscope {

llvm::ArrayRef<Check> checkTable() {
  static constexpr Check Table[] = {
      {{"blob-extent", 0,
        "Finds tensors over memory that is smaller than they are, or that "
        "holds values of another type."},
       findBlobExtents, describeBlobExtent},
      {{"contradicted-model", 1,
        "Finds functions whose bodies do not do what a model or an annotation "
        "says of them."},
       findContradictedModel, describeContradictedModel},
      {{"dangling-blob", 0,
        "Finds tensors over memory that ends before they do."},
       findDanglingBlobs, describeDanglingBlob},
      {{"dangling-data-ptr", 0,
        "Finds pointers, accessors and array references that outlive what they "
        "point into."},
       findDanglingDataPtrs, describeDanglingDataPtr},
      {{"discarded-scope-result", 0,
        "Finds scopes whose result carries tensors that nobody takes."},
       findDiscardedScopeResults, describeDiscardedScopeResult},
      {{"gc-in-loop", 1,
        "Finds calls that empty a memory cache in each iteration of a loop."},
       findCollectionsInLoops, describeCollectionInLoop},
      {{"graph-retention", 0,
        "Finds autograd graphs that are kept, and grow, in loops."},
       findGraphRetentions, describeGraphRetention},
      {{"long-lived-in-scope", 1,
        "Finds models, optimizers, data sets and data loaders that are made in "
        "the scope of an iteration."},
       findLongLivedInScopes, describeLongLivedInScope},
      {{"missing-no-grad", 1,
        "Finds evaluation that records graphs which nothing walks back."},
       findMissingNoGrads, describeMissingNoGrad},
      {{"raw-handle-leak", 0,
        "Finds raw pointers that own tensors and are lost, freed twice, or "
        "used after they were freed."},
       findRawHandleLeaks, describeRawHandleLeak, findSavedPointers},
      {{"reference-cycle", 1,
        "Finds hooks, callbacks and saved outputs that own the tensor or the "
        "module that owns them."},
       /*Find=*/nullptr, describeReferenceCycle, findReferenceCycles},
      {{"scope-granularity", 2,
        "Finds scopes around single operators, and scopes around whole loops."},
       findScopesOfWrongSize, describeScopeGranularity},
      {{"static-device-tensor", 1,
        "Finds tensors that may be on a device and are destroyed when the "
        "program ends."},
       /*Find=*/nullptr, describeStaticDeviceTensor, findStaticDeviceTensors},
      {{"stream-hazard", 2,
        "Finds tensors that are dropped, and pinned memory that is written, "
        "while a stream may still use them."},
       findStreamHazards, describeStreamHazard},
      {{"thread-without-scope", 1,
        "Finds threads that work without a scope where the code uses scopes."},
       findThreadsWithoutScope, describeThreadWithoutScope},
      {{"unbalanced-session", 1,
        "Finds sessions that are not stopped where they were started, on every "
        "path."},
       findUnbalancedSessions, describeUnbalancedSession},
      {{"unbounded-container", 2,
        "Finds long-lived containers of tensors that only grow."},
       /*Find=*/nullptr, describeUnboundedContainer, findUnboundedContainers},
      {{"unretained-escape", 0,
        "Finds tensors stored where they outlive the scope that releases "
        "them."},
       findUnretainedEscapes, describeUnretainedEscape},
      {{"unscoped-loop", 1,
        "Finds loops that create tensors with no scope open."},
       findUnscopedLoops, describeUnscopedLoop},
      {{"use-after-release", 0,
        "Finds uses of a tensor after it was released or its scope ended."},
       findUsesAfterRelease, describeUseAfterRelease},
      {{"view-keeps-storage", 2,
        "Finds small views that are kept and keep a big storage alive."},
       /*Find=*/nullptr, describeViewKeepsStorage, findViewsThatKeep},
  };
  return Table;
}

llvm::ArrayRef<CheckInfo> allChecks() {
  static const std::vector<CheckInfo> Infos = [] {
    std::vector<CheckInfo> Result;
    for (const Check &C : checkTable())
      Result.push_back(C.Info);
    return Result;
  }();
  return Infos;
}

static std::string noteText(const FlowStep &S) {
  std::string Through =
      S.Through.empty() ? "" : ", through '" + S.Through + "'";
  switch (S.Kind) {
  case FlowStepKind::Created:
    return "created here" + Through;
  case FlowStepKind::Released:
    return "released here" + Through;
  case FlowStepKind::ScopeBegan:
    return "scope begins here";
  case FlowStepKind::ScopeEnded:
    return "scope ends here";
  case FlowStepKind::SessionEnded:
    return "session ends here";
  case FlowStepKind::Stored:
    return "stored here" + Through;
  case FlowStepKind::LoopBegan:
    return "the loop begins here";
  case FlowStepKind::SessionBegan:
    return "the session that is still open starts here";
  case FlowStepKind::Left:
    return "left open here";
  case FlowStepKind::Thrown:
    return "thrown here";
  case FlowStepKind::StoppedElsewhere:
    return "stopped here, on another thread";

  case FlowStepKind::Borrowed:
    return "borrowed here" + Through;
  case FlowStepKind::Viewed:
    return "viewed here" + Through;
  case FlowStepKind::Destroyed:
    return "destroyed here";
  case FlowStepKind::StatementEnded:
    return "the temporary ends with this statement";
  case FlowStepKind::Freed:
    return "freed here" + Through;
  case FlowStepKind::Reallocated:
    return "reallocated here" + Through;
  case FlowStepKind::Resized:
    return "resized here" + Through;
  case FlowStepKind::Rebound:
    return "given another tensor here";
  case FlowStepKind::Used:
    return "used here";
  case FlowStepKind::Returned:
    return "returned here";
  case FlowStepKind::Declared:
    return "declared here";
  case FlowStepKind::Acquired:
    return "made here";
  case FlowStepKind::Lost:
    return "lost here";
  case FlowStepKind::Overwritten:
    return "the last pointer to it is set here";
  case FlowStepKind::MayThrow:
    return "lost where this throws";
  case FlowStepKind::GivenBack:
    return "freed here" + Through;
  case FlowStepKind::GraphMade:
    return "the graph is made here";
  case FlowStepKind::WalkedBack:
    return "backward has walked it here";
  case FlowStepKind::AddedThere:
    return "added here" + Through;
  case FlowStepKind::ThreadStarted:
    return "the thread is started here";
  case FlowStepKind::CalledInLoop:
    return "called in a loop here";
  case FlowStepKind::WorkBegan:
    return "the work begins here" + Through;
  case FlowStepKind::CopyBegan:
    return "the copy begins here" + Through;
  case FlowStepKind::WrittenThere:
    return "written here" + Through;
  }
  return "";
}

Diagnostic makeDiagnostic(const FlowFinding &F, std::string Message) {
  Diagnostic D;
  D.Loc = F.Loc;
  D.Conf = F.IsMaybe ? Confidence::Maybe : Confidence::Definite;
  D.Message = std::move(Message);
  for (const FlowStep &S : F.Steps)
    D.Notes.push_back({S.Loc, noteText(S)});
  for (const FlowEdit &Edit : F.Edits)
    D.Fixes.push_back({Edit.Range, Edit.Text});
  return D;
}

SourceLocation locationOf(const Stmt *At) {
  // What leaves a block does so at its end.
  if (isa<CompoundStmt>(At))
    return At->getEndLoc();
  const auto *E = dyn_cast<Expr>(At);
  return E ? E->getExprLoc() : At->getBeginLoc();
}

std::string calleeName(const Fact &F) {
  return F.Callee ? F.Callee->getNameAsString() : "";
}

void addCreation(FlowFinding &F, const FunctionFacts &Facts, StorageID S) {
  if (const Stmt *Origin = Facts.Storages[S].Origin;
      Origin && Facts.Storages.isCreated(S))
    F.Steps.push_back({FlowStepKind::Created, locationOf(Origin), ""});
}

SourceLocation endLocation(const FunctionFacts &Facts, const Fact &End) {
  SourceLocation EndOfBlock = Facts.Scopes[End.Scope].EndLoc;
  bool IsByCall = End.Kind == FactKind::ScopeEnd && End.Value;
  return IsByCall || EndOfBlock.isInvalid() ? locationOf(End.At) : EndOfBlock;
}

/// The steps that lie in files of which this unit has no body.
static void addTrace(FlowFinding &F, const FunctionFacts &Facts,
                     const Fact &Release) {
  if (!Release.How)
    return;
  SourceManager &SM =
      Facts.Function->getASTContext().getSourceManager();
  for (const TraceStep &Step : *Release.How)
    if (Step.IsElsewhere)
      if (SourceLocation Loc =
              locationIn(SM, Step.File, Step.Line, Step.Column);
          Loc.isValid())
        F.Steps.push_back({FlowStepKind::Released, Loc, Step.Through});
}

void addEnd(FlowFinding &F, const FunctionFacts &Facts, const StorageStatus &S) {
  if (!S.Where)
    return;
  if (S.How == Life::Released) {
    F.Steps.push_back(
        {FlowStepKind::Released, locationOf(S.Where->At), calleeName(*S.Where)});
    addTrace(F, Facts, *S.Where);
    return;
  }
  bool IsSession = S.Where->Scope == NoScope ||
                   Facts.Scopes[S.Where->Scope].Form == ScopeForm::Session;
  F.Steps.push_back(
      {IsSession ? FlowStepKind::SessionEnded : FlowStepKind::ScopeEnded,
       endLocation(Facts, *S.Where), ""});
}

} // namespace tensorscope
