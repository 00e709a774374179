// SPDX-License-Identifier: Apache-2.0
//
// The pages of our checks, for the link that an editor shows with a diagnostic.
#ifndef TENSORSCOPE_CLANGD_CHECKPAGES_H
#define TENSORSCOPE_CLANGD_CHECKPAGES_H

#include "llvm/Support/JSON.h"

namespace tensorscope {

/// Leads the code of each of our diagnostics in the parameters of a
/// `textDocument/publishDiagnostics` to its page, installed with the program or
/// in the source folder; no link where neither is there.
void linkOurPages(llvm::json::Value &Published);

} // namespace tensorscope

#endif // TENSORSCOPE_CLANGD_CHECKPAGES_H
