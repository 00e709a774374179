// SPDX-License-Identifier: Apache-2.0
// Files and stderr, without the program's own streams.
#include "platform/output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tensorscope::platform {
namespace {

/// As file systems note it, a few milliseconds coarse.
constinit struct timespec started {};

bool is_later(const struct timespec& time, const struct timespec& than) {
  return time.tv_sec != than.tv_sec ? time.tv_sec > than.tv_sec : time.tv_nsec > than.tv_nsec;
}

std::string first_set(std::initializer_list<const char*> variables) {
  for (const char* variable : variables) {
    if (const char* const value = std::getenv(variable)) {
      return value;
    }
  }
  return {};
}

/// File names are made of it: what a variable holds must not lead elsewhere.
std::string rank_for_path() {
  std::string rank = job_rank();
  std::replace(rank.begin(), rank.end(), '/', '_');
  return rank.empty() ? "0" : rank;
}

/// A file that this process may replace: a new one, or one that was last written before the process was loaded. -1 with
/// errno EEXIST where another has just written it, or is writing.
int open_own(const std::string& path) noexcept {
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) {
    return -1;
  }
  struct stat facts {};
  const bool plain = ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
  if (!plain) { // a terminal, a pipe
    return file;
  }
  const bool locked = ::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  const bool others = locked && ::fstat(file, &facts) == 0 && facts.st_size != 0 && is_later(facts.st_mtim, started);
  if (!locked || others || ::ftruncate(file, 0) != 0) {
    const int reason = !locked || others ? EEXIST : errno;
    ::close(file);
    errno = reason;
    return -1;
  }
  return file;
}

bool write_all(int file, std::string_view text) noexcept {
  for (std::size_t done = 0; done < text.size();) {
    const auto count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) {
      return false;
    }
    done += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  return true;
}

} // namespace

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "host";
}

std::string job_rank() { return first_set({"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}); }

bool job_has_others() {
  const std::string size = first_set({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"});
  return !size.empty() && size != "1" && size != "0";
}

std::string expand_path(const std::string& path) {
  std::string expanded;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char next = path[i] == '%' && i + 1 < path.size() ? path[i + 1] : '\0';
    if (next == 'p') {
      expanded += std::to_string(::getpid());
    } else if (next == 'h') {
      expanded += host_name();
    } else if (next == 'r') {
      expanded += rank_for_path();
    } else {
      expanded += path[i];
      i += next == '%' ? 1 : 0;
      continue;
    }
    ++i;
  }
  return expanded;
}

bool tells_processes_apart(const std::string& path) {
  for (std::size_t i = 0; i + 1 < path.size(); i += path[i] == '%' ? 2 : 1) {
    if (path[i] == '%' && (path[i + 1] == 'p' || path[i + 1] == 'r')) {
      return true;
    }
  }
  return false;
}

bool write_file(const std::string& path, std::string_view text, std::string& problem) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const bool done = file >= 0 && write_all(file, text);
  if (!done) {
    problem = std::generic_category().message(errno);
  }
  if (file >= 0) {
    ::close(file);
  }
  return done;
}

void note_start_for_files() noexcept {
  ::clock_gettime(CLOCK_REALTIME_COARSE, &started);
}

WrittenFile write_own_file(const std::string& path, const std::string& extension, std::string_view text) {
  WrittenFile written{path + extension, {}, false};
  int file = open_own(written.path);
  if (file < 0 && errno == EEXIST) {
    written.moved = true;
    written.path = path + "." + std::to_string(::getpid()) + extension;
    file = open_own(written.path);
  }
  if (file < 0 || !write_all(file, text)) {
    written.problem = std::generic_category().message(errno);
  }
  if (file >= 0) {
    ::close(file);
  }
  return written;
}

void write_to_stderr(const std::string& text) noexcept {
  write_all(STDERR_FILENO, text);
}

} // namespace tensorscope::platform
