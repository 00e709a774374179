// SPDX-License-Identifier: Apache-2.0
// Where reports go.
#pragma once

#include <string>

namespace tensorscope::platform {

/// `path` with %p as the process, %h as the host, %r as the rank among the processes of a job (0 alone), %% as %.
std::string expand_path(const std::string& path);

/// Writes all of `text`, whole, in place of what the file held. On failure false, with the system's reason.
bool write_file(const std::string& path, const std::string& text, std::string& problem);

/// Writes all of `text` to stderr.
void write_to_stderr(const std::string& text) noexcept;

} // namespace tensorscope::platform
