// SPDX-License-Identifier: Apache-2.0
// The words for growth.
#include "report/growth_words.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace tensorscope::report {
namespace {

/// "3.1 MiB".
std::string amount_of_bytes(double bytes) {
  constexpr std::array kUnits{"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", bytes, kUnits[unit]);
  return text.data();
}

/// "1", "0.25".
std::string number(double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f", value == std::floor(value) ? 0 : 2, value);
  return text.data();
}

} // namespace

std::string growth_headline(const Leak& leak) {
  const std::string count = std::to_string(leak.site.count);
  const std::string bytes = std::to_string(leak.bytes()) + " bytes";
  switch (leak.growth->kind) {
    case GrowthKind::tensors:
      return "GROWTH: " + bytes + " in " + count + " tensors piled up while the program worked";
    case GrowthKind::copies:
      return "GROWTH: " + bytes + " in " + count + " copies with the same content piled up";
    case GrowthKind::views:
      return "GROWTH: " + count + " small views piled up; each keeps a whole storage alive, " + bytes + " in all";
    case GrowthKind::graphs:
      return "GROWTH: " + count + " tensors piled up, each with the graph that made it";
    case GrowthKind::chain:
      return "GROWTH: a tensor carries its graph from iteration to iteration, and the graph is never let go";
  }
  return {};
}

std::string growth_line(const Growth& growth) {
  std::string text = "growth: ";
  if (growth.bytes_per_iteration >= 1) {
    text += "+" + amount_of_bytes(growth.bytes_per_iteration);
  } else if (growth.tensors_per_iteration > 0) {
    text += "+" + number(growth.tensors_per_iteration) + " tensors";
  } else {
    text += "more nodes of the graph";
  }
  return text + " per iteration over " + std::to_string(growth.iterations) + " iterations";
}

const char* growth_keeps(const Growth& growth) {
  return growth.kind == GrowthKind::views ? "  they keep " : "  what backward() would need is kept: ";
}

const char* growth_advice(const Growth& growth) {
  switch (growth.kind) {
    case GrowthKind::tensors:
      return "keep them no longer than they are used, or bound the container";
    case GrowthKind::copies:
      return "replace the earlier copy; a container that is filled again must be cleared first";
    case GrowthKind::views:
      return "clone() the part that is kept";
    case GrowthKind::graphs:
      return "keep loss.item() or detach(), or run under torch::NoGradGuard";
    case GrowthKind::chain:
      return "add loss.item() or loss.detach() up, and detach() a state before it goes into the next iteration";
  }
  return "";
}

} // namespace tensorscope::report
