// SPDX-License-Identifier: Apache-2.0
//
// Registers each row of the table of checks with clang-tidy. Loaded by
// `clang-tidy --load`, linked into the language server.
#include "TensorScopeTidyCheck.h"
#include "checks/Analyzer.h"
#include "clang-tidy/ClangTidyModule.h"
#include "clang/Basic/Version.inc"
#if CLANG_VERSION_MAJOR < 22
#include "clang-tidy/ClangTidyModuleRegistry.h"
#endif

namespace tensorscope {

class TensorScopeTidyModule : public clang::tidy::ClangTidyModule {
public:
  void
  addCheckFactories(clang::tidy::ClangTidyCheckFactories &Factories) override {
    auto Analyses = std::make_shared<SharedAnalyses>();
    for (const CheckInfo &Info : allChecks())
      Factories.registerCheckFactory(
          ("tensorscope-" + Info.Rule).str(),
          [Analyses, Rule = Info.Rule](llvm::StringRef Name,
                                       clang::tidy::ClangTidyContext *Context) {
            return std::make_unique<TensorScopeTidyCheck>(
                Name, Context, Rule, Analyses->forContext(Context));
          });
  }
};

static clang::tidy::ClangTidyModuleRegistry::Add<TensorScopeTidyModule>
    Registration("tensorscope-module",
                 "Adds the checks for tensor scopes and LibTorch memory.");

} // namespace tensorscope

/// Forces the linker to keep this file where it is linked statically.
volatile int TensorScopeModuleAnchorSource =
    0; // NOLINT(misc-use-internal-linkage)
