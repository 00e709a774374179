// SPDX-License-Identifier: Apache-2.0
//
// From a database's compile command to one for Clang's parser.
#include "tool/FileRunner.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace path = llvm::sys::path;
using namespace clang::tooling;

namespace tensorscope {

std::optional<std::string> reasonToSkip(const CompileCommand &Command) {
  llvm::StringRef Extension = path::extension(Command.Filename);
  bool NamesCuda = false;
  for (llvm::StringRef Argument : Command.CommandLine) {
    if (path::stem(Argument) == "nvcc" && !Argument.starts_with("-"))
      return "compiled by nvcc";
    NamesCuda |= Argument == "cuda" || Argument == "hip";
  }
  if (NamesCuda || Extension == ".cu" || Extension == ".hip")
    return "CUDA or HIP source";
  static constexpr llvm::StringLiteral Known[] = {
      ".c",   ".cc",   ".cpp", ".cxx", ".c++",
      ".ccm", ".cppm", ".ipp", ".ixx", ".mm"};
  bool Readable = llvm::is_contained(Known, Extension.lower());
  bool NamesLanguage =
      llvm::any_of(Command.CommandLine, [](llvm::StringRef Argument) {
        return Argument.starts_with("-x");
      });
  if (!Readable && !NamesLanguage)
    return "not C or C++";
  return std::nullopt;
}

std::vector<PathOption> pathOptions(llvm::ArrayRef<std::string> Words,
                                    llvm::ArrayRef<llvm::StringRef> Options) {
  std::vector<PathOption> Found;
  for (size_t I = 0; I < Words.size(); ++I)
    for (llvm::StringRef Option : Options) {
      llvm::StringRef Path = Words[I];
      if (!Path.consume_front(Option))
        continue;
      bool IsApart = Path.empty() && I + 1 < Words.size();
      Found.push_back({I, IsApart ? 2U : 1U, IsApart ? Words[I + 1] : Path});
    }
  return Found;
}

/// Another compiler's precompiled header cannot be read. CMake includes the
/// header's text beside it, so nothing is lost.
static CommandLineArguments
withoutPrecompiledHeaders(const CommandLineArguments &Arguments,
                          llvm::StringRef /*File*/) {
  CommandLineArguments Kept;
  for (size_t I = 0; I < Arguments.size(); ++I) {
    bool Wrapped = Arguments[I] == "-Xclang" && I + 3 < Arguments.size() &&
                   Arguments[I + 1] == "-include-pch" &&
                   Arguments[I + 2] == "-Xclang";
    if (Wrapped)
      I += 3;
    else if (Arguments[I] == "-include-pch")
      I += 1;
    else if (Arguments[I] != "-Winvalid-pch")
      Kept.push_back(Arguments[I]);
  }
  return Kept;
}

static CommandLineArguments
withoutResourceFolder(const CommandLineArguments &Arguments,
                      llvm::StringRef /*File*/) {
  CommandLineArguments Kept;
  for (size_t I = 0; I < Arguments.size(); ++I) {
    llvm::StringRef Argument = Arguments[I];
    if (Argument == "-resource-dir")
      I += 1;
    else if (!Argument.starts_with("-resource-dir="))
      Kept.push_back(Arguments[I]);
  }
  return Kept;
}

std::vector<std::string> argumentsToParse(const CompileCommand &Command,
                                          llvm::StringRef ResourceFolder) {
  // Errors must not stop the parser: the functions around them are checked.
  CommandLineArguments Added = {"-resource-dir=" + ResourceFolder.str(), "-w",
                                "-ferror-limit=0", "-Qunused-arguments"};
  ArgumentsAdjuster All = getClangStripOutputAdjuster();
  for (ArgumentsAdjuster Next :
       {getClangStripDependencyFileAdjuster(), getStripPluginsAdjuster(),
        ArgumentsAdjuster(withoutPrecompiledHeaders),
        ArgumentsAdjuster(withoutResourceFolder),
        getInsertArgumentAdjuster(Added, ArgumentInsertPosition::BEGIN),
        getClangSyntaxOnlyAdjuster()})
    All = combineAdjusters(std::move(All), std::move(Next));
  return All(Command.CommandLine, Command.Filename);
}

} // namespace tensorscope
