// SPDX-License-Identifier: Apache-2.0
//
// The bridge from clang-tidy to the analyzer: one clang-tidy check per rule,
// all of them fed by one analysis of the translation unit. Made by the module.
#ifndef TENSORSCOPE_TENSORSCOPETIDYCHECK_H
#define TENSORSCOPE_TENSORSCOPETIDYCHECK_H

#include "checks/Analyzer.h"
#include "clang-tidy/ClangTidyCheck.h"
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tensorscope {

/// The analysis that the checks of one clang-tidy context share. It is computed
/// by whichever check is asked first and used by one thread only.
class SharedAnalysis {
public:
  /// Set by the checks that own an option, before any of them runs.
  AnalyzerOptions Options;
  std::vector<std::string> ModelFiles;

  /// The result for the current translation unit; \p Problem receives a line
  /// for each model file that cannot be used, once.
  const AnalyzerResult &
  resultFor(clang::ASTContext &Context,
            const std::function<bool(llvm::StringRef)> &Enabled,
            const std::function<void(llvm::StringRef)> &Problem);

  /// Forgets the result, which refers into an AST that is about to die.
  void endTranslationUnit() { Result.reset(); }

private:
  std::optional<AnalyzerResult> Result;
};

/// Hands the checks of one clang-tidy context the same analysis. clangd builds
/// several contexts at once, so looking one up is guarded. An analysis lives as
/// long as a check that uses it: nothing is kept past a context.
class SharedAnalyses {
public:
  std::shared_ptr<SharedAnalysis>
  forContext(const clang::tidy::ClangTidyContext *Context);

private:
  std::mutex Guard;
  std::map<const clang::tidy::ClangTidyContext *, std::weak_ptr<SharedAnalysis>>
      ByContext;
};

/// Reports the diagnostics of one rule.
///
/// It matches the translation unit alone, so that running it costs one analysis
/// and no walk over LibTorch's headers of its own.
class TensorScopeTidyCheck : public clang::tidy::ClangTidyCheck {
public:
  TensorScopeTidyCheck(llvm::StringRef Name,
                       clang::tidy::ClangTidyContext *Context,
                       llvm::StringRef Rule,
                       std::shared_ptr<SharedAnalysis> Analysis);

  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) override;
  void
  check(const clang::ast_matchers::MatchFinder::MatchResult &Result) override;
  void onEndOfTranslationUnit() override;
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Opts) override;

private:
  /// `Scopes` and `SmallLoopBound` are options of one rule alone.
  bool ownsLoopOptions() const { return Rule == "unscoped-loop"; }
  /// Rules that know findings of level 2 besides certain ones: clang-tidy has
  /// no levels, so these are asked for.
  bool ownsAdvice() const {
    return Rule == "dangling-data-ptr" || Rule == "raw-handle-leak";
  }
  void report(const Diagnostic &Found);

  const clang::tidy::ClangTidyContext &TidyContext;
  std::string Rule;
  std::shared_ptr<SharedAnalysis> Analysis;
  ScopesMode Scopes;
  unsigned SmallLoopBound;
  bool Advice;
  std::string Models;
};

} // namespace tensorscope

#endif // TENSORSCOPE_TENSORSCOPETIDYCHECK_H
