// SPDX-License-Identifier: Apache-2.0
//
// A folder of files that is gone after the test. For tests of what reads files.
#ifndef TENSORSCOPE_TEST_TEMPORARYFOLDER_H
#define TENSORSCOPE_TEST_TEMPORARYFOLDER_H

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <string>

namespace tensorscope {

class TemporaryFolder {
public:
  TemporaryFolder() {
    llvm::SmallString<128> Path;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("tensorscope", Path));
    Root = std::string(Path);
  }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(Root); }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  const std::string &path() const { return Root; }
  std::string path(llvm::StringRef Name) const {
    return Root + "/" + Name.str();
  }

  /// Writes a file, with the folders on the way to it; gives its path.
  std::string write(llvm::StringRef Name, llvm::StringRef Text) const {
    std::string File = path(Name);
    EXPECT_FALSE(llvm::sys::fs::create_directories(
        llvm::sys::path::parent_path(File)));
    std::error_code Error;
    llvm::raw_fd_ostream Out(File, Error);
    EXPECT_FALSE(Error) << Error.message();
    Out << Text;
    return File;
  }

private:
  std::string Root;
};

} // namespace tensorscope

#endif // TENSORSCOPE_TEST_TEMPORARYFOLDER_H
