// SPDX-License-Identifier: Apache-2.0
// Reads the rules. The wildcards are the C library's, with the characters shielded that mean nothing here.
#include "core/suppressions.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fnmatch.h>

namespace tensorscope::core {
namespace {

constexpr std::array<std::pair<std::string_view, SuppressionKind>, 4> kKinds{{{"leak", SuppressionKind::leak},
                                                                              {"op", SuppressionKind::op},
                                                                              {"scope", SuppressionKind::scope},
                                                                              {"device", SuppressionKind::device}}};

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  const auto begin = line.find_first_not_of(kBlank);
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin, line.find_last_not_of(kBlank) - begin + 1);
}

/// What is wrong with the line, or nothing.
std::string read_rule(std::string_view line, SuppressionRule& rule) {
  const auto colon = line.find(':');
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& known) { return known.first == line.substr(0, colon); });
  if (colon == std::string_view::npos || kind == kKinds.end()) {
    return "is no rule: use leak:, op:, scope: or device: and a pattern";
  }
  rule.kind = kind->second;
  rule.pattern = trimmed(line.substr(colon + 1));
  if (rule.pattern.find_first_not_of("*^$") == std::string::npos) {
    return "would hide everything: give it a pattern";
  }
  return {};
}

/// A line as it can be printed: the file that was named may be any.
std::string shown(std::string_view line) {
  constexpr std::size_t kMost = 60;
  std::string text(line.substr(0, kMost));
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return line.size() > kMost ? text + "..." : text;
}

} // namespace

bool matches_pattern(const std::string& pattern, const std::string& text) {
  if (text.empty()) {
    return false;
  }
  const bool from_begin = pattern.starts_with('^');
  const bool to_end = pattern.size() > (from_begin ? 1u : 0u) && pattern.ends_with('$');
  std::string shielded = from_begin ? "" : "*";
  for (const char c : std::string_view(pattern).substr(from_begin, pattern.size() - from_begin - to_end)) {
    shielded += c == '\\' || c == '?' || c == '[' ? "\\" : "";
    shielded += c;
  }
  shielded += to_end ? "" : "*";
  return ::fnmatch(shielded.c_str(), text.c_str(), 0) == 0;
}

bool SuppressionRule::matches(const std::string& text) const {
  return matches_pattern(pattern, text);
}

std::string SuppressionRule::text() const {
  const auto known = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& one) { return one.second == kind; });
  return std::string(known->first) + ":" + pattern;
}

ParsedSuppressions parse_suppressions(std::string_view text, const std::string& origin) {
  ParsedSuppressions parsed;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') {
      continue;
    }
    SuppressionRule rule;
    rule.origin = origin + ":" + std::to_string(number);
    if (const auto problem = read_rule(line, rule); !problem.empty()) {
      constexpr std::size_t kMostProblems = 20; // a file of another kind has one in each line
      if (parsed.problems.size() < kMostProblems) {
        parsed.problems.push_back(rule.origin + ": '" + shown(line) + "' " + problem);
      }
    } else {
      parsed.rules.push_back(std::move(rule));
    }
  }
  return parsed;
}

} // namespace tensorscope::core
