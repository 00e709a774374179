// SPDX-License-Identifier: Apache-2.0
//
// Finds tensors that are dropped, and pinned memory that is written, while a
// stream may still use them.
// User page: docs/checks/stream-hazard.md
#include "checks/Check.h"

#include "clang/AST/ParentMapContext.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace tensorscope {

/// Puts `x.record_stream(side);` on a line of its own before the statement in
/// which the work begins.
static void addRecord(FlowFinding &F, const StreamReport &R, ASTContext &Ctx) {
  const auto *Tensor = dyn_cast_or_null<VarDecl>(R.Tensor);
  const auto *Stream = dyn_cast_or_null<VarDecl>(R.StreamVariable);
  bool AreNamed = Tensor && Stream && Tensor->hasLocalStorage() &&
                  Stream->hasLocalStorage() &&
                  !Stream->getType().getNonReferenceType()->isPointerType() &&
                  Tensor->getType().getNonReferenceType()->isRecordType();
  if (!AreNamed || R.Name != Tensor->getNameAsString())
    return;
  const Stmt *Statement = R.Work;
  while (true) {
    DynTypedNodeList Parents = Ctx.getParents(*Statement);
    if (Parents.size() != 1)
      return;
    if (Parents[0].get<CompoundStmt>())
      break;
    if (const auto *Parent = Parents[0].get<Stmt>())
      Statement = Parent;
    else if (const auto *V = Parents[0].get<VarDecl>()) {
      DynTypedNodeList Around = Ctx.getParents(*V);
      const Stmt *Declaration =
          Around.size() == 1 ? Around[0].get<DeclStmt>() : nullptr;
      if (!Declaration)
        return;
      Statement = Declaration;
    } else {
      return;
    }
  }
  SourceLocation Begin = Statement->getBeginLoc();
  if (Begin.isInvalid() || Begin.isMacroID())
    return;
  std::string Indent =
      Lexer::getIndentationForLine(Begin, Ctx.getSourceManager()).str();
  F.Edits.push_back({CharSourceRange::getCharRange(Begin, Begin),
                     R.Name + ".record_stream(" + R.Stream + ");\n" + Indent});
}

std::vector<FlowFinding> findStreamHazards(CheckInput &Input) {
  std::vector<FlowFinding> Findings;
  for (const StreamReport &R : Input.Streams()) {
    bool IsDropped = R.Kind == StreamHazard::Dropped;
    FlowFinding F;
    F.Form = static_cast<unsigned>(R.Kind);
    F.Loc = locationOf(R.At);
    F.Subject = R.Name;
    F.Holder = R.Stream;
    if (R.Origin)
      F.Steps.push_back({FlowStepKind::Created, locationOf(R.Origin), ""});
    F.Steps.push_back(
        {IsDropped ? FlowStepKind::WorkBegan : FlowStepKind::CopyBegan,
         locationOf(R.Work), R.WorkThrough});
    if (!R.Through.empty())
      F.Steps.push_back(
          {IsDropped ? FlowStepKind::Destroyed : FlowStepKind::WrittenThere,
           F.Loc, R.Through});
    if (IsDropped)
      addRecord(F, R, const_cast<ASTContext &>(Input.Ctx));
    Findings.push_back(std::move(F));
  }
  return Findings;
}

Diagnostic describeStreamHazard(const FlowFinding &F) {
  std::string Name = F.Subject.empty() ? "" : "'" + F.Subject + "'";
  if (F.Form == static_cast<unsigned>(StreamHazard::Written))
    return makeDiagnostic(
        F, (Name.empty() ? "pinned memory" : Name) +
               " is written while a non_blocking copy from it is pending; wait "
               "for the copy, or use another buffer");
  // What has a name can be called by it.
  bool AreNamed = !F.Holder.empty() && !F.Subject.empty() &&
                  F.Subject.find('[') == std::string::npos;
  std::string Call = AreNamed ? F.Subject + ".record_stream(" + F.Holder + ")"
                     : F.Holder.empty()
                         ? std::string("record_stream on it")
                         : "record_stream(" + F.Holder + ") on it";
  return makeDiagnostic(
      F, (Name.empty() ? "a tensor" : Name) +
             " is dropped here while work on " +
             (F.Holder.empty() ? "another stream" : "'" + F.Holder + "'") +
             " may read it; call " + Call);
}

} // namespace tensorscope
