// SPDX-License-Identifier: Apache-2.0
#include "tool/SharedHeaders.h"
#include "tool/CacheFolder.h"
#include "tool/FileRunner.h"
#include "tool/HeaderWords.h"
#include "tool/LeadingHeaders.h"
#include "tool/Paths.h"
#include "tool/WorkerPool.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>
#include <sys/resource.h>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;
using clang::tooling::CompileCommand;

namespace tensorscope {

HeaderFolder::HeaderFolder(HeaderFolder &&Other)
    : Headers(std::move(Other.Headers)), IsTemporary(Other.IsTemporary) {
  Other.IsTemporary = false;
}

HeaderFolder::~HeaderFolder() {
  if (IsTemporary && !Headers.folder().empty())
    fs::remove_directories(Headers.folder());
}

llvm::Expected<HeaderFolder> HeaderFolder::open(llvm::StringRef Named,
                                                bool IsKept) {
  std::string Folder = Named.empty() && IsKept ? defaultCacheFolder()
                                               : absolutePath(Named);
  if (IsKept && !Folder.empty()) {
    llvm::Error Unusable = prepareCacheFolder(Folder);
    if (!Unusable)
      return HeaderFolder(std::move(Folder), /*IsTemporary=*/false);
    if (!Named.empty())
      return Unusable;
    llvm::consumeError(std::move(Unusable));
  }
  llvm::SmallString<128> Temporary;
  if (fs::createUniqueDirectory("tensorscope", Temporary))
    Temporary.clear(); // nothing is shared then
  return HeaderFolder(std::string(Temporary), /*IsTemporary=*/true);
}

namespace {

class PrecompilingFactory : public clang::tooling::FrontendActionFactory {
public:
  PrecompilingFactory(
      const std::string &File,
      const std::shared_ptr<clang::DependencyCollector> &Inputs)
      : File(File), Inputs(Inputs) {}

  std::unique_ptr<clang::FrontendAction> create() override {
    class Action : public clang::GeneratePCHAction {
    public:
      explicit Action(std::shared_ptr<clang::DependencyCollector> Inputs)
          : Inputs(std::move(Inputs)) {}
      bool BeginInvocation(clang::CompilerInstance &Compiler) override {
        Compiler.addDependencyCollector(Inputs);
        return GeneratePCHAction::BeginInvocation(Compiler);
      }
      std::shared_ptr<clang::DependencyCollector> Inputs;
    };
    return std::make_unique<Action>(Inputs);
  }

  bool runInvocation(std::shared_ptr<clang::CompilerInvocation> Invocation,
                     clang::FileManager *Files,
                     std::shared_ptr<clang::PCHContainerOperations> Operations,
                     clang::DiagnosticConsumer *Consumer) override {
    Invocation->getFrontendOpts().OutputFile = File;
    Invocation->getFrontendOpts().ProgramAction = clang::frontend::GeneratePCH;
    // Each file would do it again.
    Invocation->getLangOpts().PCHInstantiateTemplates = true;
    // They come in the files' own order.
    Invocation->getPreprocessorOpts().Includes.clear();
    return FrontendActionFactory::runInvocation(
        std::move(Invocation), Files, std::move(Operations), Consumer);
  }

private:
  const std::string &File;
  const std::shared_ptr<clang::DependencyCollector> &Inputs;
};

/// A header to compile, with the arguments of one of the files that share it.
struct Work {
  std::string Header;
  CompileCommand Command;
  std::vector<size_t> Files;
  /// For each of the files, what it defines before the header.
  std::vector<std::vector<std::string>> Macros;
};

} // namespace

/// LibTorch's own headers may be found there.
static bool hasLibTorch(llvm::StringRef Folder) {
  return llvm::any_of(
      llvm::ArrayRef<llvm::StringRef>{"torch", "ATen", "c10", "tensorscope"},
      [&](llvm::StringRef Name) {
        return fs::exists(absolutePath(Name, Folder));
      });
}

/// Without the folders of the project's own headers, which LibTorch's don't
/// include, so that targets and projects share them.
static std::vector<std::string>
withoutProjectFolders(llvm::ArrayRef<std::string> Words,
                      llvm::StringRef Directory) {
  std::vector<std::string> Kept = Words.vec();
  std::vector<PathOption> Folders = pathOptions(Words, {"-iquote", "-I"});
  for (const PathOption &Given : llvm::reverse(Folders))
    if (!hasLibTorch(absolutePath(Given.Path, Directory))) {
      auto First = Kept.begin() + Given.Word;
      Kept.erase(First, First + Given.WordCount);
    }
  return Kept;
}

/// The command that compiles a header as its file would have it; nothing if it
/// is not clear which word names the file.
static std::optional<CompileCommand> commandFor(const CompileCommand &Command,
                                                llvm::StringRef Header) {
  CompileCommand Made = Command;
  Made.CommandLine =
      withoutProjectFolders(Command.CommandLine, Command.Directory);
  auto NamesFile = [&](llvm::StringRef Argument) {
    return absolutePath(Argument, Command.Directory) == Command.Filename;
  };
  auto &Words = Made.CommandLine;
  if (Words.size() < 2 ||
      llvm::count_if(llvm::drop_begin(Words), NamesFile) != 1)
    return std::nullopt;
  auto It = std::find_if(Words.begin() + 1, Words.end(), NamesFile);
  *It = Header.str();
  Words.insert(It, {"-x", "c++-header"});
  Made.Filename = Header.str();
  return Made;
}

/// The arguments matter without the file's name, and the folder where they are
/// relative to it.
static std::string flagsOf(const CompileCommand &Command,
                           llvm::StringRef ResourceFolder) {
  std::optional<CompileCommand> General = commandFor(Command, "-");
  if (!General)
    return {};
  std::vector<std::string> Texts =
      argumentsToParse(*General, ResourceFolder);
  if (llvm::any_of(
          pathOptions(Texts, {"-I", "-isystem", "-iquote", "-include"}),
          [](const PathOption &Given) {
            return !path::is_absolute(Given.Path);
          }))
    Texts.push_back(Command.Directory);
  return PrecompiledHeaders::keyOf(Texts);
}

static bool isCxx(const CompileCommand &Command) {
  llvm::StringRef Extension = path::extension(Command.Filename);
  return Extension != ".c" && Extension != ".m" && Extension != ".mm" &&
         Extension != ".ixx" && Extension != ".cppm" && Extension != ".ccm";
}

/// By key.
static std::map<std::string, Work>
planWork(llvm::ArrayRef<CompileCommand> Commands,
         llvm::StringRef ResourceFolder) {
  std::map<std::string, Work> Planned;
  for (size_t I = 0; I < Commands.size(); ++I) {
    if (!isCxx(Commands[I]))
      continue;
    LeadingHeaders Leading = leadingHeaders(Commands[I]);
    const LeadingHeader *Largest = largestHeader(Leading.Headers);
    std::string Flags = flagsOf(Commands[I], ResourceFolder);
    if (!Largest || Flags.empty())
      continue;
    std::string Key =
        PrecompiledHeaders::keyOf({"check", Largest->Name, Flags});
    Work &W =
        Planned.try_emplace(Key, Work{Largest->Name, Commands[I], {}, {}})
            .first->second;
    W.Files.push_back(I);
    Leading.Macros.resize(Largest->MacrosBefore);
    W.Macros.push_back(std::move(Leading.Macros));
  }
  return Planned;
}

/// Writes KEY.h, its words and, to \p To, the compiled header.
static bool precompile(const Work &W, llvm::StringRef ResourceFolder,
                       const PrecompiledHeaders &Headers,
                       const std::string &Key, const std::string &To,
                       const std::shared_ptr<clang::DependencyCollector> &Inputs) {
  std::string File = Headers.fileOf(Key, ".h");
  std::error_code Failure;
  llvm::raw_fd_ostream Out(File, Failure);
  Out << "#include <" << W.Header << ">\n";
  Out.close();
  if (Failure || Out.has_error() || fs::set_current_path(W.Command.Directory))
    return false;
  std::optional<CompileCommand> Command = commandFor(W.Command, File);
  PrecompilingFactory Factory(To, Inputs);
  clang::IgnoringDiagConsumer Quiet;
  return runFrontend(argumentsToParse(*Command, ResourceFolder), Factory,
                     Quiet) &&
         writeWords(Inputs->getDependencies(), Headers.fileOf(Key, ".words"));
}

/// Processor time of the processes that this one waited for.
static double secondsOfChildren() {
  struct rusage Usage;
  if (getrusage(RUSAGE_CHILDREN, &Usage))
    return 0;
  return Usage.ru_utime.tv_sec + Usage.ru_stime.tv_sec +
         (Usage.ru_utime.tv_usec + Usage.ru_stime.tv_usec) / 1e6;
}

SharedHeaders shareHeaders(llvm::ArrayRef<CompileCommand> Commands,
                           llvm::StringRef ResourceFolder,
                           const HeaderFolder &Folder, unsigned Jobs) {
  SharedHeaders Shared(Commands.size());
  const PrecompiledHeaders &Headers = Folder.headers();
  if (Headers.folder().empty())
    return Shared;
  auto Use = [&](const std::string &Key, const Work &W) {
    std::optional<std::string> File = Headers.find(Key);
    if (!File)
      return false;
    HeaderWords Words = HeaderWords::read(Headers.fileOf(Key, ".words"));
    for (size_t I = 0; I < W.Files.size(); ++I)
      if (!Words.hasAny(W.Macros[I]))
        Shared.Compiled[W.Files[I]] = *File;
    return true;
  };
  std::map<std::string, Work> Planned = planWork(Commands, ResourceFolder);
  std::vector<std::string> ToMake;
  for (const auto &[Key, W] : Planned)
    if (!Use(Key, W) && (Folder.isKept() || W.Files.size() > 1))
      ToMake.push_back(Key);
  runInWorkers(
      ToMake.size(), Jobs,
      [&](size_t Index) {
        const std::string &Key = ToMake[Index];
        Headers.make(Key, [&](const std::string &To, const auto &Inputs) {
          return precompile(Planned.at(Key), ResourceFolder, Headers, Key, To,
                            Inputs);
        });
        FileReport Cost;
        Cost.ParseSeconds = secondsOfChildren();
        return Cost;
      },
      [&](size_t Index, FileReport &Cost) {
        const Work &W = Planned.at(ToMake[Index]);
        Use(ToMake[Index], W);
        Shared.Seconds[W.Files.front()] = Cost.ParseSeconds;
      });
  return Shared;
}

} // namespace tensorscope
