// SPDX-License-Identifier: Apache-2.0
// The report as text, for people.
#pragma once

#include "formats/json.h"

#include <string>

namespace tensorscope::formats {

struct TextSettings {
  std::uint64_t max_leaks = 0; ///< leaks shown; 0: all
  bool whole = false;          ///< speak of a clean report, too
  bool list_suppressed = false; ///< the rules that hid something
};

/// The last line starts with "SUMMARY: tensorscope:". Of a clean report only its notes, unless all is wanted.
std::string as_text(const Json& report, const TextSettings& settings);

/// The user's frames of a stack, a line each, indented; LibTorch's are counted in one line.
std::string stack_text(const Json& stack);

/// The line in place of a stack that has no frame of the program.
std::string folded_frames_line(std::uint64_t folded);

} // namespace tensorscope::formats
