// SPDX-License-Identifier: Apache-2.0
//
// NOLINT comments, read as clang-tidy reads them, with a count of what each one
// silenced. One object per source file.
#ifndef TENSORSCOPE_TOOL_SUPPRESSIONS_H
#define TENSORSCOPE_TOOL_SUPPRESSIONS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tensorscope {

/// A comment to tell the user of: it silences nothing, or has no partner.
struct SuppressionProblem {
  unsigned Line = 0;
  std::string Message;
};

/// As in clang-tidy a comment is found by its text alone, and its names may
/// have wildcards. Difference: a name that starts with '-' excludes nothing.
class Suppressions {
public:
  explicit Suppressions(llvm::StringRef Text);

  /// Whether a finding of \p Rule (no prefix) on \p Line is silenced; the
  /// comment that does it counts as used.
  bool suppress(llvm::StringRef Rule, unsigned Line);

  /// Comments that name a check of ours and silenced nothing, though each
  /// check they name ran, and block comments without a partner.
  std::vector<SuppressionProblem>
  problems(llvm::function_ref<bool(llvm::StringRef Rule)> Ran) const;

private:
  struct Directive {
    std::string Spelling; // e.g. "NOLINTNEXTLINE(tensorscope-x)"
    unsigned Line = 0;
    unsigned FirstSilenced = 0;
    unsigned LastSilenced = 0;
    std::vector<std::string> Names; // "*" when none is given
    bool Used = false;
    bool Unmatched = false;

    bool names(llvm::StringRef Check) const;
  };

  void readLine(llvm::StringRef Line, unsigned Number);
  void closeBlock(const Directive &End);

  std::vector<Directive> Directives;
};

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_SUPPRESSIONS_H
