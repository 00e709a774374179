// SPDX-License-Identifier: Apache-2.0
// The forms of a report that are asked for, and where they go.
#pragma once

#include "core/options.h"
#include "report/leaks.h"

#include <string>

namespace tensorscope::report {

/// To stderr or to the files that `log_path` names. The text of a clean report is written only if it has notes.
void write_all(const Report& report, Symbolizer& symbolizer, const core::Options& options);

/// The report as text; empty for a clean one without notes.
std::string text_of(const Report& report, Symbolizer& symbolizer, const core::Options& options);

} // namespace tensorscope::report
