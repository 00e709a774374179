// SPDX-License-Identifier: Apache-2.0
// The words of a report, one function for each thing that it tells. The text, the page and SARIF share them.
#pragma once

#include "formats/json.h"

#include <string>

namespace tensorscope::formats {

/// "1 tensor", "2 tensors".
std::string plural(std::uint64_t count, const char* one, const char* many);

/// "1 byte", "2 bytes".
std::string bytes_text(std::uint64_t bytes);

/// The same with three digits and a unit: "163 MiB".
std::string short_bytes(std::uint64_t bytes);

/// "model.cpp:12", from `file` and `line` of a place or frame.
std::string place_text(const Json& place);

/// "function file:line:column", or what is known of it.
std::string frame_text(const Json& frame);
std::string frame_text(const std::string& function, const std::string& file, std::uint64_t line, std::uint64_t column,
                       const std::string& library);

/// "aten::mul Float [4, 4] on cpu".
std::string site_text(const Json& site);

/// "the scope at a.cpp:3 in the session at b.cpp:7"; empty for none.
std::string scopes_text(const Json& scopes);

/// The first line on a leak, without an end: "LEAK: 420 bytes in 5 tensors that were retained and never let go".
std::string headline(const Json& leak);

/// What to do about it.
std::string advice(const Json& leak);

/// What keeps a tensor that keeps itself; empty where nothing is known.
std::string cycle_text(const Json& leak);

/// Of lost tensors that were given to another library; empty where none was.
std::string export_text(const Json& leak);

/// "held by static 'cache' (model.cpp:12) -> std::vector -> Tensor"; of several handles with their number.
std::string holder_text(const Json& holder);

/// "on 3 of 4 processes, with 84 to 420 bytes each"; empty in a report of one process.
std::string ranks_text(const Json& leak);

std::string session_headline(const Json& session);
std::string session_advice();
std::string use_headline(const Json& use);
/// "released by the end of the scope at a.cpp:3".
std::string release_text(const Json& use);

/// The last line, without an end: "SUMMARY: tensorscope: ...".
std::string summary(const Json& report);

/// Whether there is anything to tell.
bool is_clean(const Json& report);

} // namespace tensorscope::formats
