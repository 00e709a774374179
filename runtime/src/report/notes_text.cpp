// SPDX-License-Identifier: Apache-2.0
// The lines of the text that are about the report itself.
#include "report/words.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace tensorscope::report {
namespace {

std::string counted(std::uint64_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

/// Where exit was called, or an exception was not caught.
std::string main_line(const Report& report) {
  if (report.main_returned) {
    return {};
  }
  std::string line = "main() had not returned: what its variables hold was not looked at";
  if (report.clean()) {
    const auto sum = [&](auto member) {
      return std::accumulate(report.held.begin(), report.held.end(), std::uint64_t{0},
                             [&](std::uint64_t total, const Site& site) { return total + site.*member; });
    };
    const std::uint64_t count = sum(&Site::count);
    if (count == 0) {
      return {}; // nothing is alive that it could hold
    }
    line = "tensorscope: " + line + "; " + counted(count, "tensor") + " with " + counted(sum(&Site::bytes), "byte") +
        (count == 1 ? " is" : " are") + " alive";
  }
  return line + "\n";
}

std::string suppressed_lines(const Report& report) {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  for (const auto& one : report.suppressed) {
    count += one.count;
    bytes += one.bytes;
  }
  if (count == 0) {
    return {};
  }
  std::string lines = "Suppressed: " + counted(count, "leak") + ", " + counted(bytes, "byte") + "\n";
  if (report.list_suppressed) {
    lines += "Suppressions used:\n     count          bytes rule\n";
    auto used = report.suppressed;
    std::stable_sort(used.begin(), used.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    for (const auto& one : used) {
      char figures[64];
      std::snprintf(figures, sizeof figures, "%10llu %14llu ", static_cast<unsigned long long>(one.count),
                    static_cast<unsigned long long>(one.bytes));
      lines += figures + one.rule + " (" + one.origin + ")\n";
    }
  }
  return lines;
}

} // namespace

std::string notes_of(const Report& report) {
  std::string notes = main_line(report) + suppressed_lines(report);
  for (const auto& line : report.health) {
    if (!report.clean() || !line.told) {
      notes += "tracker health: " + line.text + "\n";
    }
  }
  return notes;
}

} // namespace tensorscope::report
