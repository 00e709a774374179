// SPDX-License-Identifier: Apache-2.0
// The forms in which a report can be written. Knows neither LibTorch nor the running program: everything comes from the
// document, so that a file gives what the program itself would have written.
#pragma once

#include "formats/json.h"

#include <array>
#include <string>
#include <string_view>

namespace tensorscope::formats {

enum class Format { text, json, html, folded, speedscope, sarif, memory_viz };

struct FormatInfo {
  Format format;
  const char* name;      ///< as options and commands spell it
  const char* extension; ///< of a file beside others
  bool for_terminals;    ///< can be read as it is
  const char* sentence;
};

inline constexpr std::array kFormats{
    FormatInfo{Format::text, "text", ".txt", true, "for people"},
    FormatInfo{Format::json, "json", ".json", true, "for programs; the source of all others"},
    FormatInfo{Format::html, "html", ".html", false, "a page with timeline, flame graph and table; needs no network"},
    FormatInfo{Format::folded, "folded", ".folded", true, "a line for each stack with its bytes, for flamegraph.pl"},
    FormatInfo{Format::speedscope, "speedscope", ".speedscope.json", true, "for speedscope"},
    FormatInfo{Format::sarif, "sarif", ".sarif", true, "SARIF 2.1.0, for code scanning and editors"},
    FormatInfo{Format::memory_viz, "memory_viz", ".pickle", false, "a snapshot for PyTorch's memory viewer"},
};

constexpr const FormatInfo& info_of(Format format) { return kFormats[static_cast<std::size_t>(format)]; }

/// Null for a name that is not known.
const FormatInfo* find_format(std::string_view name);

struct Settings {
  std::uint64_t max_leaks = 0; ///< that the text shows; 0: all
  bool whole_text = false;     ///< the text speaks of a clean report, too
  bool list_suppressed = false; ///< the text has the rules that hid something
  std::string source_root;     ///< SARIF's paths are relative to this folder; an absolute path or empty
};

std::string render(const Json& report, Format format, const Settings& settings);

// One file each.
std::string as_html(const Json& report);
std::string as_folded(const Json& report);
std::string as_speedscope(const Json& report);
std::string as_sarif(const Json& report, const std::string& source_root);
std::string as_memory_viz(const Json& report);

} // namespace tensorscope::formats
