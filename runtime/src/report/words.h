// SPDX-License-Identifier: Apache-2.0
// The report in words and as JSON.
#pragma once

#include "report/leaks.h"

#include <string>

namespace tensorscope::report {

/// For people. Of a clean report only its notes. Shows at most `max_leaks` leaks (0: all); the last line starts with
/// "SUMMARY: tensorscope:".
std::string as_text(const Report& report, Symbolizer& symbolizer, std::uint64_t max_leaks);

/// What has to be known to trust the report, a line each: what was not looked at, what rules hid, the library's own
/// troubles. Of a clean report only what is news. Mostly empty.
std::string notes_of(const Report& report);

/// For programs: {"version": 1, ...}, always whole; see docs/runtime/reports.md.
std::string as_json(const Report& report, Symbolizer& symbolizer);

/// "Float [4, 4] on cpu"; "a tensor" where nothing is known.
std::string describe(const core::TensorShape* shape);

/// The user's frames of a stack, a line each, indented; LibTorch's are counted in one line.
std::string describe(const core::Stack& stack, Symbolizer& symbolizer);

} // namespace tensorscope::report
