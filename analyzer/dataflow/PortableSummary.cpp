// SPDX-License-Identifier: Apache-2.0
#include "dataflow/PortableSummary.h"

#include "utils/AstUtils.h"
#include "utils/DeclNames.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

/// Lists of paths, and flags, that both forms of a summary have: a line each.
template <class V> void forEachPathList(V &&Visit) {
  Visit(&Summary::MaybeReleased, &PortableSummary::MaybeReleased);
  Visit(&Summary::Retained, &PortableSummary::Retained);
  Visit(&Summary::Kept, &PortableSummary::Kept);
  Visit(&Summary::Used, &PortableSummary::Used);
}
template <class V> void forEachFlag(V &&Visit) {
  Visit(&Summary::MayEndScope, &PortableSummary::MayEndScope);
  Visit(&Summary::WorksInLoop, &PortableSummary::WorksInLoop);
  Visit(&Summary::CollectsGarbage, &PortableSummary::CollectsGarbage);
  Visit(&Summary::MakesInside, &PortableSummary::MakesInside);
}

/// A name inside a path, free of its separators.
std::string escape(llvm::StringRef Name) {
  std::string Text;
  for (char C : Name)
    if (C == '/' || C == '|' || C == '*' || C == '%')
      Text += "%" + llvm::utohexstr(static_cast<unsigned char>(C));
    else
      Text += C;
  return Text;
}

std::string unescape(llvm::StringRef Text) {
  std::string Name;
  for (size_t I = 0; I < Text.size(); ++I) {
    unsigned Code = 0;
    if (Text[I] == '%' && !Text.substr(I + 1, 2).getAsInteger(16, Code)) {
      Name += static_cast<char>(Code);
      I += 2;
    } else {
      Name += Text[I];
    }
  }
  return Name;
}

PortablePath exportPath(const Path &P) {
  std::string Text;
  switch (P.Root) {
  case PathRoot::Param:
    Text = std::to_string(P.Param);
    break;
  case PathRoot::This:
    Text = "this";
    break;
  case PathRoot::Result:
    Text = "result";
    break;
  case PathRoot::Global:
    Text = "global|" + escape(qualifiedName(P.Global)) + "|" +
           escape(usrOf(P.Global));
    break;
  }
  for (const PathStep &Step : P.Steps) {
    if (Step.Kind == PlaceKind::Field)
      Text += "/." + escape(Step.Field->getName()) + "|" +
              escape(qualifiedName(Step.Field->getParent())) + "|" +
              escape(usrOf(Step.Field));
    else if (Step.Kind == PlaceKind::Part)
      Text += "/#" + std::to_string(Step.Number);
    else
      Text += "/[]";
    if (Step.IsHandle)
      Text += "*";
  }
  return Text;
}

bool importRoot(llvm::StringRef Text, ASTContext &Ctx, Path &P) {
  if (Text == "this") {
    P.Root = PathRoot::This;
  } else if (Text == "result") {
    P.Root = PathRoot::Result;
  } else if (Text.consume_front("global|")) {
    auto [Name, Usr] = Text.split('|');
    P.Root = PathRoot::Global;
    P.Global = findVariable(Ctx, unescape(Name), unescape(Usr));
    return P.Global != nullptr;
  } else {
    P.Root = PathRoot::Param;
    return !Text.getAsInteger(10, P.Param);
  }
  return true;
}

bool importStep(llvm::StringRef Text, ASTContext &Ctx, Path &P) {
  PathStep Step;
  Step.IsHandle = Text.consume_back("*");
  if (Text.consume_front(".")) {
    auto [Name, Rest] = Text.split('|');
    auto [Class, Usr] = Rest.split('|');
    Step.Kind = PlaceKind::Field;
    Step.Field =
        findField(Ctx, unescape(Class), unescape(Name), unescape(Usr));
    if (!Step.Field)
      return false;
  } else if (Text.consume_front("#")) {
    Step.Kind = PlaceKind::Part;
    if (Text.getAsInteger(10, Step.Number))
      return false;
  } else {
    Step.Kind = PlaceKind::Element;
  }
  P.Steps.push_back(Step);
  return true;
}

/// Nothing: the unit that asks does not see what is named.
std::optional<Path> importPath(llvm::StringRef Text, ASTContext &Ctx) {
  Path P;
  llvm::SmallVector<llvm::StringRef, 4> Parts;
  Text.split(Parts, '/');
  if (!importRoot(Parts.front(), Ctx, P))
    return std::nullopt;
  for (llvm::StringRef Part : llvm::ArrayRef(Parts).drop_front())
    if (!importStep(Part, Ctx, P))
      return std::nullopt;
  return P;
}

std::vector<PortableStore> exportStores(llvm::ArrayRef<SummaryStore> Stores) {
  std::vector<PortableStore> Out;
  for (const SummaryStore &Store : Stores) {
    PortableStore To{exportPath(Store.To), Store.IsWeak, {}};
    for (const SummarySource &Source : Store.Sources)
      To.Sources.push_back({static_cast<unsigned>(Source.Kind),
                            Source.Kind == SourceKind::Interface
                                ? exportPath(Source.From)
                                : "",
                            Source.Index, Source.IsMadeInScope,
                            Source.IsRetained});
    Out.push_back(std::move(To));
  }
  return Out;
}

SummarySource importSource(const PortableSource &From, ASTContext &Ctx) {
  SummarySource Source;
  Source.Index = From.Index;
  Source.IsMadeInScope = From.IsMadeInScope;
  Source.IsRetained = From.IsRetained;
  Source.Kind = static_cast<SourceKind>(From.Kind);
  if (Source.Kind == SourceKind::Interface) {
    if (std::optional<Path> P = importPath(From.From, Ctx))
      Source.From = *P;
    else
      Source.Kind = SourceKind::Unknown;
  }
  return Source;
}

/// What goes to a place that can't be named is kept there.
void importStores(llvm::ArrayRef<PortableStore> Stores, ASTContext &Ctx,
                  std::vector<SummaryStore> &Out, std::vector<Path> &Kept) {
  for (const PortableStore &From : Stores) {
    SummaryStore Store;
    Store.IsWeak = From.IsWeak;
    for (const PortableSource &Source : From.Sources)
      Store.Sources.push_back(importSource(Source, Ctx));
    if (std::optional<Path> To = importPath(From.To, Ctx)) {
      Store.To = *To;
      Out.push_back(std::move(Store));
      continue;
    }
    for (const SummarySource &Source : Store.Sources)
      if (Source.Kind == SourceKind::Interface)
        Kept.push_back(Source.From);
  }
}

} // namespace

std::string portableName(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!F->isExternallyVisible() || F->isInlined() || F->isMain() ||
      F->isTemplateInstantiation() || F->isDependentContext() ||
      (Method && Method->getParent()->isLambda()))
    return "";
  return usrOf(F);
}

static std::vector<PortableForward> exportForwards(const Summary &S) {
  std::vector<PortableForward> Out;
  for (const SummaryForward &F : S.Forwards) {
    std::string Usr = usrOf(F.Callee);
    if (!Usr.empty())
      Out.push_back({std::move(Usr), exportPath(F.Own), exportPath(F.Theirs),
                     F.IsAlways, F.At});
  }
  return Out;
}

std::optional<PortableSummary> exportSummary(const Summary &S,
                                             const FunctionDecl *F) {
  PortableSummary P;
  P.Usr = portableName(F);
  if (P.Usr.empty())
    return std::nullopt;
  P.Signature = functionSignature(F);
  for (size_t I = 0; I < S.Released.size(); ++I)
    P.Released.push_back(
        {exportPath(S.Released[I]),
         I < S.ReleasedHow.size() ? S.ReleasedHow[I] : Trace()});
  forEachPathList([&](auto From, auto To) {
    for (const Path &Each : S.*From)
      (P.*To).push_back(exportPath(Each));
  });
  forEachFlag([&](auto From, auto To) { P.*To = S.*From; });
  P.Stores = exportStores(S.Stores);
  P.Result = exportStores(S.Result);
  P.Forwards = exportForwards(S);
  P.Sessions = static_cast<unsigned>(S.Sessions);
  if (S.Reference)
    P.Reference = exportPath(*S.Reference);
  return P;
}

Summary importSummary(const PortableSummary &P, ASTContext &Ctx) {
  Summary S;
  for (const PortableRelease &Each : P.Released)
    if (std::optional<Path> Of = importPath(Each.Of, Ctx)) {
      S.Released.push_back(*Of);
      S.ReleasedHow.push_back(Each.How);
      for (TraceStep &Step : S.ReleasedHow.back())
        Step.IsElsewhere = true;
    }
  forEachPathList([&](auto To, auto From) {
    for (const PortablePath &Each : P.*From)
      if (std::optional<Path> Named = importPath(Each, Ctx))
        (S.*To).push_back(*Named);
  });
  forEachFlag([&](auto To, auto From) { S.*To = P.*From; });
  importStores(P.Stores, Ctx, S.Stores, S.Kept);
  importStores(P.Result, Ctx, S.Result, S.Kept);
  S.Sessions = static_cast<SessionEffect>(P.Sessions);
  if (P.Reference)
    S.Reference = importPath(*P.Reference, Ctx);
  return S;
}

bool mattersToCallers(const PortableSummary &P) {
  auto HasScopeResult = [](const PortableStore &Store) {
    return llvm::any_of(Store.Sources, [](const PortableSource &Source) {
      return Source.Kind == static_cast<unsigned>(SourceKind::ScopeResult);
    });
  };
  // Nearly every function makes or stores something: that alone is not worth
  // parsing its callers' files twice.
  return !P.Released.empty() || !P.Retained.empty() || P.CollectsGarbage ||
         P.Sessions != static_cast<unsigned>(SessionEffect::None) ||
         llvm::any_of(P.Result, HasScopeResult);
}

} // namespace tensorscope
