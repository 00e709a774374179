// SPDX-License-Identifier: Apache-2.0
#include "formats/notes.h"

#include "formats/words.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

namespace tensorscope::formats {
namespace {

/// Where exit was called, or an exception was not caught.
std::string main_line(const Json& report) {
  if (flag_of(report, "main_returned", true)) {
    return {};
  }
  const std::string line = "main() had not returned: what its variables hold was not looked at";
  if (!is_clean(report)) {
    return line + "\n";
  }
  const Json& held = member(report, "held");
  const std::uint64_t count = number_of(held, "count");
  if (count == 0) {
    return {}; // nothing is alive that it could hold
  }
  return "tensorscope: " + line + "; " + plural(count, "tensor", "tensors") + " with " +
      bytes_text(number_of(held, "bytes")) + (count == 1 ? " is" : " are") + " alive\n";
}

std::string rule_line(const Json& rule) {
  std::array<char, 64> figures{};
  std::snprintf(figures.data(), figures.size(), "%10llu %14llu ", static_cast<unsigned long long>(number_of(rule, "count")),
                static_cast<unsigned long long>(number_of(rule, "bytes")));
  return figures.data() + text_of(rule, "rule") + " (" + text_of(rule, "origin") + ")\n";
}

std::string suppressed_lines(const Json& report, bool list) {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::vector<const Json*> used;
  for (const Json& rule : list_of(report, "suppressed")) {
    count += number_of(rule, "count");
    bytes += number_of(rule, "bytes");
    used.push_back(&rule);
  }
  if (count == 0) {
    return {};
  }
  std::string lines = "Suppressed: " + plural(count, "leak", "leaks") + ", " + bytes_text(bytes) + "\n";
  if (list) {
    lines += "Suppressions used:\n     count          bytes rule\n";
    std::stable_sort(used.begin(), used.end(),
                     [](const Json* a, const Json* b) { return number_of(*a, "bytes") > number_of(*b, "bytes"); });
    for (const Json* rule : used) {
      lines += rule_line(*rule);
    }
  }
  return lines;
}

} // namespace

std::string notes_text(const Json& report, bool list_suppressed) {
  std::string notes = main_line(report) + suppressed_lines(report, list_suppressed);
  for (const Json& line : list_of(report, "health")) {
    notes += line.is_string() ? "tracker health: " + line.get<std::string>() + "\n" : "";
  }
  return notes;
}

} // namespace tensorscope::formats
