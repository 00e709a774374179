// SPDX-License-Identifier: Apache-2.0
// The options as the library uses them, and the parser of TENSORSCOPE_OPTIONS. Called once, at load.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tensorscope::core {

enum class Level { off, scopes, full };
enum class OnEscape { release, report, throw_error };
enum class OnFork { follow, stop };
enum class ReportFormat { text, json, html, folded, speedscope, sarif, memory_viz };

struct Options {
#define TENSORSCOPE_VALUE(text, enumerator)
#define TENSORSCOPE_OPTION(key, type, value, sentence, values) type key = type::value;
#define TENSORSCOPE_SET(key, type, value, sentence, values) std::vector<type> key = {type::value};
#define TENSORSCOPE_SWITCH(key, value, sentence) bool key = value;
#define TENSORSCOPE_NUMBER(key, value, most, sentence) std::uint64_t key = value;
#define TENSORSCOPE_TEXT(key, what, sentence) std::string key;
#include "../options.inc"
#undef TENSORSCOPE_VALUE
};

struct ParsedOptions {
  Options options;
  std::vector<std::string> warnings; ///< one line each; all unknown keys are in one
  std::string error;                 ///< the first bad value, in one line that names the key; empty if none
};

/// Reads "key=value:key=value" on top of `defaults`. A value that holds a colon stands in quotes, ' or ". Keys after a
/// bad value are still read; a bad value leaves the default.
ParsedOptions parse_options(std::string_view text, const Options& defaults = {});

/// One line about an option that does nothing because of another; empty if there is none.
std::string trouble_between(const Options& options);

/// All keys with their values, defaults and sentences, a line each.
std::string options_help();

} // namespace tensorscope::core
