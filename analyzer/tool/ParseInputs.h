// SPDX-License-Identifier: Apache-2.0
//
// What the options that all commands have which parse files come to.
#ifndef TENSORSCOPE_TOOL_PARSEINPUTS_H
#define TENSORSCOPE_TOOL_PARSEINPUTS_H

#include "model/ModelSet.h"
#include "tool/CompileDatabase.h"
#include "tool/Config.h"
#include "tool/SharedHeaders.h"
#include "llvm/Support/CommandLine.h"

namespace tensorscope {

/// Files to parse, and Clang's own headers.
struct ParseInputs {
  CompileDatabase Database;
  std::vector<clang::tooling::CompileCommand> Commands;
  std::string ResourceFolder;
};

llvm::Expected<ParseInputs> findInputs(llvm::StringRef Build,
                                       llvm::StringRef StartPath,
                                       llvm::ArrayRef<std::string> Paths);

/// Where the command keeps headers that it compiled.
class HeaderOptions {
public:
  HeaderOptions(llvm::cl::SubCommand &Sub, llvm::cl::OptionCategory &Category)
      : Cache("cache",
              llvm::cl::desc("Keep compiled headers here (default: "
                             "tensorscope in the user's cache folder)"),
              llvm::cl::value_desc("folder"), llvm::cl::sub(Sub),
              llvm::cl::cat(Category)),
        NoCache("no-cache",
                llvm::cl::desc("Compile shared headers for this run alone"),
                llvm::cl::sub(Sub), llvm::cl::cat(Category)) {}

  llvm::Expected<HeaderFolder> open() const {
    return HeaderFolder::open(Cache, /*IsKept=*/!NoCache);
  }

private:
  llvm::cl::opt<std::string> Cache;
  llvm::cl::opt<bool> NoCache;
};

/// The number that `--jobs` gives; as many as the machine allows, if none.
llvm::Expected<unsigned> readJobCount(llvm::StringRef Jobs);

/// The settings in \p Path; if that is empty, the nearest at or above
/// \p StartPath, or none. Their models are added to \p Models.
llvm::Expected<Config> readSettings(llvm::StringRef Path,
                                    llvm::StringRef StartPath,
                                    ModelSet &Models);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_PARSEINPUTS_H
