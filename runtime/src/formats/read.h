// SPDX-License-Identifier: Apache-2.0
// Reads a report from a file.
#pragma once

#include "formats/json.h"

#include <stdexcept>
#include <string>

namespace tensorscope::formats {

/// One line that names the file and, where it can be read at all, the byte.
class InputError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The report in a file, or in standard input for "-". Throws InputError for what cannot be read, is no JSON, breaks
/// off, or is no report of a version that is known here.
Json read_report(const std::string& path);

/// The same of a text; `name` stands for the file in errors.
Json parse_report(const std::string& text, const std::string& name);

} // namespace tensorscope::formats
