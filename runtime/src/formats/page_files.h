// SPDX-License-Identifier: Apache-2.0
// The files of page/, embedded by cmake/EmbedFiles.cmake.
#pragma once

#include <string_view>

namespace tensorscope::formats::page_files {

extern const std::string_view page_html;
extern const std::string_view page_css;
extern const std::string_view page_js;
extern const std::string_view timeline_js;
extern const std::string_view flame_js;
extern const std::string_view table_js;

} // namespace tensorscope::formats::page_files
