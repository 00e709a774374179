// SPDX-License-Identifier: Apache-2.0
//
// Comes in front of functions of clangd. For each symbol that the list file
// names (--wrap), the linker leads clangd's calls to the function that is
// WRAPPED here, and calls of the REAL one here to clangd's own.
#include "clangd/CheckList.h"
#include "clangd/CheckPages.h"
#include "clangd/ClangdInterface.h"
#include "clangd/HeaderBodies.h"
#include "tool/ResourceFolder.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;
using clang::clangd::PublishDiagnosticsParams;
using clang::clangd::TidyProvider;
using llvm::IntrusiveRefCntPtr;
using llvm::StringRef;

#define WRAPPED(Symbol) __asm__("__wrap_" Symbol)
#define REAL(Symbol) __asm__("__real_" Symbol)

// By default clangd runs only the checks that it knows to be fast.
#define IS_FAST "_ZN5clang6clangd15isFastTidyCheckEN4llvm9StringRefE"
std::optional<bool> realIsFast(StringRef Check) REAL(IS_FAST);
std::optional<bool> wrappedIsFast(StringRef Check) WRAPPED(IS_FAST);

std::optional<bool> wrappedIsFast(StringRef Check) {
  return tensorscope::isOurCheck(Check) ? true : realIsFast(Check);
}

// Makes the provider of clangd's own defaults, which it applies where the user
// lists no checks. A list that only switches some of ours is no such list.
#define DEFAULT_CHECKS "_ZN5clang6clangd20provideDefaultChecksEv"
TidyProvider realDefaultChecks() REAL(DEFAULT_CHECKS);
TidyProvider wrappedDefaultChecks() WRAPPED(DEFAULT_CHECKS);

TidyProvider wrappedDefaultChecks() {
  return [Real = realDefaultChecks()](tidy::ClangTidyOptions &Options,
                                      StringRef File) {
    std::string Listed = Options.Checks.value_or("");
    if (!tensorscope::namesOnlyOurs(Listed))
      return;
    Options.Checks.reset();
    Real(Options, File);
    Options.Checks = Options.Checks.value_or("") + "," + Listed;
  };
}

// Makes the last of the providers of clang-tidy options: the user's files and
// clangd's defaults have been read when it is asked.
#define DISABLE_UNUSABLE                                                       \
  "_ZN5clang6clangd21disableUnusableChecksEN4llvm8ArrayRefINSt7__cxx1112basic" \
  "_stringIcSt11char_traitsIcESaIcEEEEE"
TidyProvider realDisableUnusable(llvm::ArrayRef<std::string> Extra)
    REAL(DISABLE_UNUSABLE);
TidyProvider wrappedDisableUnusable(llvm::ArrayRef<std::string> Extra)
    WRAPPED(DISABLE_UNUSABLE);

TidyProvider wrappedDisableUnusable(llvm::ArrayRef<std::string> Extra) {
  return [Real = realDisableUnusable(Extra)](tidy::ClangTidyOptions &Options,
                                             StringRef File) {
    Options.Checks = tensorscope::withOurChecks(Options.Checks.value_or(""));
    Real(Options, File);
  };
}

// Parses the headers of a file once, for all versions of its own text.
#define BUILD_PREAMBLE                                                         \
  "_ZN5clang19PrecompiledPreamble5BuildERKNS_18CompilerInvocationEPKN4llvm12M" \
  "emoryBufferENS_14PreambleBoundsENS4_18IntrusiveRefCntPtrINS_17Diagnostics"  \
  "EngineEEENS9_INS4_3vfs10FileSystemEEESt10shared_ptrINS_22PCHContainerOper"  \
  "ationsEEbNS4_9StringRefERNS_17PreambleCallbacksE"
#define BUILD_PREAMBLE_PARAMETERS                                              \
  const CompilerInvocation &Invocation, const llvm::MemoryBuffer *Text,        \
      PreambleBounds Bounds, IntrusiveRefCntPtr<DiagnosticsEngine> Engine,     \
      IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files,                         \
      std::shared_ptr<PCHContainerOperations> Operations, bool InMemory,       \
      StringRef Folder, PreambleCallbacks &Callbacks
llvm::ErrorOr<PrecompiledPreamble> realBuildPreamble(BUILD_PREAMBLE_PARAMETERS)
    REAL(BUILD_PREAMBLE);
llvm::ErrorOr<PrecompiledPreamble>
    wrappedBuildPreamble(BUILD_PREAMBLE_PARAMETERS) WRAPPED(BUILD_PREAMBLE);

llvm::ErrorOr<PrecompiledPreamble>
wrappedBuildPreamble(BUILD_PREAMBLE_PARAMETERS) {
  tensorscope::HeaderBodies Bodies(Callbacks);
  tensorscope::HeaderDiagnostics Diagnostics(*Engine, Bodies);
  return realBuildPreamble(Invocation, Text, Bounds, Engine, std::move(Files),
                           std::move(Operations), InMemory, Folder, Bodies);
}

// clangd links each code to the site of clang-tidy, which has no page for ours.
#define PUBLISHED "_ZN5clang6clangd6toJSONERKNS0_24PublishDiagnosticsParamsE"
llvm::json::Value realPublished(const PublishDiagnosticsParams &P)
    REAL(PUBLISHED);
llvm::json::Value wrappedPublished(const PublishDiagnosticsParams &P)
    WRAPPED(PUBLISHED);

llvm::json::Value wrappedPublished(const PublishDiagnosticsParams &P) {
  llvm::json::Value Message = realPublished(P);
  tensorscope::linkOurPages(Message);
  return Message;
}

// clangd looks for Clang's own headers beside the program, but ours is not
// beside LLVM's.
#define RESOURCES "_ZN5clang16GetResourcesPathB5cxx11EPKcPv"
std::string realResources(const char *Program, void *Main) REAL(RESOURCES);
std::string wrappedResources(const char *Program, void *Main)
    WRAPPED(RESOURCES);

std::string wrappedResources(const char *Program, void *Main) {
  llvm::Expected<std::string> Folder = tensorscope::findResourceFolder();
  if (Folder)
    return *Folder;
  llvm::consumeError(Folder.takeError());
  return realResources(Program, Main);
}

// In place of clangd's client for an index on another machine, which brings
// gRPC and protobuf with it. clangd goes on without that index.
std::unique_ptr<clangd::SymbolIndex>
clangd::remote::getClient(StringRef Address, StringRef) {
  llvm::errs() << "tensorscope-clangd: the remote index at " << Address
               << " is not used: this program has no client for it\n";
  return nullptr;
}
