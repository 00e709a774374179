// SPDX-License-Identifier: Apache-2.0
//
// The project's settings, from .tensorscope.yml. The command line wins over
// them.
#ifndef TENSORSCOPE_TOOL_CONFIG_H
#define TENSORSCOPE_TOOL_CONFIG_H

#include "checks/Analyzer.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace tensorscope {

/// Models as YAML text. An inline model stands at its lines of the
/// configuration, so that an error in it names the right one.
struct ModelText {
  std::string FileName;
  std::string Yaml;
};

struct Config {
  static constexpr llvm::StringLiteral FileName = ".tensorscope.yml";

  std::optional<unsigned> Level;
  std::optional<ScopesMode> Scopes;
  std::optional<unsigned> SmallLoopBound;
  std::vector<std::string> Checks;
  std::vector<ModelText> Models;

  /// Reads \p Path and the model files that it names. An unknown key or a bad
  /// value is an error that reads `FILE:LINE: what`.
  static llvm::Expected<Config> load(llvm::StringRef Path);
};

/// The mode named \p Name, or nothing.
std::optional<ScopesMode> scopesMode(llvm::StringRef Name);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_CONFIG_H
