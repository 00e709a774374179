// SPDX-License-Identifier: Apache-2.0
// Where reports go.
#pragma once

#include <string>
#include <string_view>

namespace tensorscope::platform {

std::string host_name();

/// The rank among the processes of a job, as the usual launchers tell it; empty without one.
std::string job_rank();

/// Whether a launcher says that the job has more processes than this.
bool job_has_others();

/// `path` with %p as the process, %h as the host, %r as the rank among the processes of a job (0 alone), %% as %.
std::string expand_path(const std::string& path);

/// Whether `path` has %p or %r.
bool tells_processes_apart(const std::string& path);

/// Writes all of `text`, whole, in place of what the file held. On failure false, with the system's reason.
bool write_file(const std::string& path, std::string_view text, std::string& problem);

/// What became of a file that was to be written.
struct WrittenFile {
  std::string path;    ///< it, or another beside it
  std::string problem; ///< the system's reason why nothing was written; empty if it was
  bool moved = false;  ///< another process had written the file since this one was loaded, and `path` bears our number
};

/// Notes the time after which files that others write are not replaced. To be called when the library is loaded.
void note_start_for_files() noexcept;

/// Writes all of `text` into `path` + `extension`, in place of what an earlier run has left there, but never of what
/// another process of this run has.
WrittenFile write_own_file(const std::string& path, const std::string& extension, std::string_view text);

/// Writes all of `text` to stderr.
void write_to_stderr(const std::string& text) noexcept;

} // namespace tensorscope::platform
