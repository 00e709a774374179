// SPDX-License-Identifier: Apache-2.0
//
// The few names of clangd that the program uses. clangd's headers are not
// installed with its libraries; a name or signature that is not clangd's does
// not link.
#ifndef TENSORSCOPE_CLANGD_CLANGDINTERFACE_H
#define TENSORSCOPE_CLANGD_CLANGDINTERFACE_H

#include "clang-tidy/ClangTidyOptions.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/StringRef.h"
#include <memory>

namespace clang::clangd {

int clangdMain(int Argc, char *Argv[]);

/// Completes the clang-tidy options of a file.
using TidyProvider = llvm::unique_function<void(tidy::ClangTidyOptions &,
                                                llvm::StringRef File) const>;

/// What is sent to the editor for one file.
struct PublishDiagnosticsParams;

/// Only ever an empty pointer here.
class SymbolIndex {
public:
  virtual ~SymbolIndex();
};

namespace remote {
std::unique_ptr<SymbolIndex> getClient(llvm::StringRef Address,
                                       llvm::StringRef ProjectRoot);
} // namespace remote

} // namespace clang::clangd

#endif // TENSORSCOPE_CLANGD_CLANGDINTERFACE_H
