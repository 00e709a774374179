// SPDX-License-Identifier: Apache-2.0
//
// Parses one file as its compile command says, analyses it, and turns the
// result into plain data. Called in a process of its own, see WorkerPool.
#ifndef TENSORSCOPE_TOOL_FILERUNNER_H
#define TENSORSCOPE_TOOL_FILERUNNER_H

#include "checks/Analyzer.h"
#include "tool/Findings.h"
#include "clang/Tooling/CompilationDatabase.h"
#include <optional>

namespace clang {
class DiagnosticConsumer;
namespace tooling {
class FrontendActionFactory;
} // namespace tooling
} // namespace clang

namespace tensorscope {

class CheckSelection;
class HeaderFolder;
class ModelSet;

/// What holds for each file of a run.
struct RunSettings {
  const CheckSelection &Checks;
  const ModelSet &Models;
  AnalyzerOptions Options;
  std::string ResourceFolder;
  /// Where headers that files share are compiled to; null: they are not.
  const HeaderFolder *Headers = nullptr;
};

/// Why a command is not for us (another language, another compiler), if so.
std::optional<std::string>
reasonToSkip(const clang::tooling::CompileCommand &Command);

/// The command as Clang is to run it: parse only, no output, no plugins, no
/// warnings, and without other compilers' precompiled headers.
std::vector<std::string>
argumentsToParse(const clang::tooling::CompileCommand &Command,
                 llvm::StringRef ResourceFolder);

/// An option of a command that names a path, joined with it or before it.
struct PathOption {
  size_t Word = 0;
  size_t WordCount = 1;
  llvm::StringRef Path;
};

/// Those of \p Words that are one of \p Options, such as `-I`, in their order.
std::vector<PathOption> pathOptions(llvm::ArrayRef<std::string> Words,
                                    llvm::ArrayRef<llvm::StringRef> Options);

/// Runs Clang's frontend on what \p Arguments name; true if it succeeds.
bool runFrontend(std::vector<std::string> Arguments,
                 clang::tooling::FrontendActionFactory &Factory,
                 clang::DiagnosticConsumer &Consumer);

/// \p CompiledHeader, if not empty, has headers that the file begins with; a
/// file that has errors with it is parsed without. Changes this process's
/// current folder to the command's.
FileReport checkFile(const clang::tooling::CompileCommand &Command,
                     const RunSettings &Settings,
                     const std::string &CompiledHeader);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_FILERUNNER_H
