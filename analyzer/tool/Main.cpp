// SPDX-License-Identifier: Apache-2.0
//
// The program `tensorscope`: finds the sub-command and runs it.
#include "tool/Command.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

using namespace tensorscope;

static void printVersion(llvm::raw_ostream &Out) {
  Out << "tensorscope " TENSORSCOPE_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
}

static int refuse(llvm::StringRef Line) {
  llvm::errs() << "tensorscope: error: " << Line << '\n';
  return ExitProblem;
}

/// What was printed must have arrived: a full disk is no result.
static int whenWritten(int Status) {
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return Status;
  std::string Why = llvm::outs().error().message();
  llvm::outs().clear_error();
  return refuse("cannot write to standard output: " + Why);
}

/// llvm::cl says "PROGRAM: what" and then hints on lines of their own.
static llvm::StringRef firstComplaint(llvm::StringRef Text) {
  llvm::StringRef Line = Text.trim().split('\n').first.split("  Try: ").first;
  Line.consume_front("tensorscope: ");
  return Line;
}

int main(int Argc, const char **Argv) {
  std::vector<std::unique_ptr<Command>> Commands = makeCommands();
  for (auto &C : Commands)
    C->hideOtherOptions();
  llvm::cl::OptionCategory None("Options of no sub-command");
  llvm::cl::HideUnrelatedOptions(None);
  llvm::cl::SetVersionPrinter(printVersion);

  if (Argc < 2)
    return refuse("no command given; try 'tensorscope --help'");
  llvm::StringRef First = Argv[1];
  bool Known =
      llvm::any_of(Commands, [&](auto &C) { return C->name() == First; });
  if (!Known && !First.starts_with("-"))
    return refuse(
        ("no command '" + First + "'; try 'tensorscope --help'").str());

  for (auto &C : Commands)
    if (C->name() == First && C->passesWordsOn())
      return C->runWith(llvm::ArrayRef(Argv + 2, Argv + Argc));

  std::string Complaints;
  llvm::raw_string_ostream Errors(Complaints);
  std::vector<const char *> Arguments(Argv, Argv + Argc);
  Arguments[0] = "tensorscope";
  if (!llvm::cl::ParseCommandLineOptions(
          Arguments.size(), Arguments.data(),
          "finds memory mistakes in C++ code over LibTorch\n", &Errors)) {
    // An option without its value is complained of to standard error.
    return Complaints.empty() ? ExitProblem
                              : refuse(firstComplaint(Complaints));
  }
  for (auto &C : Commands)
    if (C->chosen())
      return whenWritten(C->run());
  return refuse("no command given; try 'tensorscope --help'");
}
