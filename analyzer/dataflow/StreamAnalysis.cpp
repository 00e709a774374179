// SPDX-License-Identifier: Apache-2.0
#include "dataflow/StreamAnalysis.h"

#include "utils/AstUtils.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace tensorscope {
namespace {

/// What the text of a body has to do with streams.
class StreamMentions : public RecursiveASTVisitor<StreamMentions> {
public:
  explicit StreamMentions(UnitContext &Unit) : Unit(Unit) {}
  bool shouldVisitImplicitCode() const { return true; }

  bool VisitVarDecl(VarDecl *V) {
    if (const CXXRecordDecl *RD = V->getType()->getAsCXXRecordDecl())
      note(Unit.Api.streams(RD).Role);
    return true;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *E) {
    note(Unit.Api.streams(E->getConstructor()->getParent()).Role);
    return true;
  }
  bool VisitCallExpr(CallExpr *E) {
    const FunctionDecl *F = E->getDirectCallee();
    if (!F) {
      Found |= WaitsForStreams;
      return true;
    }
    StreamRole Role = Unit.Api.streams(F).Role;
    note(Role);
    if (Role == StreamRole::Copy)
      noteCopy(E, F);
    bool IsUnknown =
        !definitionOf(F) && !isLibraryDecl(F, Unit.Ctx.getSourceManager());
    if (IsUnknown && Role == StreamRole::Other && !Unit.Api.find(F))
      Found |= WaitsForStreams;
    return true;
  }

  unsigned Found = 0;

private:
  void note(StreamRole Role) {
    switch (Role) {
    case StreamRole::Guard:
    case StreamRole::Switch:
    case StreamRole::Exchange:
      Found |= GivesWorkAside;
      break;
    case StreamRole::WaitForAll:
    case StreamRole::WaitForStream:
    case StreamRole::WaitForValue:
    case StreamRole::Order:
    case StreamRole::MayWait:
    case StreamRole::Record:
    case StreamRole::WriteMemory:
      Found |= WaitsForStreams;
      break;
    default:
      break;
    }
  }
  void noteCopy(const CallExpr *E, const FunctionDecl *F) {
    unsigned Offset = E->getNumArgs() > F->getNumParams() ? 1 : 0;
    for (unsigned I = 0; I < F->getNumParams(); ++I)
      if (F->getParamDecl(I)->getName() == "non_blocking" &&
          I + Offset < E->getNumArgs() &&
          !isa<CXXDefaultArgExpr>(E->getArg(I + Offset)))
        Found |= GivesWorkAside;
  }

  UnitContext &Unit;
};

} // namespace

unsigned streamsIn(const FunctionDecl *F, UnitContext &Unit) {
  F = F ? definitionOf(F) : nullptr;
  if (!F || isLibraryDecl(F, Unit.Ctx.getSourceManager()))
    return 0;
  auto [It, IsNew] = Unit.StreamsIn.try_emplace(F, 0);
  if (!IsNew)
    return It->second; // a cycle of callers adds nothing
  const BodyIndex &Body = Unit.body(F);
  unsigned Found = 0;
  if (!Body.HasErrors) {
    StreamMentions Mentions(Unit);
    Mentions.TraverseDecl(const_cast<FunctionDecl *>(F));
    Found = Mentions.Found;
    for (const FunctionDecl *Callee : Body.Callees)
      Found |= streamsIn(Callee, Unit);
  }
  return Unit.StreamsIn[F] = Found;
}

static std::string calleeOf(const Expr *Through) {
  const auto *Call = dyn_cast_or_null<CallExpr>(Through);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  return F ? F->getNameAsString() : "";
}

std::vector<StreamReport> StreamAnalysis::findings(const FunctionDecl *F) {
  std::vector<StreamReport> Reports;
  if (!(streamsIn(F, Unit) & GivesWorkAside))
    return Reports;
  FunctionFacts Facts = generateStreamFacts(F, Unit);
  StorageFlow Storages(Facts, StepLimit);
  if (Facts.Streams.size() == 1 || !Storages.run())
    return Reports;
  GradientFlow Gradients(Facts, Unit.Parameters, StepLimit);
  bool HasGradients = Gradients.run();
  StreamFlow Flow(Storages, HasGradients ? &Gradients : nullptr, Unit.Types,
                  StepLimit);
  for (const StreamFinding &Found : Flow.findings()) {
    const StreamEvent &Work = Facts.Streams[Found.Work->Event];
    bool IsStream = Found.At->Kind == FactKind::Stream;
    const Expr *Through =
        IsStream ? Facts.Streams[Found.At->Event].Through : nullptr;
    if (!Told.insert({Found.At->At, Found.Work->At}).second)
      continue;
    StreamReport R;
    R.Kind = Found.Kind;
    R.Name = Found.Name;
    R.Stream = Found.Stream ? Found.Stream->getNameAsString() : "";
    R.At = Through ? Through : Found.At->At;
    R.Work = Work.Through ? Work.Through : Found.Work->At;
    R.Origin = Found.Origin;
    R.Through = calleeOf(Through);
    R.WorkThrough = calleeOf(Work.Through);
    if (!Work.Through) {
      R.Tensor = Found.Variable;
      R.StreamVariable = Found.Stream;
    }
    Reports.push_back(std::move(R));
  }
  return Reports;
}

} // namespace tensorscope
