// SPDX-License-Identifier: Apache-2.0
//
// From the dataflow of a function to its summary.
#ifndef TENSORSCOPE_DATAFLOW_SUMMARYBUILDER_H
#define TENSORSCOPE_DATAFLOW_SUMMARYBUILDER_H

#include "dataflow/StorageFlow.h"
#include "dataflow/Summary.h"

namespace tensorscope {

/// \p P as the caller of the function can name it; none for what is its own.
std::optional<Path> pathOf(const FunctionFacts &F, PlaceID P);

Summary buildSummary(StorageFlow &Flow);

/// The place of \p At for other translation units.
TraceStep traceStepAt(const clang::Stmt *At, const clang::FunctionDecl *Callee,
                      const clang::ASTContext &Ctx);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_SUMMARYBUILDER_H
