// SPDX-License-Identifier: Apache-2.0
//
// Compiles and runs inputs, one after the other, with Clang's interpreter.
#ifndef TENSORSCOPE_REPL_EVALUATOR_H
#define TENSORSCOPE_REPL_EVALUATOR_H

#include "clang/Interpreter/Interpreter.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace tensorscope {

/// A compiler of inputs; \p Arguments as for a compiler.
llvm::Expected<std::unique_ptr<clang::CompilerInstance>>
makeCompiler(const std::vector<std::string> &Arguments);

class Evaluator {
public:
  /// \p Arguments as for a compiler.
  static llvm::Expected<std::unique_ptr<Evaluator>>
  create(const std::vector<std::string> &Arguments);

  /// Compiles \p Code, which places call \p Name, runs it, and prints the value
  /// of an expression without a semicolon. Whatever goes wrong is printed;
  /// names that the input declared are unknown then, and the next one can come.
  bool run(llvm::StringRef Code, llvm::StringRef Name);

  /// Makes the last input that succeeded undone, as far as names go.
  llvm::Error undo() { return Interpreter->Undo(); }

  /// Makes a library's definitions known; an error is one line.
  llvm::Error loadLibrary(const std::string &File);

  /// Runs the destructors of what inputs declared; nothing may run after. The
  /// code stays, for what others hold of it.
  void destroyVariables();

private:
  bool run(llvm::StringRef Code, llvm::StringRef Name, const std::string &Text);
  bool notLinked(llvm::Error Failure, llvm::StringRef Code,
                 llvm::StringRef Name);
  bool printValue(llvm::StringRef InputName);
  bool print(clang::Value &Result, llvm::StringRef InputName);
  void forget(clang::PartialTranslationUnit &Unit);

  std::unique_ptr<clang::Interpreter> Interpreter;
};

} // namespace tensorscope

#endif // TENSORSCOPE_REPL_EVALUATOR_H
