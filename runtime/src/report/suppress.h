// SPDX-License-Identifier: Apache-2.0
// Known leaks: rules of the user's files and of the program itself, and what they hide from a report. What LibTorch keeps
// for itself needs no rule: it is told from what the program keeps by how it is made (test/runtime/report/library_caches.cpp).
#pragma once

#include "core/options.h"
#include "core/suppressions.h"
#include "report/leaks.h"

#include <string>
#include <vector>

namespace tensorscope::report {

/// Reads the rules of all sources; to be called once, before any report. Returns one line for each that is wrong: a file
/// that cannot be read, a line that is no rule. The others count all the same.
std::vector<std::string> load_suppressions(const core::Options& options);

/// Takes out of the report what a rule hides, the first one that does, and notes what each hid.
void apply_suppressions(Report& report, Symbolizer& symbolizer);

/// The rules that hid nothing, in no report of this process; as they are written, each with its place.
std::vector<std::string> unused_suppressions();

/// A rule that would hide this leak and few others: by the innermost function of the program that has a name of its own.
core::SuppressionRule suppression_for(const Leak& leak, Symbolizer& symbolizer);

} // namespace tensorscope::report
