// SPDX-License-Identifier: Apache-2.0
//
// Which checks run and which of their findings count: the level, and the names
// switched on and off by the command line and the configuration.
#ifndef TENSORSCOPE_TOOL_CHECKSELECTION_H
#define TENSORSCOPE_TOOL_CHECKSELECTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tensorscope {

class CheckSelection {
public:
  static constexpr unsigned HighestLevel = 2;

  /// All checks up to \p Level.
  explicit CheckSelection(unsigned Level);

  /// Applies one entry of a list of checks: `name` switches a check on at any
  /// level, `-name` off; wildcards match several, "tensorscope-" may be left
  /// out. Refuses an entry that matches none.
  llvm::Error apply(llvm::StringRef Entry);

  bool runs(llvm::StringRef Rule) const;
  /// A check's finding can have a higher level than the check itself.
  bool reports(llvm::StringRef Rule, unsigned FindingLevel) const;

private:
  /// The highest level of findings to report, of the checks that run.
  llvm::StringMap<unsigned> LevelOf;
};

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_CHECKSELECTION_H
