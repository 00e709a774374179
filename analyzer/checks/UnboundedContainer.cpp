// SPDX-License-Identifier: Apache-2.0
//
// Finds long-lived containers of tensors that only grow.
// User page: docs/checks/unbounded-container.md
#include "checks/Check.h"

#include "dataflow/UnitFacts.h"
#include "utils/AstUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

/// Each function of the class is in sight, and nobody else reaches \p Field.
bool isInSight(const FieldDecl *Field, const SourceManager &SM) {
  const auto *Class = dyn_cast<CXXRecordDecl>(Field->getParent());
  if (!Class || isLibraryDecl(Class, SM))
    return false;
  bool IsReachable = Field->getAccess() == AS_public || Class->hasFriends();
  if (IsReachable && !SM.isInMainFile(SM.getExpansionLoc(Class->getLocation())))
    return false;
  return llvm::all_of(Class->methods(), [](const CXXMethodDecl *M) {
    return M->isImplicit() || M->isDefaulted() || M->isDeleted() ||
           M->isPureVirtual() || M->isDefined();
  });
}

/// A function that does nothing but add: what it is called for is its callers'
/// affair.
bool onlyAdds(const FunctionDecl *F) {
  const auto *Body = dyn_cast_or_null<CompoundStmt>(F->getBody());
  return Body && Body->size() == 1 && isa<Expr>(Body->body_front());
}

bool mayGrowForEver(const ContainerGrowth &G, const UnitFacts &Facts,
                    const SourceManager &SM) {
  if (Facts.Bounded.contains(G.Container) ||
      Facts.Emptied.contains(G.Container))
    return false;
  if (const auto *Field = dyn_cast<FieldDecl>(G.Container)) {
    const auto *Method = dyn_cast<CXXMethodDecl>(G.In);
    return isInSight(Field, SM) && (G.IsInHook || (Method && !onlyAdds(G.In)));
  }
  const auto *V = cast<VarDecl>(G.Container);
  if (V->hasGlobalStorage())
    // What other files may empty is theirs.
    return !V->hasExternalFormalLinkage() ||
           SM.isInMainFile(SM.getExpansionLoc(V->getLocation()));
  return G.IsInHook && V->getDeclContext() != cast<DeclContext>(G.In);
}

} // namespace

std::vector<UnitFinding> findUnboundedContainers(const UnitFacts &Facts,
                                                 const ASTContext &Ctx) {
  std::vector<UnitFinding> Findings;
  std::set<const ValueDecl *> Seen;
  for (const ContainerGrowth &G : Facts.Growths) {
    if (!mayGrowForEver(G, Facts, Ctx.getSourceManager()) ||
        !Seen.insert(G.Container).second)
      continue;
    FlowFinding F;
    F.Loc = locationOf(G.At);
    F.Subject = G.Container->getNameAsString();
    F.Remedy = G.IsInHook       ? "each time the hook runs"
               : G.In->isMain() ? "each time this loop goes round"
               : G.In->getDeclName().isIdentifier()
                   ? "each time '" + G.In->getNameAsString() + "' runs"
                   : "each time this runs";
    F.Steps.push_back({FlowStepKind::Declared, G.Container->getLocation(), ""});
    Findings.push_back({std::move(F), G.In});
  }
  return Findings;
}

Diagnostic describeUnboundedContainer(const FlowFinding &F) {
  return makeDiagnostic(
      F, "'" + F.Subject + "' grows " + F.Remedy +
             ", and nothing in this file takes a tensor out of it; limit its "
             "size, or empty it when its tensors have been used");
}

} // namespace tensorscope
