// SPDX-License-Identifier: Apache-2.0
// A report as a JSON document (docs/runtime/report.schema.json), and ways to ask it that never fail: what is absent or
// of another type is empty. Documents come from other versions of the library, too.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tensorscope::formats {

/// Keeps the order of its keys.
using Json = nlohmann::ordered_json;

/// The version of the schema that is written and read here.
inline constexpr std::uint64_t kSchemaVersion = 1;

inline const Json& member(const Json& object, const char* key) {
  static const Json& nothing = *new Json; // also read after static destruction, by a report at exit
  if (!object.is_object()) {
    return nothing;
  }
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

inline const Json& list_of(const Json& object, const char* key) {
  static const Json& nothing = *new Json(Json::array()); // as above
  const Json& found = member(object, key);
  return found.is_array() ? found : nothing;
}

inline std::string text_of(const Json& object, const char* key) {
  const Json& found = member(object, key);
  return found.is_string() ? found.get_ref<const std::string&>() : std::string();
}

/// Never negative.
inline std::uint64_t number_of(const Json& object, const char* key) {
  const Json& found = member(object, key);
  return found.is_number_unsigned() ? found.get<std::uint64_t>() : 0;
}

inline bool flag_of(const Json& object, const char* key, bool otherwise) {
  const Json& found = member(object, key);
  return found.is_boolean() ? found.get<bool>() : otherwise;
}

/// As text. Names of a program's files and functions need not be UTF-8: what is none is replaced.
inline std::string to_text(const Json& document, int indent = -1) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace tensorscope::formats
