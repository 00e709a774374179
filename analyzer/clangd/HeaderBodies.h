// SPDX-License-Identifier: Apache-2.0
//
// Lets clangd read what the functions of the project's headers do. In front of
// clangd's own part in the parsing of a file's headers.
#ifndef TENSORSCOPE_CLANGD_HEADERBODIES_H
#define TENSORSCOPE_CLANGD_HEADERBODIES_H

#include "clang/AST/Decl.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/PrecompiledPreamble.h"
#include "clang/Lex/PPCallbacks.h"
#include "llvm/ADT/DenseSet.h"

namespace tensorscope {

/// Which bodies are parsed.
///
/// clangd skips the bodies of functions in headers to save time. The analysis
/// follows calls into them, so in a file that sees LibTorch those outside
/// libraries are parsed; of LibTorch and the standard library none is.
class HeaderBodies : public clang::PreambleCallbacks {
public:
  explicit HeaderBodies(clang::PreambleCallbacks &Real) : Real(Real) {}

  /// The parser is in a body that clangd by itself would not have parsed.
  bool isInParsedBody() const;

  void BeforeExecute(clang::CompilerInstance &Started) override;
  void AfterExecute(clang::CompilerInstance &Ended) override;
  void AfterPCHEmitted(clang::ASTWriter &Writer) override;
  void HandleTopLevelDecl(clang::DeclGroupRef Group) override;
  std::unique_ptr<clang::PPCallbacks> createPPCallbacks() override;
  clang::CommentHandler *getCommentHandler() override;
  bool shouldSkipFunctionBody(clang::Decl *D) override;

private:
  clang::PreambleCallbacks &Real;
  clang::CompilerInstance *Compiler = nullptr;
  llvm::DenseSet<const clang::FunctionDecl *> Parsed;
};

/// Keeps back what Clang says of those bodies: the user of clangd is told of an
/// error there when the header is open. It does not count as an error either.
class HeaderDiagnostics : public clang::DiagnosticConsumer {
public:
  /// In place of the engine's consumer while it lives.
  HeaderDiagnostics(clang::DiagnosticsEngine &Engine,
                    const HeaderBodies &Bodies);
  ~HeaderDiagnostics() override;

  void clear() override;
  void BeginSourceFile(const clang::LangOptions &Options,
                       const clang::Preprocessor *PP) override;
  void EndSourceFile() override;
  void finish() override;
  bool IncludeInDiagnosticCounts() const override;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &Said) override;

private:
  clang::DiagnosticsEngine &Engine;
  const HeaderBodies &Bodies;
  clang::DiagnosticConsumer *Real;
  std::unique_ptr<clang::DiagnosticConsumer> Owned;
  /// Notes belong to what was said before them.
  bool IsKeepingBack = false;
};

} // namespace tensorscope

#endif // TENSORSCOPE_CLANGD_HEADERBODIES_H
