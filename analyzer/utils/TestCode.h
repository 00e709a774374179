// SPDX-License-Identifier: Apache-2.0
//
// What is a test, by the ways in which test frameworks and files name them.
#ifndef TENSORSCOPE_UTILS_TESTCODE_H
#define TENSORSCOPE_UTILS_TESTCODE_H

#include "clang/AST/Decl.h"
#include "clang/Basic/SourceManager.h"

namespace tensorscope {

/// A function that a test framework runs, a function whose name begins with
/// "test", and whatever stands in a file like `pool_test.cpp`.
bool isTestCode(const clang::FunctionDecl *F, const clang::SourceManager &SM);

} // namespace tensorscope

#endif // TENSORSCOPE_UTILS_TESTCODE_H
