// SPDX-License-Identifier: Apache-2.0
//
// KEY.pch with KEY.inputs, which has the size of the first and then each file
// that it was made of with its size and time.
#include "tool/PrecompiledHeaders.h"
#include "clang/Basic/Version.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <tuple>
#include <unistd.h>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace tensorscope {
namespace {

/// Files of other compilers, arguments or LibTorch versions go when nobody
/// asked for them that long, and the longest unused ones where there are many.
constexpr auto KeptUnused = std::chrono::hours(24 * 30);
constexpr std::uint64_t MostBytes = 2ULL << 30; // about 14 of LibTorch

/// All files, those of the system too: a new compiler is one that changed.
class AllFiles : public clang::DependencyCollector {
public:
  bool needSystemDependencies() override { return true; }
};

/// "SIZE TIME PATH"; empty if there is no such file.
std::string stateOf(llvm::StringRef File) {
  fs::file_status Status;
  if (fs::status(File, Status))
    return {};
  return (llvm::Twine(Status.getSize()) + " " +
          llvm::Twine(
              Status.getLastModificationTime().time_since_epoch().count()) +
          " " + File)
      .str();
}

bool isFresh(const std::string &Compiled, const std::string &Inputs) {
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

/// Ends the process.
[[noreturn]] void compile(const std::string &To, const std::string &Inputs,
                          PrecompiledHeaders::Compiler Compile) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_DFL);
  auto Files = std::make_shared<AllFiles>();
  std::uint64_t Size = 0;
  if (!Compile(To, Files) || fs::file_size(To, Size))
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
bool compiled(const std::string &To, const std::string &Inputs,
              PrecompiledHeaders::Compiler Compile) {
  pid_t Child = ::fork();
  if (Child == 0)
    compile(To, Inputs, Compile);
  int Status = 0;
  while (Child > 0 && ::waitpid(Child, &Status, 0) < 0 && errno == EINTR) {
  }
  return Child > 0 && WIFEXITED(Status) && WEXITSTATUS(Status) == 0;
}

/// A file's time says when it was last of use.
void noteUse(const std::string &Name) {
  int File = -1;
  if (fs::openFileForWrite(Name, File, fs::CD_OpenExisting, fs::OF_Append))
    return;
  fs::setLastAccessAndModificationTime(File, std::chrono::system_clock::now());
  ::close(File);
}

/// The files of one header.
struct Kept {
  std::string Key;
  std::vector<std::string> Files;
  /// The compiled header's; of what has none, the newest file's.
  llvm::sys::TimePoint<> Used;
  bool IsCompiled = false;
  std::uint64_t Bytes = 0;
};

/// Newest first.
std::vector<Kept> keptIn(llvm::StringRef Folder) {
  llvm::StringMap<Kept> Found;
  std::error_code Failure;
  for (fs::directory_iterator It(Folder, Failure), End; It != End && !Failure;
       It.increment(Failure)) {
    auto [Key, Kind] = path::filename(It->path()).split('.');
    auto Status = It->status();
    if (!Status || !llvm::is_contained(
                       llvm::ArrayRef<llvm::StringRef>{"pch", "inputs", "h",
                                                       "words"},
                       Kind.split('.').first))
      continue;
    Kept &K = Found[Key];
    K.Key = Key.str();
    K.Files.push_back(It->path());
    bool IsCompiled = Kind == "pch";
    if (IsCompiled || (!K.IsCompiled &&
                       Status->getLastModificationTime() > K.Used))
      K.Used = Status->getLastModificationTime();
    K.IsCompiled |= IsCompiled;
    K.Bytes += Status->getSize();
  }
  std::vector<Kept> Sorted;
  for (auto &Entry : Found)
    Sorted.push_back(std::move(Entry.second));
  llvm::sort(Sorted, [](const Kept &A, const Kept &B) {
    return std::tie(B.Used, A.Key) < std::tie(A.Used, B.Key);
  });
  return Sorted;
}

} // namespace

std::string PrecompiledHeaders::keyOf(llvm::ArrayRef<std::string> Texts) {
  llvm::SHA256 Hash;
  auto Add = [&](llvm::StringRef Text) {
    Hash.update(Text);
    Hash.update(llvm::StringRef("\0", 1));
  };
  Add(TENSORSCOPE_VERSION);
  Add(clang::getClangFullVersion());
  for (const std::string &Text : Texts)
    Add(Text);
  return llvm::toHex(Hash.final(), /*LowerCase=*/true).substr(0, 32);
}

std::string PrecompiledHeaders::fileOf(llvm::StringRef Key,
                                       llvm::StringRef Extension) const {
  llvm::SmallString<256> File(Folder);
  path::append(File, Key + Extension);
  return std::string(File);
}

std::optional<std::string> PrecompiledHeaders::find(llvm::StringRef Key) const {
  std::string Compiled = fileOf(Key, ".pch"), Inputs = fileOf(Key, ".inputs");
  if (!isFresh(Compiled, Inputs))
    return std::nullopt;
  noteUse(Compiled);
  return Compiled;
}

std::optional<std::string> PrecompiledHeaders::make(llvm::StringRef Key,
                                                    Compiler Compile) const {
  makeRoom();
  std::string Compiled = fileOf(Key, ".pch"), Inputs = fileOf(Key, ".inputs");
  std::string Mark = "." + std::to_string(::getpid()) + ".part";
  std::string NewCompiled = Compiled + Mark, NewInputs = Inputs + Mark;
  bool Made = compiled(NewCompiled, NewInputs, Compile) &&
              !fs::rename(NewCompiled, Compiled) &&
              !fs::rename(NewInputs, Inputs);
  fs::remove(NewCompiled);
  fs::remove(NewInputs);
  return Made ? std::optional(Compiled) : std::nullopt;
}

void PrecompiledHeaders::makeRoom() const {
  auto Oldest = std::chrono::system_clock::now() - KeptUnused;
  std::uint64_t Bytes = 0;
  for (const Kept &K : keptIn(Folder)) {
    Bytes += K.Bytes;
    if (Bytes <= MostBytes && K.Used >= Oldest)
      continue;
    for (const std::string &File : K.Files)
      fs::remove(File);
  }
}

} // namespace tensorscope
