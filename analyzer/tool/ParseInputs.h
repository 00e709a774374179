// SPDX-License-Identifier: Apache-2.0
//
// What the options that all commands have which parse files come to.
#ifndef TENSORSCOPE_TOOL_PARSEINPUTS_H
#define TENSORSCOPE_TOOL_PARSEINPUTS_H

#include "model/ModelSet.h"
#include "tool/CompileDatabase.h"
#include "tool/Config.h"

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

/// The number that `--jobs` gives; as many as the machine allows, if none.
llvm::Expected<unsigned> readJobCount(llvm::StringRef Jobs);

/// The settings in \p Path; if that is empty, the nearest at or above
/// \p StartPath, or none. Their models are added to \p Models.
llvm::Expected<Config> readSettings(llvm::StringRef Path,
                                    llvm::StringRef StartPath,
                                    ModelSet &Models);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_PARSEINPUTS_H
