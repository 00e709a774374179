// SPDX-License-Identifier: Apache-2.0
#include "clangd/HeaderBodies.h"

#include "checks/Analyzer.h"
#include "utils/AstUtils.h"
#include "clang/AST/ASTContext.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Sema/Sema.h"

using namespace clang;

namespace tensorscope {

bool HeaderBodies::isInParsedBody() const {
  if (!Compiler || !Compiler->hasSema())
    return false;
  for (const DeclContext *C = Compiler->getSema().CurContext; C;
       C = C->getParent()) {
    const auto *F = dyn_cast<FunctionDecl>(C);
    if (!F)
      continue;
    const FunctionDecl *Pattern = F->getTemplateInstantiationPattern();
    if (Parsed.contains(F) || (Pattern && Parsed.contains(Pattern)))
      return true;
  }
  return false;
}

bool HeaderBodies::shouldSkipFunctionBody(Decl *D) {
  if (!Real.shouldSkipFunctionBody(D))
    return false;
  ASTContext &Ctx = D->getASTContext();
  const FunctionDecl *F = D->getAsFunction();
  if (!F || isLibraryDecl(F, Ctx.getSourceManager()) || !isAnalyzed(Ctx))
    return true;
  Parsed.insert(F);
  return false;
}

void HeaderBodies::BeforeExecute(CompilerInstance &Started) {
  Compiler = &Started;
  Real.BeforeExecute(Started);
}

void HeaderBodies::AfterExecute(CompilerInstance &Ended) {
  Real.AfterExecute(Ended);
  Compiler = nullptr;
}

void HeaderBodies::AfterPCHEmitted(ASTWriter &Writer) {
  Real.AfterPCHEmitted(Writer);
}

void HeaderBodies::HandleTopLevelDecl(DeclGroupRef Group) {
  Real.HandleTopLevelDecl(Group);
}

std::unique_ptr<PPCallbacks> HeaderBodies::createPPCallbacks() {
  return Real.createPPCallbacks();
}

CommentHandler *HeaderBodies::getCommentHandler() {
  return Real.getCommentHandler();
}

HeaderDiagnostics::HeaderDiagnostics(DiagnosticsEngine &Engine,
                                     const HeaderBodies &Bodies)
    : Engine(Engine), Bodies(Bodies), Real(Engine.getClient()),
      Owned(Engine.takeClient()) {
  Engine.setClient(this, /*ShouldOwnClient=*/false);
}

HeaderDiagnostics::~HeaderDiagnostics() {
  bool WasOwner = Owned != nullptr;
  Engine.setClient(WasOwner ? Owned.release() : Real, WasOwner);
}

void HeaderDiagnostics::clear() {
  DiagnosticConsumer::clear();
  Real->clear();
}

void HeaderDiagnostics::BeginSourceFile(const LangOptions &Options,
                                        const Preprocessor *PP) {
  Real->BeginSourceFile(Options, PP);
}

void HeaderDiagnostics::EndSourceFile() { Real->EndSourceFile(); }

void HeaderDiagnostics::finish() { Real->finish(); }

bool HeaderDiagnostics::IncludeInDiagnosticCounts() const {
  return !Bodies.isInParsedBody() && Real->IncludeInDiagnosticCounts();
}

void HeaderDiagnostics::HandleDiagnostic(DiagnosticsEngine::Level Level,
                                         const clang::Diagnostic &Said) {
  // A fatal error ends the parsing: without it nothing that follows is seen.
  if (Level != DiagnosticsEngine::Note)
    IsKeepingBack =
        Level != DiagnosticsEngine::Fatal && Bodies.isInParsedBody();
  if (!IsKeepingBack)
    Real->HandleDiagnostic(Level, Said);
}

} // namespace tensorscope
