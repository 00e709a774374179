// SPDX-License-Identifier: Apache-2.0
#include "tool/CacheFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <unistd.h>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace tensorscope {

static llvm::Error problem(llvm::StringRef Folder, const llvm::Twine &What) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 Folder + ": " + What);
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
    return problem(Folder, Failure.message());
  fs::file_status Status;
  if (std::error_code Failure = fs::status(Folder, Status))
    return problem(Folder, Failure.message());
  if (Status.type() != fs::file_type::directory_file)
    return problem(Folder, "no folder");
  if (Status.getUser() != ::geteuid() ||
      (Status.permissions() &
       (fs::perms::group_write | fs::perms::others_write)))
    return problem(Folder, "others may write there, and what is kept there is "
                           "trusted");
  if (::access(Folder.str().c_str(), W_OK) != 0)
    return problem(Folder, "no right to write");
  return llvm::Error::success();
}

} // namespace tensorscope
