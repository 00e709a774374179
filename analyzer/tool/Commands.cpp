// SPDX-License-Identifier: Apache-2.0
//
// The table of sub-commands.
#include "tool/Command.h"
#include "llvm/Support/Error.h"

namespace tensorscope {

int Command::refuse(const llvm::Twine &What) const {
  llvm::errs() << "tensorscope " << name() << ": error: " << What << '\n';
  return ExitProblem;
}

int Command::refuse(llvm::Error Failure) const {
  return refuse(llvm::toString(std::move(Failure)));
}

std::vector<std::unique_ptr<Command>> makeCommands() {
  std::vector<std::unique_ptr<Command>> Commands;
  Commands.push_back(makeCheckCommand());
  Commands.push_back(makeExtractCommand());
  Commands.push_back(makeLinkCommand());
  Commands.push_back(makeModelsCommand());
  Commands.push_back(makeRunCommand());
  Commands.push_back(makeReportCommand());
  Commands.push_back(makeReplCommand());
  return Commands;
}

} // namespace tensorscope
