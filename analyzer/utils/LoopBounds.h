// SPDX-License-Identifier: Apache-2.0
//
// How often a loop runs, where that is a constant, and which variables count
// its iterations.
#ifndef TENSORSCOPE_UTILS_LOOPBOUNDS_H
#define TENSORSCOPE_UTILS_LOOPBOUNDS_H

#include "utils/BodyIndex.h"

namespace tensorscope {

/// The most iterations of a loop whose bounds are constants, if they are.
std::optional<unsigned> constantIterations(const clang::Stmt *Loop,
                                           const BodyIndex &Body,
                                           const clang::ASTContext &Ctx);

/// True when each iteration of \p Loop, or some, steps \p V on.
bool isCounterOf(const clang::ValueDecl *V, const clang::Stmt *Loop,
                 const BodyIndex &Body);

} // namespace tensorscope

#endif // TENSORSCOPE_UTILS_LOOPBOUNDS_H
