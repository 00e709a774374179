// SPDX-License-Identifier: Apache-2.0
// Reads TENSORSCOPE_OPTIONS by the table in options.inc.
#include "core/options.h"

#include <optional>
#include <utility>

namespace tensorscope::core {
namespace {

template <class Value>
using Choices = std::vector<std::pair<std::string_view, Value>>;

template <class Value>
bool set_choice(Value& option, std::string_view given, const Choices<Value>& choices, std::string& allowed) {
  for (const auto& [name, value] : choices) {
    if (name == given) {
      option = value;
      return true;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(name);
  }
  return false;
}

/// True if the key is known; `problem` is then set for a bad value.
bool set_option(Options& options, std::string_view key, std::string_view value, std::string& problem) {
  std::string allowed;
#define TENSORSCOPE_VALUE(text, enumerator) {text, Value::enumerator},
#define TENSORSCOPE_OPTION(name, type, initial, sentence, values)                                   \
  if (key == #name) {                                                                               \
    using Value = type;                                                                             \
    if (!set_choice<Value>(options.name, value, Choices<Value>{values}, allowed)) {                 \
      problem = "TENSORSCOPE_OPTIONS: bad value '" + std::string(value) + "' for '" #name "': use " + allowed; \
    }                                                                                               \
    return true;                                                                                    \
  }
#include "../options.inc"
#undef TENSORSCOPE_OPTION
#undef TENSORSCOPE_VALUE
  return false;
}

} // namespace

ParsedOptions parse_options(std::string_view text) {
  ParsedOptions parsed;
  while (!text.empty()) {
    const auto end = text.find(':');
    const auto entry = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (entry.empty()) {
      continue;
    }
    const auto equals = entry.find('=');
    const auto key = entry.substr(0, equals);
    const auto value = equals == std::string_view::npos ? std::string_view() : entry.substr(equals + 1);
    std::string problem;
    if (!set_option(parsed.options, key, value, problem)) {
      parsed.warnings.push_back("TENSORSCOPE_OPTIONS: unknown key '" + std::string(key) + "' is ignored");
    } else if (parsed.error.empty()) {
      parsed.error = problem;
    }
  }
  return parsed;
}

} // namespace tensorscope::core
