// SPDX-License-Identifier: Apache-2.0
// The options as the library uses them, and the parser of TENSORSCOPE_OPTIONS. Called once, at load.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tensorscope::core {

enum class Level { off, scopes };
enum class OnEscape { release, report, throw_error };

struct Options {
#define TENSORSCOPE_VALUE(text, enumerator)
#define TENSORSCOPE_OPTION(key, type, value, sentence, values) type key = type::value;
#include "../options.inc"
#undef TENSORSCOPE_OPTION
#undef TENSORSCOPE_VALUE
};

struct ParsedOptions {
  Options options;
  std::vector<std::string> warnings; ///< one line each: unknown keys
  std::string error;                 ///< the first bad value, in one line that names the key; empty if none
};

/// Reads "key=value:key=value". Keys after a bad value are still read; a bad value leaves the default.
ParsedOptions parse_options(std::string_view text);

} // namespace tensorscope::core
