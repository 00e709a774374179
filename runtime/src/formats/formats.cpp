// SPDX-License-Identifier: Apache-2.0
#include "formats/formats.h"

#include "formats/text.h"

#include <algorithm>

namespace tensorscope::formats {

const FormatInfo* find_format(std::string_view name) {
  const auto* const found = std::find_if(kFormats.begin(), kFormats.end(), [&](const auto& info) { return info.name == name; });
  return found == kFormats.end() ? nullptr : found;
}

std::string render(const Json& report, Format format, const Settings& settings) {
  switch (format) {
    case Format::text:
      return as_text(report, {settings.max_leaks, settings.whole_text, settings.list_suppressed});
    case Format::json:
      return to_text(report, 1) + "\n";
    case Format::html:
      return as_html(report);
    case Format::folded:
      return as_folded(report);
    case Format::speedscope:
      return as_speedscope(report);
    case Format::sarif:
      return as_sarif(report, settings.source_root);
    case Format::memory_viz:
      return as_memory_viz(report);
  }
  return {};
}

} // namespace tensorscope::formats
