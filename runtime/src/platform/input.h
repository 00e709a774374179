// SPDX-License-Identifier: Apache-2.0
// Files that the user names.
#pragma once

#include <string>

namespace tensorscope::platform {

/// Reads all of a file of at most a few MiB. On failure false, with the reason.
bool read_file(const std::string& path, std::string& text, std::string& problem);

} // namespace tensorscope::platform
