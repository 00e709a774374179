// SPDX-License-Identifier: Apache-2.0
#include "tool/ReplParts.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cstdlib>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace tensorscope {

llvm::Error problemOf(const llvm::Twine &What) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), What);
}

static std::string in(llvm::StringRef Folder, const llvm::Twine &Name) {
  llvm::SmallString<256> Path(Folder);
  path::append(Path, Name);
  return std::string(Path);
}

static llvm::Expected<std::string> findProgram(llvm::StringRef Prefix) {
  std::string Program = in(Prefix, "bin/tensorscope-repl");
  if (fs::can_execute(Program))
    return Program;
  return problemOf("no " + Program +
                   "; build the runtime, too, with LLVM 22 or newer");
}

/// Installed beside the programs, else where this was built.
static llvm::Expected<std::string> findIncludes(llvm::StringRef Prefix) {
  std::string Installed = in(Prefix, "include");
  for (llvm::StringRef Folder : {llvm::StringRef(Installed),
                                 llvm::StringRef(TENSORSCOPE_SOURCE_INCLUDES)})
    if (fs::exists(in(Folder, "tensorscope/repl.h")))
      return Folder.str();
  return problemOf("no tensorscope/repl.h in " + Installed + " or " +
                   TENSORSCOPE_SOURCE_INCLUDES + "; install the headers");
}

/// "2.15.0", or empty.
static std::string versionOf(llvm::StringRef Torch) {
  std::string Version;
  for (const char *Header :
       {"include/torch/headeronly/version.h",
        "include/torch/csrc/api/include/torch/version.h"}) {
    auto Text = llvm::MemoryBuffer::getFile(in(Torch, Header), /*IsText=*/true);
    if (!Text || !Version.empty())
      continue;
    for (const char *Part : {"MAJOR", "MINOR", "PATCH"}) {
      std::string Key = std::string("#define TORCH_VERSION_") + Part + " ";
      llvm::StringRef Rest = (*Text)->getBuffer().split(Key).second;
      std::string Number = Rest.take_while(llvm::isDigit).str();
      if (!Number.empty())
        Version += (Version.empty() ? "" : ".") + Number;
    }
  }
  return Version;
}

static llvm::Error checkTorch(llvm::StringRef Torch) {
  for (const char *Part :
       {"include/torch/csrc/api/include/torch/torch.h", "lib/libtorch_cpu.so"})
    if (!fs::exists(in(Torch, Part)))
      return problemOf("no LibTorch in '" + Torch + "': no " + Part +
                       "; name its folder with --torch");
  std::string Version = versionOf(Torch);
  if (Version == TENSORSCOPE_TORCH_VERSION)
    return llvm::Error::success();
  return problemOf("LibTorch in '" + Torch + "' is " +
                   (Version.empty() ? "of no known version" : Version) +
                   ", and tensorscope was built with " TENSORSCOPE_TORCH_VERSION
                   "; name that one with --torch");
}

llvm::Expected<ReplParts> findReplParts(llvm::StringRef Torch,
                                        llvm::StringRef Executable) {
  llvm::SmallString<256> Real;
  if (fs::real_path(Executable, Real))
    Real = Executable;
  llvm::StringRef Prefix = path::parent_path(path::parent_path(Real));
  auto Program = findProgram(Prefix);
  if (!Program)
    return Program.takeError();
  auto Includes = findIncludes(Prefix);
  if (!Includes)
    return Includes.takeError();
  const char *Ordered = std::getenv("TENSORSCOPE_TORCH_DIR");
  if (Torch.empty() && Ordered)
    Torch = Ordered;
  bool Other = !Torch.empty();
  ReplParts Parts{*Program, *Includes,
                  Other ? Torch.str() : TENSORSCOPE_BUILT_WITH_TORCH, Other};
  llvm::SmallString<256> Absolute(Parts.Torch);
  if (!fs::make_absolute(Absolute))
    Parts.Torch = std::string(Absolute);
  if (llvm::Error Failure = checkTorch(Parts.Torch))
    return Failure;
  return Parts;
}

llvm::Expected<std::string> findLibrary(llvm::StringRef Name,
                                        llvm::ArrayRef<std::string> Folders) {
  if (Name.contains('/')) {
    llvm::SmallString<256> Real;
    if (std::error_code Failure = fs::real_path(Name, Real))
      return problemOf(Name + ": " + Failure.message());
    return std::string(Real);
  }
  std::string File =
      Name.contains(".so") ? Name.str() : ("lib" + Name + ".so").str();
  for (const std::string &Folder : Folders)
    if (fs::exists(in(Folder, File)))
      return findLibrary(in(Folder, "./" + File), {});
  return File;
}

/// The loader prints what it would load, and what it does not find, when it is
/// asked so.
llvm::Error checkLoads(llvm::StringRef Program) {
  llvm::SmallString<128> Listed;
  if (fs::createTemporaryFile("tensorscope-repl", "txt", Listed))
    return llvm::Error::success(); // then the loader says it itself
  llvm::StringRef Out = Listed;
  ::setenv("LD_TRACE_LOADED_OBJECTS", "1", /*replace=*/1);
  llvm::sys::ExecuteAndWait(Program, {Program}, std::nullopt,
                            {llvm::StringRef(""), Out, Out});
  ::unsetenv("LD_TRACE_LOADED_OBJECTS");
  auto Text = llvm::MemoryBuffer::getFile(Listed, /*IsText=*/true);
  fs::remove(Listed);
  if (!Text)
    return llvm::Error::success();
  llvm::SmallVector<llvm::StringRef> Lines, Lost;
  (*Text)->getBuffer().split(Lines, '\n');
  for (llvm::StringRef Line : Lines)
    if (Line.contains("=> not found"))
      Lost.push_back(Line.trim().split(' ').first);
  if (Lost.empty())
    return llvm::Error::success();
  return problemOf("not found: " + llvm::join(Lost, ", ") +
                   ", which LibTorch or LLVM needs; install what holds it, or "
                   "add its folder to LD_LIBRARY_PATH");
}

} // namespace tensorscope
