// SPDX-License-Identifier: Apache-2.0
// Reads TENSORSCOPE_OPTIONS by the table in options.inc.
#include "core/options.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

namespace tensorscope::core {
namespace {

template <class Value>
using Choices = std::vector<std::pair<std::string_view, Value>>;

template <class Value>
std::string names_of(const Choices<Value>& choices) {
  std::string names;
  for (const auto& choice : choices) {
    names += (names.empty() ? "" : ", ") + std::string(choice.first);
  }
  return names;
}

/// Each of these sets `option` and returns an empty text, or leaves it and says what the option takes.
template <class Value>
std::string set_choice(Value& option, std::string_view given, const Choices<Value>& choices) {
  const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& choice) { return choice.first == given; });
  if (found == choices.end()) {
    return names_of(choices);
  }
  option = found->second;
  return {};
}

template <class Value>
std::string set_all(std::vector<Value>& option, std::string_view given, const Choices<Value>& choices) {
  std::vector<Value> values;
  for (;;) {
    const auto comma = given.find(',');
    Value value{};
    if (!set_choice(value, given.substr(0, comma), choices).empty()) {
      return "one or more of " + names_of(choices);
    }
    if (std::find(values.begin(), values.end(), value) == values.end()) {
      values.push_back(value);
    }
    if (comma == std::string_view::npos) {
      option = std::move(values);
      return {};
    }
    given.remove_prefix(comma + 1);
  }
}

std::string set_switch(bool& option, std::string_view given) {
  return set_choice<bool>(option, given, {{"0", false}, {"1", true}});
}

std::string set_number(std::uint64_t& option, std::string_view given, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(given.data(), given.data() + given.size(), number);
  if (given.empty() || problem != std::errc() || end != given.data() + given.size() || number > most) {
    return "a whole number from 0 to " + std::to_string(most);
  }
  option = number;
  return {};
}

std::string set_text(std::string& option, std::string_view given) {
  if (given.empty()) {
    return "a text that is not empty";
  }
  option = given;
  return {};
}

#define TENSORSCOPE_VALUE(text, enumerator) {text, Value::enumerator},

/// True if the key is known; `allowed` then says what it takes if the value is bad.
bool set_option(Options& options, std::string_view key, std::string_view value, std::string& allowed) {
#define TENSORSCOPE_OPTION(name, type, initial, sentence, values)             \
  if (key == #name) {                                                         \
    using Value = type;                                                       \
    allowed = set_choice<Value>(options.name, value, Choices<Value>{values}); \
    return true;                                                              \
  }
#define TENSORSCOPE_SET(name, type, initial, sentence, values)             \
  if (key == #name) {                                                      \
    using Value = type;                                                    \
    allowed = set_all<Value>(options.name, value, Choices<Value>{values}); \
    return true;                                                           \
  }
#define TENSORSCOPE_SWITCH(name, initial, sentence) \
  if (key == #name) {                               \
    allowed = set_switch(options.name, value);      \
    return true;                                    \
  }
#define TENSORSCOPE_NUMBER(name, initial, most, sentence) \
  if (key == #name) {                                     \
    allowed = set_number(options.name, value, most);      \
    return true;                                          \
  }
#define TENSORSCOPE_TEXT(name, what, sentence) \
  if (key == #name) {                          \
    allowed = set_text(options.name, value);   \
    return true;                               \
  }
#include "../options.inc"
  return false;
}

/// Takes the next entry off `text`; colons in quotes are part of it.
std::string next_entry(std::string_view& text) {
  std::string entry;
  char quote = '\0';
  std::size_t i = 0;
  for (; i < text.size() && (quote != '\0' || text[i] != ':'); ++i) {
    if (quote == text[i]) {
      quote = '\0';
    } else if (quote == '\0' && (text[i] == '"' || text[i] == '\'')) {
      quote = text[i];
    } else {
      entry += text[i];
    }
  }
  text.remove_prefix(std::min(i + 1, text.size()));
  return entry;
}

/// How many characters were left out, added, changed or swapped with the next one to make one word of the other.
std::size_t mistakes_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

/// The known key that was probably meant; empty if none is near.
std::string_view nearest_key(std::string_view given) {
  static constexpr std::string_view keys[] = {
#define TENSORSCOPE_OPTION(name, type, initial, sentence, values) #name,
#define TENSORSCOPE_SET(name, type, initial, sentence, values) #name,
#define TENSORSCOPE_SWITCH(name, initial, sentence) #name,
#define TENSORSCOPE_NUMBER(name, initial, most, sentence) #name,
#define TENSORSCOPE_TEXT(name, what, sentence) #name,
#include "../options.inc"
  };
  constexpr std::size_t kLongest = 32; // what is longer was never meant to be a key
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(given.size() / 3, 1) + 1;
  for (const auto key : keys) {
    const std::size_t mistakes = given.size() <= kLongest ? mistakes_between(given, key) : least;
    if (mistakes < least) {
      least = mistakes;
      nearest = key;
    }
  }
  return nearest;
}

std::string warning_of(const std::vector<std::string>& unknown) {
  std::string keys;
  for (const auto& key : unknown) {
    keys += (keys.empty() ? "'" : ", '") + key + "'";
    if (const auto nearest = nearest_key(key); !nearest.empty()) {
      keys += " (did you mean '" + std::string(nearest) + "'?)";
    }
  }
  return "TENSORSCOPE_OPTIONS: unknown " +
      (unknown.size() == 1 ? "key " + keys + " is" : "keys " + keys + " are") + " ignored; help=1 lists the keys";
}

template <class Value>
std::string name_of(const Choices<Value>& choices, Value value) {
  const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& choice) { return choice.second == value; });
  return found == choices.end() ? std::string() : std::string(found->first);
}

std::string help_line(const char* key, const std::string& takes, const std::string& initial, const char* sentence) {
  std::string line = std::string("  ") + key + "=" + takes;
  line.resize(std::max<std::size_t>(line.size() + 1, 36), ' ');
  return line + sentence + " (" + initial + ")\n";
}

} // namespace

ParsedOptions parse_options(std::string_view text, const Options& defaults) {
  ParsedOptions parsed;
  parsed.options = defaults;
  std::vector<std::string> unknown;
  while (!text.empty()) {
    const auto entry = next_entry(text);
    if (entry.empty()) {
      continue;
    }
    const auto equals = entry.find('=');
    const auto key = entry.substr(0, equals);
    const auto value = equals == std::string::npos ? std::string() : entry.substr(equals + 1);
    std::string allowed;
    if (!set_option(parsed.options, key, value, allowed)) {
      unknown.push_back(key);
    } else if (parsed.error.empty() && !allowed.empty()) {
      parsed.error = "TENSORSCOPE_OPTIONS: bad value '" + value + "' for '" + key + "': use " + allowed;
    }
  }
  if (!unknown.empty()) {
    parsed.warnings.push_back(warning_of(unknown));
  }
  return parsed;
}

std::string trouble_between(const Options& options) {
  if (options.level == Level::full) {
    return {};
  }
  std::string keys;
  const auto add = [&](bool given, const char* key) { keys += given ? (keys.empty() ? "" : ", ") + std::string(key) : ""; };
  add(options.halt, "halt=1");
  add(options.limit_mb != 0, "limit_mb");
  add(!options.suppressions.empty(), "suppressions");
  return keys.empty() ? keys : "TENSORSCOPE_OPTIONS: no effect below level=full: " + keys;
}

std::string options_help() {
  std::string help = "TENSORSCOPE_OPTIONS=key=value:key=value (defaults in brackets)\n";
#define TENSORSCOPE_OPTION(name, type, initial, sentence, values)                               \
  {                                                                                             \
    using Value = type;                                                                         \
    const Choices<Value> choices{values};                                                       \
    help += help_line(#name, names_of(choices), name_of(choices, Value::initial), sentence);    \
  }
#define TENSORSCOPE_SET(name, type, initial, sentence, values)                                  \
  {                                                                                             \
    using Value = type;                                                                         \
    const Choices<Value> choices{values};                                                       \
    help += help_line(#name, names_of(choices), name_of(choices, Value::initial), sentence);    \
  }
#define TENSORSCOPE_SWITCH(name, initial, sentence) help += help_line(#name, "0, 1", (initial) ? "1" : "0", sentence);
#define TENSORSCOPE_NUMBER(name, initial, most, sentence) \
  help += help_line(#name, "number", std::to_string(initial), sentence);
#define TENSORSCOPE_TEXT(name, what, sentence) help += help_line(#name, what, "none", sentence);
#include "../options.inc"
  return help;
}

} // namespace tensorscope::core
