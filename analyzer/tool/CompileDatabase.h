// SPDX-License-Identifier: Apache-2.0
//
// Finds and reads compile_commands.json and picks the commands that a run is
// about. Every error is one line that names the file, and the line in it where
// there is one.
#ifndef TENSORSCOPE_TOOL_COMPILEDATABASE_H
#define TENSORSCOPE_TOOL_COMPILEDATABASE_H

#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace tensorscope {

class CompileDatabase {
public:
  /// Reads the database that \p Location (a file, or a folder that holds one)
  /// names; when it is empty, the nearest one at or above \p StartPath, in a
  /// folder, in its `build`, or in a folder of that.
  static llvm::Expected<CompileDatabase> load(llvm::StringRef Location,
                                              llvm::StringRef StartPath);

  /// The commands of the files named by \p Paths (files, or folders for all
  /// the database has under them), or all commands when there are none.
  /// Sorted by file; a file with two commands comes twice.
  llvm::Expected<std::vector<clang::tooling::CompileCommand>>
  select(llvm::ArrayRef<std::string> Paths) const;

  const std::string &path() const { return File; }
  /// The line of the database that first names \p Source; 0 when none does.
  unsigned lineOf(llvm::StringRef Source) const;

private:
  std::string File;
  std::string Text;
  /// Files are absolute.
  std::vector<clang::tooling::CompileCommand> Commands;
};

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_COMPILEDATABASE_H
