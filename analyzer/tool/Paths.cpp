// SPDX-License-Identifier: Apache-2.0
#include "tool/Paths.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace tensorscope {

std::string absolutePath(llvm::StringRef Path, llvm::StringRef Directory) {
  llvm::SmallString<256> Result(Path);
  if (!Directory.empty() && !path::is_absolute(Path)) {
    Result = Directory;
    path::append(Result, Path);
  }
  // Fails only where the current folder is gone; the path then stays as it is.
  (void)fs::make_absolute(Result);
  path::remove_dots(Result, /*remove_dot_dot=*/true);
  return std::string(Result);
}

bool liesUnder(llvm::StringRef File, llvm::StringRef Folder) {
  if (Folder == "/")
    return true;
  return File.consume_front(Folder) && (File.empty() || File.front() == '/');
}

std::string relativeTo(llvm::StringRef File, llvm::StringRef Folder) {
  if (File == Folder || Folder.empty() || !liesUnder(File, Folder))
    return File.str();
  return File.drop_front(Folder.size()).ltrim('/').str();
}

std::string displayPath(llvm::StringRef File) {
  llvm::SmallString<256> Here;
  if (fs::current_path(Here))
    return File.str();
  return relativeTo(File, Here);
}

std::optional<std::string> findUpward(llvm::StringRef Start,
                                      llvm::ArrayRef<llvm::StringRef> Names) {
  std::string Absolute = absolutePath(Start);
  for (llvm::StringRef Folder = Absolute; !Folder.empty();
       Folder = path::parent_path(Folder))
    for (llvm::StringRef Name : Names) {
      llvm::SmallString<256> Candidate(Folder);
      path::append(Candidate, Name);
      if (fs::exists(Candidate))
        return std::string(Candidate);
    }
  return std::nullopt;
}

} // namespace tensorscope
