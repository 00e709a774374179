// SPDX-License-Identifier: Apache-2.0
#include "repl/PrecompiledHeader.h"
#include "repl/Evaluator.h"
#include "tool/PrecompiledHeaders.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Interpreter/Interpreter.h"

namespace tensorscope {

static bool
compile(llvm::StringRef Header, const std::vector<std::string> &Arguments,
        const std::string &To,
        const std::shared_ptr<clang::DependencyCollector> &Inputs) {
  auto Compiler = makeCompiler(Arguments);
  if (!Compiler) {
    llvm::consumeError(Compiler.takeError());
    return false;
  }
  clang::CompilerInstance &Instance = **Compiler;
  auto &Options = Instance.getFrontendOpts();
  Options.ProgramAction = clang::frontend::GeneratePCH;
  Options.OutputFile = To;
  Options.Inputs = {clang::FrontendInputFile(
      Header, clang::InputKind(clang::Language::CXX).getHeader())};
  Instance.getLangOpts().PCHInstantiateTemplates = true;
  Instance.addDependencyCollector(Inputs);
  clang::GeneratePCHAction Action;
  return Instance.ExecuteAction(Action);
}

llvm::Expected<std::string>
precompiledHeader(llvm::StringRef Header,
                  const std::vector<std::string> &Arguments,
                  llvm::StringRef Folder) {
  std::vector<std::string> Texts = {"repl", Header.str()};
  llvm::append_range(Texts, Arguments);
  std::string Key = PrecompiledHeaders::keyOf(Texts);
  PrecompiledHeaders Kept(Folder.str());
  if (std::optional<std::string> Found = Kept.find(Key))
    return *Found;
  llvm::errs() << "tensorscope repl: compiling LibTorch's headers, once\n";
  if (std::optional<std::string> Made = Kept.make(
          Key, [&](const std::string &To,
                   const std::shared_ptr<clang::DependencyCollector> &Inputs) {
            return compile(Header, Arguments, To, Inputs);
          }))
    return *Made;
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 Header + " could not be compiled into " +
                                     Folder);
}

} // namespace tensorscope
