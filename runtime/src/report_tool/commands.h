// SPDX-License-Identifier: Apache-2.0
// The sub-commands of `tensorscope report`. Each gets its own words alone, its name first, and gives the exit status.
#pragma once

#include <stdexcept>
#include <string>

namespace tensorscope::report_tool {

/// Exit statuses, as `tensorscope check` has them.
enum Status { kDone = 0, kWorse = 1, kProblem = 2 };

/// A command line that cannot be followed: one line says why.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

int show(int count, char** words);
int merge(int count, char** words);
int convert(int count, char** words);
int diff(int count, char** words);

} // namespace tensorscope::report_tool
