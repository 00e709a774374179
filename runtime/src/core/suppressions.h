// SPDX-License-Identifier: Apache-2.0
// Rules that hide known leaks, in the syntax of LeakSanitizer's suppression files. Text only: what a rule is held
// against is the business of report/suppress.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tensorscope::core {

/// What a rule looks at.
enum class SuppressionKind : std::uint8_t {
  leak,   ///< functions, files and libraries of the stack in which the tensor was made
  op,     ///< the operator that made it
  scope,  ///< the files, lines and functions of the scopes around
  device, ///< where its bytes are
};

struct SuppressionRule {
  SuppressionKind kind = SuppressionKind::leak;
  std::string pattern;
  std::string origin; ///< "file:line"; empty for a rule that was only proposed

  bool matches(const std::string& text) const;
  /// As it is written: "leak:pattern".
  std::string text() const;
};

struct ParsedSuppressions {
  std::vector<SuppressionRule> rules;
  std::vector<std::string> problems; ///< one line for each line that is no rule, with its place
};

/// Reads rules, one a line: "kind:pattern". Empty lines and those that begin with # are none. `origin` names the text.
ParsedSuppressions parse_suppressions(std::string_view text, const std::string& origin);

/// Whether `pattern` is found in `text`: * is any run of characters, ^ at the beginning and $ at the end tie the pattern
/// to those of the text. Nothing else has a meaning of its own; an empty text fits no pattern.
bool matches_pattern(const std::string& pattern, const std::string& text);

} // namespace tensorscope::core
