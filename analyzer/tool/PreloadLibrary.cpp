// SPDX-License-Identifier: Apache-2.0
#include "tool/PreloadLibrary.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace tensorscope {

static llvm::Error problem(const llvm::Twine &Text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Text);
}

/// Separators of LD_PRELOAD can't be escaped.
static llvm::Expected<std::string> checked(llvm::StringRef Library) {
  llvm::SmallString<256> Real;
  if (std::error_code Failure = fs::real_path(Library, Real))
    return problem(Library + ": " + Failure.message());
  llvm::file_magic Kind;
  if (identify_magic(Real, Kind) ||
      Kind != llvm::file_magic::elf_shared_object)
    return problem(Real + ": no shared library");
  if (Real.str().find_first_of(": ") != llvm::StringRef::npos)
    return problem(Real + ": a path with a colon or a space cannot be "
                          "preloaded; install tensorscope elsewhere");
  return std::string(Real);
}

llvm::Expected<std::string> findPreloadLibrary(llvm::StringRef Given,
                                               llvm::StringRef Executable) {
  if (!Given.empty())
    return checked(Given);
  static constexpr llvm::StringLiteral Name = "libtensorscope_preload.so";
  llvm::SmallString<256> Real;
  if (fs::real_path(Executable, Real))
    Real = Executable;
  llvm::StringRef Prefix = path::parent_path(path::parent_path(Real));
  llvm::SmallVector<std::string> Tried;
  for (llvm::StringRef Folder : {TENSORSCOPE_LIBRARY_FOLDER, "lib"}) {
    llvm::SmallString<256> Library(Prefix);
    path::append(Library, Folder, Name);
    if (fs::exists(Library))
      return checked(Library);
    if (!llvm::is_contained(Tried, Library.str()))
      Tried.push_back(std::string(Library));
  }
  return problem("no " + llvm::join(Tried, ", no ") +
                 "; build the runtime, too, or name the library with "
                 "--preload");
}

} // namespace tensorscope
