// SPDX-License-Identifier: Apache-2.0
//
// KEY.pch with KEY.inputs, which has the size of the first and then each file
// that it was made of with its size and time. KEY is a hash of what else it
// depends on.
#include "repl/PrecompiledHeader.h"
#include "repl/Evaluator.h"
#include "clang/Basic/Version.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/Utils.h"
#include "clang/Interpreter/Interpreter.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace tensorscope {

/// Files of other compilers, arguments or LibTorch versions go when nobody
/// asked for them that long.
static constexpr auto KeptUnused = std::chrono::hours(24 * 30);

namespace {

/// All files, those of the system too: a new compiler is one that changed.
class AllFiles : public clang::DependencyCollector {
public:
  bool needSystemDependencies() override { return true; }
};

} // namespace

template <typename... Parts> static llvm::Error problem(Parts &&...Text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 (llvm::Twine() + ... + Text));
}

std::string defaultCacheFolder() {
  llvm::SmallString<256> Folder;
  auto Given = llvm::sys::Process::GetEnv("XDG_CACHE_HOME");
  if (Given && path::is_absolute(*Given))
    Folder = *Given;
  else if (path::home_directory(Folder))
    path::append(Folder, ".cache");
  else
    return {};
  path::append(Folder, "tensorscope");
  return std::string(Folder);
}

llvm::Error prepareCacheFolder(llvm::StringRef Folder) {
  if (std::error_code Failure = fs::create_directories(
          Folder, /*IgnoreExisting=*/true, fs::perms::owner_all))
    return problem(Folder, ": ", Failure.message());
  fs::file_status Status;
  if (std::error_code Failure = fs::status(Folder, Status))
    return problem(Folder, ": ", Failure.message());
  if (Status.type() != fs::file_type::directory_file)
    return problem(Folder, ": no folder");
  if (Status.getUser() != ::geteuid() ||
      (Status.permissions() &
       (fs::perms::group_write | fs::perms::others_write)))
    return problem(Folder, ": others may write there, and what is kept there "
                           "is run");
  if (::access(Folder.str().c_str(), W_OK) != 0)
    return problem(Folder, ": no right to write");
  return llvm::Error::success();
}

static std::string keyFor(llvm::StringRef Header,
                          const std::vector<std::string> &Arguments) {
  llvm::SHA256 Hash;
  auto Add = [&](llvm::StringRef Text) {
    Hash.update(Text);
    Hash.update(llvm::StringRef("\0", 1));
  };
  Add(TENSORSCOPE_VERSION);
  Add(clang::getClangFullVersion());
  Add(Header);
  for (const std::string &Argument : Arguments)
    Add(Argument);
  return llvm::toHex(Hash.final(), /*LowerCase=*/true).substr(0, 32);
}

/// "SIZE TIME PATH"; empty if there is no such file.
static std::string stateOf(llvm::StringRef File) {
  fs::file_status Status;
  if (fs::status(File, Status))
    return {};
  return (llvm::Twine(Status.getSize()) + " " +
          llvm::Twine(
              Status.getLastModificationTime().time_since_epoch().count()) +
          " " + File)
      .str();
}

static bool isFresh(const std::string &Compiled, const std::string &Inputs) {
  auto Text = llvm::MemoryBuffer::getFile(Inputs, /*IsText=*/true);
  std::uint64_t Size = 0;
  if (!Text || fs::file_size(Compiled, Size))
    return false;
  llvm::SmallVector<llvm::StringRef> Lines;
  (*Text)->getBuffer().split(Lines, '\n', -1, /*KeepEmpty=*/false);
  if (Lines.empty() || Lines.front() != llvm::utostr(Size))
    return false;
  return llvm::all_of(llvm::drop_begin(Lines), [](llvm::StringRef Line) {
    return stateOf(Line.split(' ').second.split(' ').second) == Line;
  });
}

/// In a process of its own: compiling takes a gigabyte that is never given
/// back. Ends it.
[[noreturn]] static void compile(llvm::StringRef Header,
                                 const std::vector<std::string> &Arguments,
                                 const std::string &To,
                                 const std::string &Inputs) {
  std::signal(SIGINT, SIG_DFL);
  auto Compiler = makeCompiler(Arguments);
  if (!Compiler) {
    llvm::consumeError(Compiler.takeError());
    ::_exit(1);
  }
  clang::CompilerInstance &Instance = **Compiler;
  auto &Options = Instance.getFrontendOpts();
  Options.ProgramAction = clang::frontend::GeneratePCH;
  Options.OutputFile = To;
  Options.Inputs = {clang::FrontendInputFile(
      Header, clang::InputKind(clang::Language::CXX).getHeader())};
  Instance.getLangOpts().PCHInstantiateTemplates = true;
  auto Files = std::make_shared<AllFiles>();
  Instance.addDependencyCollector(Files);
  clang::GeneratePCHAction Action;
  std::uint64_t Size = 0;
  if (!Instance.ExecuteAction(Action) || fs::file_size(To, Size))
    ::_exit(1);
  std::error_code Failure;
  llvm::raw_fd_ostream Out(Inputs, Failure);
  Out << Size << '\n';
  for (const std::string &File : Files->getDependencies())
    if (std::string State = stateOf(File); !State.empty())
      Out << State << '\n';
  Out.close();
  ::_exit(Failure || Out.has_error() ? 1 : 0);
}

/// Whether the other process did its work.
static bool compiled(llvm::StringRef Header,
                     const std::vector<std::string> &Arguments,
                     const std::string &To, const std::string &Inputs) {
  pid_t Child = ::fork();
  if (Child == 0)
    compile(Header, Arguments, To, Inputs);
  int Status = 0;
  while (Child > 0 && ::waitpid(Child, &Status, 0) < 0 && errno == EINTR) {
  }
  return Child > 0 && WIFEXITED(Status) && WEXITSTATUS(Status) == 0;
}

/// A file's time says when it was last of use.
static void noteUse(const std::string &Name) {
  int File = -1;
  if (fs::openFileForWrite(Name, File, fs::CD_OpenExisting, fs::OF_Append))
    return;
  fs::setLastAccessAndModificationTime(File, std::chrono::system_clock::now());
  ::close(File);
}

static void removeUnused(llvm::StringRef Folder) {
  std::error_code Failure;
  auto Oldest = std::chrono::system_clock::now() - KeptUnused;
  for (fs::directory_iterator It(Folder, Failure), End; It != End && !Failure;
       It.increment(Failure)) {
    llvm::StringRef Kind = path::extension(It->path());
    auto Status = It->status();
    if ((Kind == ".pch" || Kind == ".inputs" || Kind == ".tmp" ||
         Kind == ".part") &&
        Status && Status->getLastModificationTime() < Oldest)
      fs::remove(It->path());
  }
}

llvm::Expected<std::string>
precompiledHeader(llvm::StringRef Header,
                  const std::vector<std::string> &Arguments,
                  llvm::StringRef Folder) {
  llvm::SmallString<256> Stem(Folder);
  path::append(Stem, keyFor(Header, Arguments));
  std::string Compiled = (Stem + ".pch").str();
  std::string Inputs = (Stem + ".inputs").str();
  if (isFresh(Compiled, Inputs)) {
    noteUse(Compiled);
    noteUse(Inputs);
    return Compiled;
  }
  removeUnused(Folder);
  llvm::errs() << "tensorscope repl: compiling LibTorch's headers, once\n";
  std::string Mark = "." + std::to_string(::getpid()) + ".part";
  std::string NewCompiled = Compiled + Mark, NewInputs = Inputs + Mark;
  bool Made = compiled(Header, Arguments, NewCompiled, NewInputs) &&
              !fs::rename(NewCompiled, Compiled) &&
              !fs::rename(NewInputs, Inputs);
  fs::remove(NewCompiled);
  fs::remove(NewInputs);
  if (!Made)
    return problem(Header, " could not be compiled into ", Folder);
  return Compiled;
}

} // namespace tensorscope
