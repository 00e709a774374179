// SPDX-License-Identifier: Apache-2.0
//
// `tensorscope repl`: finds the interpreter, LibTorch and the headers, and
// becomes the interpreter. That is a program of its own, as it is linked with
// LibTorch, which the checker is not.
#include "tool/Command.h"
#include "tool/ReplParts.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>
#include <unistd.h>

namespace cl = llvm::cl;
namespace fs = llvm::sys::fs;

namespace tensorscope {

namespace {

class ReplCommand : public Command {
public:
  ReplCommand()
      : Command("repl", "a C++ prompt with LibTorch loaded and a session "
                        "open") {}

  int run() override;

private:
  llvm::Expected<std::vector<std::string>> words(const ReplParts &Parts) const;
  void setEnvironment(const ReplParts &Parts) const;

  template <typename T> using Opt = cl::opt<T>;
  using Strings = cl::list<std::string>;
  Strings Flags{cl::Positional, cl::desc("[-- compiler flag...]"), cl::sub(Sub),
                cl::cat(Category)};
  Strings Load{
      "load", cl::desc("Include this file before the first prompt; repeatable"),
      cl::value_desc("file"), cl::sub(Sub), cl::cat(Category)};
  Strings Includes{"I",
                   cl::Prefix,
                   cl::desc("Search headers there, too"),
                   cl::value_desc("folder"),
                   cl::sub(Sub),
                   cl::cat(Category)};
  Strings Folders{"L",
                  cl::Prefix,
                  cl::desc("Search the libraries of -l there, too"),
                  cl::value_desc("folder"),
                  cl::sub(Sub),
                  cl::cat(Category)};
  Strings Libraries{"l",
                    cl::Prefix,
                    cl::desc("Load libNAME.so, or the file of that name"),
                    cl::value_desc("name"),
                    cl::sub(Sub),
                    cl::cat(Category)};
  Opt<std::string> Options{
      "options",
      cl::desc("What TENSORSCOPE_OPTIONS takes, and wins over it; help=1 "
               "lists the keys"),
      cl::value_desc("key=value:..."), cl::sub(Sub), cl::cat(Category)};
  Opt<std::string> Torch{
      "torch",
      cl::desc("LibTorch's folder (default: TENSORSCOPE_TORCH_DIR, else that "
               "which tensorscope was built with)"),
      cl::value_desc("folder"), cl::sub(Sub), cl::cat(Category)};
  Opt<std::string> Cache{
      "cache",
      cl::desc("Where compiled headers and the history are kept (default: "
               "tensorscope in XDG_CACHE_HOME or ~/.cache)"),
      cl::value_desc("folder"), cl::sub(Sub), cl::cat(Category)};
  Opt<bool> NoCache{"no-cache",
                    cl::desc("Keep nothing: the first prompt takes long"),
                    cl::sub(Sub), cl::cat(Category)};
};

} // namespace

static llvm::StringRef environment(const char *Name) {
  const char *Value = std::getenv(Name);
  return Value ? Value : "";
}

static void putInFront(const char *Name, const std::string &Value,
                       llvm::StringRef Separator) {
  llvm::StringRef Old = environment(Name);
  ::setenv(Name, (Value + (Old.empty() ? "" : Separator) + Old).str().c_str(),
           /*replace=*/1);
}

llvm::Expected<std::vector<std::string>>
ReplCommand::words(const ReplParts &Parts) const {
  std::vector<std::string> Words = {"tensorscope-repl",
                                    "--torch=" + Parts.Torch,
                                    "--include=" + Parts.Includes};
  if (NoCache && !Cache.empty())
    return problemOf("--no-cache and --cache exclude each other");
  if (NoCache)
    Words.push_back("--no-cache");
  else if (!Cache.empty())
    Words.push_back("--cache=" + Cache);
  for (const std::string &File : Load)
    Words.push_back("--load=" + File);
  for (const std::string &Name : Libraries) {
    auto File = findLibrary(Name, Folders);
    if (!File)
      return File.takeError();
    Words.push_back("--library=" + *File);
  }
  Words.push_back("--");
  for (const std::string &Folder : Includes)
    Words.push_back("-I" + Folder);
  Words.insert(Words.end(), Flags.begin(), Flags.end());
  return Words;
}

void ReplCommand::setEnvironment(const ReplParts &Parts) const {
  if (Parts.OtherTorch)
    putInFront("LD_LIBRARY_PATH", Parts.Torch + "/lib", ":");
  if (!Options.empty()) {
    llvm::StringRef Old = environment("TENSORSCOPE_OPTIONS");
    std::string All = (Old + (Old.empty() ? "" : ":") + Options).str();
    ::setenv("TENSORSCOPE_OPTIONS", All.c_str(), /*replace=*/1);
  }
}

int ReplCommand::run() {
  if (!Flags.empty() && !llvm::StringRef(Flags.front()).starts_with("-"))
    return refuse("'" + Flags.front() + "' is no compiler flag; write --load=" +
                  Flags.front() + " to include a file");
  llvm::Expected<ReplParts> Parts = findReplParts(
      Torch, fs::getMainExecutable(nullptr,
                                   reinterpret_cast<void *>(&makeReplCommand)));
  if (!Parts)
    return refuse(Parts.takeError());
  auto Given = words(*Parts);
  if (!Given)
    return refuse(Given.takeError());
  setEnvironment(*Parts);
  if (llvm::Error Failure = checkLoads(Parts->Program))
    return refuse(std::move(Failure));

  llvm::SmallVector<char *> Words;
  for (std::string &Word : *Given)
    Words.push_back(Word.data());
  Words.push_back(nullptr);
  ::execv(Parts->Program.c_str(), Words.data());
  return refuse(Parts->Program + ": " + llvm::sys::StrError());
}

std::unique_ptr<Command> makeReplCommand() {
  return std::make_unique<ReplCommand>();
}

} // namespace tensorscope
