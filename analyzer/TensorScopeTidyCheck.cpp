// SPDX-License-Identifier: Apache-2.0
//
// From the analyzer's diagnostics to clang-tidy's, with options and sharing.
#include "TensorScopeTidyCheck.h"
#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "model/ModelSet.h"
#include "clang/ASTMatchers/ASTMatchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace clang::ast_matchers;

namespace clang::tidy {

template <> struct OptionEnumMapping<tensorscope::ScopesMode> {
  static llvm::ArrayRef<std::pair<tensorscope::ScopesMode, llvm::StringRef>>
  getEnumMapping() {
    static constexpr std::pair<tensorscope::ScopesMode, llvm::StringRef>
        Mapping[] = {{tensorscope::ScopesMode::Auto, "auto"},
                     {tensorscope::ScopesMode::Required, "required"},
                     {tensorscope::ScopesMode::Off, "off"}};
    return llvm::ArrayRef(Mapping);
  }
};

} // namespace clang::tidy

namespace tensorscope {

/// The built-in models and the user's; a file that cannot be used is named in
/// \p Problem and left out.
static ModelSet
loadModels(llvm::ArrayRef<std::string> Files,
           const std::function<void(llvm::StringRef)> &Problem) {
  ModelSet Models = ModelSet::builtin();
  for (const std::string &File : Files) {
    auto Text = llvm::MemoryBuffer::getFile(File, /*IsText=*/true);
    if (!Text) {
      Problem(File + ": " + Text.getError().message());
      continue;
    }
    if (llvm::Error Failure = Models.add((*Text)->getBuffer(), File))
      Problem(llvm::toString(std::move(Failure)));
  }
  return Models;
}

const AnalyzerResult &
SharedAnalysis::resultFor(clang::ASTContext &Context,
                          const std::function<bool(llvm::StringRef)> &Enabled,
                          const std::function<void(llvm::StringRef)> &Problem) {
  if (!Result) {
    ModelSet Models = loadModels(ModelFiles, Problem);
    Result = analyzeTranslationUnit(Context, Models, Options, Enabled);
  }
  return *Result;
}

std::shared_ptr<SharedAnalysis>
SharedAnalyses::forContext(const clang::tidy::ClangTidyContext *Context) {
  std::lock_guard<std::mutex> Lock(Guard);
  for (auto It = ByContext.begin(); It != ByContext.end();)
    It = It->second.expired() ? ByContext.erase(It) : std::next(It);
  std::weak_ptr<SharedAnalysis> &Slot = ByContext[Context];
  std::shared_ptr<SharedAnalysis> Analysis = Slot.lock();
  if (!Analysis)
    Slot = Analysis = std::make_shared<SharedAnalysis>();
  return Analysis;
}

TensorScopeTidyCheck::TensorScopeTidyCheck(
    llvm::StringRef Name, clang::tidy::ClangTidyContext *Context,
    llvm::StringRef Rule, std::shared_ptr<SharedAnalysis> SharedByAll)
    : ClangTidyCheck(Name, Context), TidyContext(*Context), Rule(Rule.str()),
      Analysis(std::move(SharedByAll)),
      Scopes(Options.getLocalOrGlobal("Scopes", ScopesMode::Auto)),
      SmallLoopBound(Options.getLocalOrGlobal(
          "SmallLoopBound", AnalyzerOptions().SmallLoopBound)),
      Advice(Options.getLocalOrGlobal("Advice", "false") == "true"),
      Models(Options.getLocalOrGlobal("Models", "").str()) {
  if (ownsLoopOptions()) {
    Analysis->Options.Scopes = Scopes;
    Analysis->Options.SmallLoopBound = SmallLoopBound;
  }
  llvm::SmallVector<llvm::StringRef> Files;
  llvm::StringRef(Models).split(Files, ';', /*MaxSplit=*/-1,
                                /*KeepEmpty=*/false);
  for (llvm::StringRef File : Files)
    if (!llvm::is_contained(Analysis->ModelFiles, File.trim()))
      Analysis->ModelFiles.push_back(File.trim().str());
}

void TensorScopeTidyCheck::storeOptions(
    clang::tidy::ClangTidyOptions::OptionMap &Opts) {
  if (ownsLoopOptions()) {
    Options.store(Opts, "Scopes", Scopes);
    Options.store(Opts, "SmallLoopBound", SmallLoopBound);
  }
  if (ownsAdvice())
    Options.store(Opts, "Advice", Advice ? "true" : "false");
  Options.store(Opts, "Models", Models);
}

void TensorScopeTidyCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(translationUnitDecl().bind("unit"), this);
}

/// clangd has the checks look at the declarations of the open file alone.
static bool isInEditor(const clang::ASTContext &Context) {
  auto Scope = Context.getTraversalScope();
  return Scope.size() != 1 ||
         !llvm::isa<clang::TranslationUnitDecl>(Scope.front());
}

void TensorScopeTidyCheck::check(const MatchFinder::MatchResult &Result) {
  auto IsEnabled = [this](llvm::StringRef Other) {
    return TidyContext.isCheckEnabled(("tensorscope-" + Other).str());
  };
  auto Problem = [&](llvm::StringRef Line) {
    // An editor shows nothing that has no place: there it is the first line.
    if (isInEditor(*Result.Context))
      diag(Result.SourceManager->getLocForStartOfFile(
               Result.SourceManager->getMainFileID()),
           "%0")
          << Line;
    else
      configurationDiag("%0") << Line;
  };
  for (const Diagnostic &Found :
       Analysis->resultFor(*Result.Context, IsEnabled, Problem).Diagnostics)
    if (Found.Rule == Rule && (Advice || !ownsAdvice() || Found.Level < 2))
      report(Found);
}

void TensorScopeTidyCheck::report(const Diagnostic &Found) {
  {
    auto Builder = diag(Found.Loc, "%0") << Found.Message;
    for (const FixEdit &Edit : Found.Fixes)
      Builder << clang::FixItHint::CreateReplacement(Edit.Range, Edit.Text);
  }
  for (const Note &Step : Found.Notes)
    diag(Step.Loc, "%0", clang::DiagnosticIDs::Note) << Step.Message;
}

void TensorScopeTidyCheck::onEndOfTranslationUnit() {
  Analysis->endTranslationUnit();
}

} // namespace tensorscope
