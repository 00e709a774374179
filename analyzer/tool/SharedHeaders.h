// SPDX-License-Identifier: Apache-2.0
//
// Compiles the headers that files of a run have in common, so that LibTorch's
// are parsed once and not once a file.
#ifndef TENSORSCOPE_TOOL_SHAREDHEADERS_H
#define TENSORSCOPE_TOOL_SHAREDHEADERS_H

#include "tool/Findings.h"
#include "tool/PrecompiledHeaders.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/Support/Error.h"

namespace tensorscope {

/// Where compiled headers are: for good, or for this run alone.
class HeaderFolder {
public:
  /// \p Named is the user's wish, and an error if it can't be had; without one,
  /// the user's cache. Where that can't be had, or is not to be used: a folder
  /// that goes with this object.
  static llvm::Expected<HeaderFolder> open(llvm::StringRef Named, bool IsKept);

  HeaderFolder(HeaderFolder &&Other);
  HeaderFolder &operator=(HeaderFolder &&) = delete;
  ~HeaderFolder();

  bool isKept() const { return !IsTemporary; }
  const PrecompiledHeaders &headers() const { return Headers; }

private:
  HeaderFolder(std::string Folder, bool IsTemporary)
      : Headers(std::move(Folder)), IsTemporary(IsTemporary) {}

  PrecompiledHeaders Headers;
  bool IsTemporary;
};

/// An entry for each of a run's files.
struct SharedHeaders {
  explicit SharedHeaders(size_t Count) : Compiled(Count), Seconds(Count) {}

  /// Empty where there is none.
  std::vector<std::string> Compiled;
  /// Processor time that compiling took; told of the first file of those that
  /// share a header.
  std::vector<double> Seconds;
};

/// Finds the compiled headers for \p Commands. Those that are not there and
/// that more than one file can use, or a later run, are made, in up to \p Jobs
/// processes.
SharedHeaders
shareHeaders(llvm::ArrayRef<clang::tooling::CompileCommand> Commands,
             llvm::StringRef ResourceFolder, const HeaderFolder &Folder,
             unsigned Jobs);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_SHAREDHEADERS_H
