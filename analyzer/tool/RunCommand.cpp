// SPDX-License-Identifier: Apache-2.0
//
// `tensorscope run`: checks the program, sets its environment, and becomes it.
#include "tool/Command.h"
#include "tool/PreloadLibrary.h"
#include "tool/ProgramFile.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>
#include <unistd.h>

namespace cl = llvm::cl;

namespace tensorscope {

namespace {

class RunCommand : public Command {
public:
  RunCommand()
      : Command("run", "runs a program over LibTorch, as it was built, and "
                       "reports what it leaked") {}

  int run() override;

private:
  void setEnvironment(llvm::StringRef Library);

  template <typename T> using Opt = cl::opt<T>;
  Opt<std::string> Program{cl::Positional, cl::desc("program"), cl::sub(Sub),
                           cl::cat(Category)};
  cl::list<std::string> Arguments{cl::ConsumeAfter, cl::desc("[argument...]"),
                                  cl::sub(Sub), cl::cat(Category)};
  Opt<std::string> Options{
      "options",
      cl::desc("What TENSORSCOPE_OPTIONS takes, and wins over it; help=1 "
               "lists the keys"),
      cl::value_desc("key=value:..."), cl::sub(Sub), cl::cat(Category)};
  Opt<bool> Follow{"follow",
                   cl::desc("Watch the programs that it starts, too"),
                   cl::sub(Sub), cl::cat(Category)};
  Opt<std::string> Preload{
      "preload",
      cl::desc("The library to preload (default: libtensorscope_preload.so "
               "of this installation)"),
      cl::value_desc("file"), cl::sub(Sub), cl::cat(Category)};
};

} // namespace

static llvm::StringRef environment(const char *Name) {
  const char *Value = std::getenv(Name);
  return Value ? Value : "";
}

/// Two lists with colons between, of which the second's entries win or come
/// later.
static std::string joined(llvm::StringRef First, llvm::StringRef Second) {
  bool Both = !First.empty() && !Second.empty();
  return (First + (Both ? ":" : "") + Second).str();
}

static void setVariable(const char *Name, const std::string &Value) {
  ::setenv(Name, Value.c_str(), /*replace=*/1);
}

/// The preloaded library reads TENSORSCOPE_RUN: see the runtime's
/// interpose/preload_environment.h.
void RunCommand::setEnvironment(llvm::StringRef Library) {
  setVariable("LD_PRELOAD", joined(Library, environment("LD_PRELOAD")));
  setVariable("TENSORSCOPE_RUN", Follow ? "first,follow" : "first");
  // AddressSanitizer wants to be loaded first, for functions that the
  // preloaded library has none of.
  setVariable("ASAN_OPTIONS",
              joined("verify_asan_link_order=0", environment("ASAN_OPTIONS")));
  if (!Options.empty())
    setVariable("TENSORSCOPE_OPTIONS",
                joined(environment("TENSORSCOPE_OPTIONS"), Options));
}

int RunCommand::run() {
  if (Program.empty())
    return refuse("no program given; write tensorscope run -- ./app");
  llvm::Expected<std::string> Library = findPreloadLibrary(
      Preload, llvm::sys::fs::getMainExecutable(
                   nullptr, reinterpret_cast<void *>(&makeRunCommand)));
  if (!Library)
    return refuse(Library.takeError());
  llvm::Expected<std::string> File = findProgram(Program);
  if (!File)
    return refuse(File.takeError());
  if (llvm::Error Failure = checkProgram(*File, *Library))
    return refuse(std::move(Failure));

  setEnvironment(*Library);
  llvm::SmallVector<char *> Words{Program.data()};
  for (std::string &Argument : Arguments)
    Words.push_back(Argument.data());
  Words.push_back(nullptr);
  ::execv(File->c_str(), Words.data());
  return refuse(*File + ": " + llvm::sys::StrError());
}

std::unique_ptr<Command> makeRunCommand() {
  return std::make_unique<RunCommand>();
}

} // namespace tensorscope
