// SPDX-License-Identifier: Apache-2.0
//
// Facts and states as text, for tests and for looking at what the analysis
// believes.
#ifndef TENSORSCOPE_DATAFLOW_FACTSDUMP_H
#define TENSORSCOPE_DATAFLOW_FACTSDUMP_H

#include "dataflow/StorageFlow.h"
#include "llvm/Support/raw_ostream.h"

namespace tensorscope {

/// "live", "released", "ended" or "unknown".
llvm::StringRef lifeName(Life How);

/// One line per reachable fact, in the order of forEachFact, with the number
/// of states before it.
void dumpFacts(StorageFlow &Flow, const clang::ASTContext &Ctx,
               llvm::raw_ostream &OS);

/// What each place holds and how each storage fares.
void dumpState(const State &S, const FunctionFacts &Facts,
               const clang::ASTContext &Ctx, llvm::raw_ostream &OS);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_FACTSDUMP_H
