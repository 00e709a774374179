// SPDX-License-Identifier: Apache-2.0
// When the report is made, where it goes, and what status the program then has.
#pragma once

#include "core/options.h"

#include <string>

namespace tensorscope::report {

/// To be called when the library is loaded, so that the status is set after everything else that runs at exit. `options`
/// must live as long as the process.
void prepare_status(const core::Options& options) noexcept;

/// Has the report made at exit, before the statics go that exist now. To be called now and then while the program works:
/// a static that is made later is destroyed before an earlier registered report. Only the last registration counts.
void report_at_exit() noexcept;

/// What the report would say now, as text; main's variables are taken for alive. Empty when there is nothing to say.
std::string text_now();

} // namespace tensorscope::report
