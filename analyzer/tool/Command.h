// SPDX-License-Identifier: Apache-2.0
//
// A sub-command of `tensorscope`. One source file each; Commands.cpp has the
// table.
#ifndef TENSORSCOPE_TOOL_COMMAND_H
#define TENSORSCOPE_TOOL_COMMAND_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CommandLine.h"
#include <memory>
#include <vector>

namespace tensorscope {

/// Exit codes, the same for every sub-command.
enum ExitCode { ExitClean = 0, ExitFindings = 1, ExitProblem = 2 };

/// Its options are members, registered with llvm::cl while it lives.
class Command {
public:
  Command(llvm::StringRef Name, llvm::StringRef Sentence)
      : Sub(Name, Sentence), Category("Options") {}
  virtual ~Command() = default;

  llvm::StringRef name() const { return Sub.getName(); }
  llvm::StringRef sentence() const { return Sub.getDescription(); }

  /// Whether the command line names it.
  bool chosen() const { return static_cast<bool>(Sub); }

  /// Keeps options that LLVM's libraries register out of its help.
  void hideOtherOptions() { llvm::cl::HideUnrelatedOptions(Category, Sub); }

  /// Does its work; the result is an ExitCode.
  virtual int run() = 0;

  /// Whether another program reads its words, options included. Such a command
  /// gets them by runWith().
  virtual bool passesWordsOn() const { return false; }
  virtual int runWith(llvm::ArrayRef<const char *>) { return run(); }

protected:
  /// Prints `tensorscope NAME: error: what` and gives the exit code for it.
  int refuse(const llvm::Twine &What) const;
  int refuse(llvm::Error Failure) const;

  llvm::cl::SubCommand Sub;
  llvm::cl::OptionCategory Category;
};

std::unique_ptr<Command> makeCheckCommand();
std::unique_ptr<Command> makeExtractCommand();
std::unique_ptr<Command> makeLinkCommand();
std::unique_ptr<Command> makeModelsCommand();
std::unique_ptr<Command> makeReplCommand();
std::unique_ptr<Command> makeReportCommand();
std::unique_ptr<Command> makeRunCommand();

/// All sub-commands, in the order of the help.
std::vector<std::unique_ptr<Command>> makeCommands();

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_COMMAND_H
