// SPDX-License-Identifier: Apache-2.0
// The report in words and as JSON.
#pragma once

#include "report/leaks.h"

#include <string>

namespace tensorscope::report {

/// For people. Empty for a clean report. Shows at most `max_leaks` leaks (0: all); the last line starts with
/// "SUMMARY: tensorscope:".
std::string as_text(const Report& report, Symbolizer& symbolizer, std::uint64_t max_leaks);

/// For programs: {"version": 1, ...}, always whole; see docs/runtime/reports.md.
std::string as_json(const Report& report, Symbolizer& symbolizer);

/// "Float [4, 4] on cpu"; "a tensor" where nothing is known.
std::string describe(const core::TensorShape* shape);

/// The user's frames of a stack, a line each, indented; LibTorch's are counted in one line.
std::string describe(const core::Stack& stack, Symbolizer& symbolizer);

} // namespace tensorscope::report
