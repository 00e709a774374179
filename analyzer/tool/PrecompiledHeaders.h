// SPDX-License-Identifier: Apache-2.0
//
// Headers that are compiled once and kept in a folder, so that what includes
// them is quick to parse.
#ifndef TENSORSCOPE_TOOL_PRECOMPILEDHEADERS_H
#define TENSORSCOPE_TOOL_PRECOMPILEDHEADERS_H

#include "clang/Frontend/Utils.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <optional>
#include <string>

namespace tensorscope {

/// Two programs may use a folder at the same time: a file is complete whenever
/// it is there. One that is made while another program removes it is made anew
/// the next time.
class PrecompiledHeaders {
public:
  /// Writes the compiled header to \p File and tells \p Inputs of every file
  /// that was read; false if that failed.
  using Compiler = llvm::function_ref<bool(
      const std::string &File,
      const std::shared_ptr<clang::DependencyCollector> &Inputs)>;

  explicit PrecompiledHeaders(std::string Folder) : Folder(std::move(Folder)) {}

  /// A name for what depends on \p Texts, on this program and on its compiler.
  static std::string keyOf(llvm::ArrayRef<std::string> Texts);

  /// The compiled header, if there is one whose inputs are as they were.
  std::optional<std::string> find(llvm::StringRef Key) const;

  /// Compiles it, in a process of its own: that takes a gigabyte of memory.
  std::optional<std::string> make(llvm::StringRef Key, Compiler Compile) const;

  const std::string &folder() const { return Folder; }

  /// A file that is kept beside the header.
  std::string fileOf(llvm::StringRef Key, llvm::StringRef Extension) const;

private:
  void makeRoom() const;

  std::string Folder;
};

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_PRECOMPILEDHEADERS_H
