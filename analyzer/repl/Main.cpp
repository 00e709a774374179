// SPDX-License-Identifier: Apache-2.0
//
// The program `tensorscope-repl`, which `tensorscope repl` becomes: it is
// linked with LibTorch and the runtime, as a debug build of a user's program
// is.
#include "repl/Evaluator.h"
#include "repl/GuardedCall.h"
#include "repl/Inputs.h"
#include "repl/Interrupt.h"
#include "repl/PrecompiledHeader.h"
#include "tool/CacheFolder.h"
#include "tool/ResourceFolder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <utility>

namespace cl = llvm::cl;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;
using namespace tensorscope;

static cl::opt<std::string> Torch{"torch", cl::desc("LibTorch's folder"),
                                  cl::Required};
static cl::opt<std::string> Includes{
    "include", cl::desc("The folder that holds tensorscope/repl.h"),
    cl::Required};
static cl::opt<std::string> Cache{
    "cache", cl::desc("Where compiled headers and the history are kept")};
static cl::opt<bool> NoCache{"no-cache", cl::desc("Keep nothing")};
static cl::list<std::string> Load{"load", cl::desc("Files to include first")};
static cl::list<std::string> Libraries{"library", cl::desc("Libraries")};
static cl::list<std::string> Flags{cl::Positional,
                                   cl::desc("[-- compiler flag...]")};

static constexpr int Problem = 2;

static void complain(const llvm::Twine &What) {
  std::cout.flush();
  llvm::errs() << "tensorscope repl: " << What << '\n';
}

static std::vector<std::string> compilerArguments(const std::string &Resource) {
  std::vector<std::string> Arguments = {
      "-std=c++20", "-resource-dir", Resource, "-isystem" + Includes,
      "-isystem" + Torch + "/include",
      "-isystem" + Torch + "/include/torch/csrc/api/include",
      "-gline-tables-only", "-fno-omit-frame-pointer",
      // An input's alias of an earlier input's destructor is not found.
      "-Xclang", "-mno-constructor-aliases", "-ferror-limit=0",
      // A value that is printed is used.
      "-Wno-unused-value", "-Wno-unused-comparison", "-Wno-unused-result"};
  Arguments.insert(Arguments.end(), Flags.begin(), Flags.end());
  return Arguments;
}

/// Those that LibTorch's headers are compiled with: where the user's are does
/// not matter to them.
static std::vector<std::string>
withoutFolders(std::vector<std::string> Arguments) {
  llvm::erase_if(Arguments, [](llvm::StringRef Argument) {
    return Argument.starts_with("-I");
  });
  return Arguments;
}

/// With the precompiled header if one can be had: without, the first prompt is
/// slow.
static std::unique_ptr<Evaluator>
makeEvaluator(std::vector<std::string> Arguments) {
  std::string Header = Includes + "/tensorscope/repl.h";
  bool Compiled = false;
  if (!Cache.empty()) {
    llvm::Error Unusable = prepareCacheFolder(Cache);
    auto File =
        Unusable ? std::move(Unusable)
                 : precompiledHeader(Header, withoutFolders(Arguments), Cache);
    if (File) {
      Arguments.insert(Arguments.end(), {"-include-pch", *File});
      Compiled = true;
    } else {
      complain("headers are compiled at each start: " +
               llvm::toString(File.takeError()));
    }
  }
  auto Made = Evaluator::create(Arguments);
  if (!Made) {
    complain("error: no interpreter: " + llvm::toString(Made.takeError()));
    return nullptr;
  }
  if (!Compiled && !(*Made)->run("#include \"" + Header + "\"", "the prompt"))
    return nullptr;
  return std::move(*Made);
}

namespace {

/// Inputs that start with `%` are for us.
class Loop {
public:
  Loop(Evaluator &Runs, Inputs &Reads) : Runs(Runs), Reads(Reads) {}

  bool load(const std::string &File);
  bool library(const std::string &File);
  /// The exit code.
  int run();

private:
  bool obey(llvm::StringRef Command);
  bool take(const std::string &Input);

  Evaluator &Runs;
  Inputs &Reads;
  unsigned Number = 1;
  bool Ended = false;
};

} // namespace

static constexpr char Help[] =
    "C++ as a compiler takes it, an input at a time; tensors are the "
    "session's.\n"
    "  x.sum()             an expression without a semicolon prints its value\n"
    "  stats()             counts and bytes of this process\n"
    "  check_leaks()       what the session owns, and what a report would say\n"
    "  stop_session()      releases all that it owns\n"
    "  start_session()     begins a new one, and ends the old one\n"
    "  retain(x)           x outlives the session\n"
    "  gc()                gives caches back, says what is live\n"
    "  %load FILE          includes a file\n"
    "  %lib FILE           loads a shared library\n"
    "  %undo               takes back the names of the last input\n"
    "  %quit, ctrl-D       ends, with a report of what is still held\n"
    "An open bracket or a `\\` at the end continues the input on the next "
    "line; "
    "ctrl-C\ngives an input up, also one that runs, at its next operator.\n";

bool Loop::load(const std::string &File) {
  llvm::SmallString<256> Real;
  if (std::error_code Failure = fs::real_path(File, Real)) {
    complain("error: " + File + ": " + Failure.message());
    return false;
  }
  return Runs.run(("#include \"" + Real + "\"").str(), "the prompt");
}

bool Loop::library(const std::string &File) {
  llvm::Error Failure = Runs.loadLibrary(File);
  if (!Failure)
    return true;
  complain("error: " + llvm::toString(std::move(Failure)));
  return false;
}

bool Loop::obey(llvm::StringRef Command) {
  auto [Verb, Rest] = Command.split(' ');
  std::string Operand = Rest.trim().str();
  if (Verb == "%help") {
    std::cout << Help << std::flush;
    return true;
  }
  if (Verb == "%quit") {
    Ended = true;
    return true;
  }
  if (Verb == "%undo") {
    llvm::Error Failure = Runs.undo();
    if (!Failure)
      return true;
    complain("error: " + llvm::toString(std::move(Failure)));
    return false;
  }
  if ((Verb == "%load" || Verb == "%lib") && Operand.empty()) {
    complain("error: " + Verb + " wants a file");
    return false;
  }
  if (Verb == "%load")
    return load(Operand);
  if (Verb == "%lib")
    return library(Operand);
  complain("error: no command " + Verb + "; %help lists them");
  return false;
}

bool Loop::take(const std::string &Input) {
  llvm::StringRef Text = llvm::StringRef(Input).trim();
  if (Text.empty())
    return true;
  if (Text.starts_with("%"))
    return obey(Text);
  return Runs.run(Input, "input_line_" + std::to_string(Number++));
}

int Loop::run() {
  bool Good = true;
  while (!Ended) {
    auto Input = Reads.next(Number);
    if (!Input)
      break;
    Good &= take(*Input);
    std::cout.flush();
    std::fflush(stdout);
  }
  if (Reads.fromTerminal() && !Ended)
    std::cout << std::endl;
  return Good || Reads.fromTerminal() ? EXIT_SUCCESS : EXIT_FAILURE;
}

static Evaluator *Running = nullptr;

/// What the session owns at the end is named by a report, so variables must be
/// there until that is written; where it owns nothing, what they retain is
/// nothing to report, and they go before. Not under an input that calls exit.
static void destroyVariables() {
  if (Running && !isRunningInput())
    std::exchange(Running, nullptr)->destroyVariables();
}

/// Called by the last input.
static void sessionEnded(bool OwnsNothing) {
  if (OwnsNothing)
    std::atexit([] { destroyVariables(); }); // runs before the report
}

int main(int Argc, const char **Argv) {
  cl::ParseCommandLineOptions(Argc, Argv);
  if (Cache.empty() && !NoCache)
    Cache = defaultCacheFolder();
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto Resource = findResourceFolder();
  if (!Resource) {
    complain("error: " + llvm::toString(Resource.takeError()));
    return Problem;
  }
  Running = makeEvaluator(compilerArguments(*Resource)).release();
  if (!Running)
    return Problem;
  std::atexit(destroyVariables); // before the report's own: runs after it
  handleInterrupts();

  llvm::SmallString<256> History;
  if (!Cache.empty())
    path::append(History, Cache, "history");
  Inputs Reads(History);
  Loop Prompt(*Running, Reads);
  for (const std::string &File : Libraries)
    if (!Prompt.library(File))
      return Problem;
  Running->run("tensorscope::start_session();", "the prompt");
  for (const std::string &File : Load)
    if (!Prompt.load(File))
      return Problem;
  if (Reads.fromTerminal())
    std::cout << "tensorscope " TENSORSCOPE_VERSION
                 ": LibTorch is loaded, a session is open; %help, %quit\n";
  int Status = Prompt.run();
  auto Address = reinterpret_cast<std::uintptr_t>(&sessionEnded);
  Running->run("reinterpret_cast<void (*)(bool)>(" + std::to_string(Address) +
                   "UL)(tensorscope::repl::end_session());",
               "the prompt");
  return Status;
}
