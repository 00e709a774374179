// SPDX-License-Identifier: Apache-2.0
//
// The heavy headers of Clang, compiled once per LLVM version for the core, the
// plugin and the command line. Sources still include what they use.
#ifndef TENSORSCOPE_PRECOMPILEDCLANG_H
#define TENSORSCOPE_PRECOMPILEDCLANG_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Analysis/CFG.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#endif // TENSORSCOPE_PRECOMPILEDCLANG_H
