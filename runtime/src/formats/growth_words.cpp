// SPDX-License-Identifier: Apache-2.0
#include "formats/growth_words.h"

#include "formats/words.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace tensorscope::formats {
namespace {

/// "tensors", "copies", "views", "graphs" or "chain"; empty where nothing grew.
std::string growth_of(const Json& leak) { return text_of(member(leak, "growth"), "of"); }

double real_of(const Json& object, const char* key) {
  const Json& found = member(object, key);
  return found.is_number() ? found.get<double>() : 0;
}

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

std::string growth_headline(const Json& leak) {
  const std::string count = std::to_string(number_of(member(leak, "site"), "count"));
  const std::string bytes = bytes_text(number_of(leak, "bytes"));
  const std::string kind = growth_of(leak);
  if (kind == "copies") {
    return "GROWTH: " + bytes + " in " + count + " copies with the same content piled up";
  }
  if (kind == "views") {
    return "GROWTH: " + count + " small views piled up; each keeps a whole storage alive, " + bytes + " in all";
  }
  if (kind == "graphs") {
    return "GROWTH: " + count + " tensors piled up, each with the graph that made it";
  }
  if (kind == "chain") {
    return "GROWTH: a tensor carries its graph from iteration to iteration, and the graph is never let go";
  }
  return "GROWTH: " + bytes + " in " + count + " tensors piled up while the program worked";
}

std::string growth_text(const Json& leak) {
  const Json& growth = member(leak, "growth");
  if (!growth.is_object()) {
    return {};
  }
  const double bytes = real_of(growth, "bytes_per_iteration");
  const double tensors = real_of(growth, "tensors_per_iteration");
  std::string text = "growth: ";
  if (bytes >= 1) {
    text += "+" + amount_of_bytes(bytes);
  } else if (tensors > 0) {
    text += "+" + number(tensors) + " tensors";
  } else {
    text += "more nodes of the graph";
  }
  return text + " per iteration over " + plural(number_of(growth, "iterations"), "iteration", "iterations");
}

std::string growth_keeps(const Json& leak) {
  return growth_of(leak) == "views" ? "they keep " : "what backward() would need is kept: ";
}

std::string growth_advice(const Json& leak) {
  const std::string kind = growth_of(leak);
  if (kind == "copies") {
    return "replace the earlier copy; a container that is filled again must be cleared first";
  }
  if (kind == "views") {
    return "clone() the part that is kept";
  }
  if (kind == "graphs") {
    return "keep loss.item() or detach(), or run under torch::NoGradGuard";
  }
  if (kind == "chain") {
    return "add loss.item() or loss.detach() up, and detach() a state before it goes into the next iteration";
  }
  return "keep them no longer than they are used, or bound the container";
}

} // namespace tensorscope::formats
