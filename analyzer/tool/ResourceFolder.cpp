// SPDX-License-Identifier: Apache-2.0
#include "tool/ResourceFolder.h"
#include "clang/Basic/Version.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace tensorscope {

static bool isResourceFolder(llvm::StringRef Folder) {
  llvm::SmallString<256> Header(Folder);
  path::append(Header, "include", "stddef.h");
  return fs::exists(Header);
}

/// The folder of Clang's headers for a program or library in `bin` or `lib`.
static std::string besideBinary(llvm::StringRef Binary) {
  llvm::SmallString<256> Real;
  if (fs::real_path(Binary, Real))
    Real = Binary;
  llvm::StringRef Prefix = path::parent_path(path::parent_path(Real));
  llvm::SmallString<256> Folder(Prefix);
  path::append(Folder, "lib", "clang", llvm::Twine(CLANG_VERSION_MAJOR));
  return std::string(Folder);
}

llvm::Expected<std::string> findResourceFolder() {
  llvm::SmallVector<std::string> Tried;
  Tried.push_back(besideBinary(fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&findResourceFolder))));
  Dl_info Library;
  if (dladdr(reinterpret_cast<void *>(&clang::getClangFullRepositoryVersion),
             &Library) &&
      Library.dli_fname)
    Tried.push_back(besideBinary(Library.dli_fname));
  Tried.push_back(TENSORSCOPE_CLANG_RESOURCE_FOLDER);
  for (const std::string &Folder : Tried)
    if (!Folder.empty() && isResourceFolder(Folder))
      return Folder;
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "no include/stddef.h of Clang in any of " +
                                     llvm::join(llvm::ArrayRef(Tried), ", ") +
                                     "; install clang-" +
                                     llvm::Twine(CLANG_VERSION_MAJOR));
}

} // namespace tensorscope
