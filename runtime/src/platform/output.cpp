// SPDX-License-Identifier: Apache-2.0
// Files and stderr, without the program's own streams.
#include "platform/output.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace tensorscope::platform {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "host";
}

/// As the usual launchers tell it.
std::string rank() {
  for (const char* variable : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* const value = std::getenv(variable)) {
      return value;
    }
  }
  return "0";
}

bool write_all(int file, const std::string& text) noexcept {
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

std::string expand_path(const std::string& path) {
  std::string expanded;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char next = path[i] == '%' && i + 1 < path.size() ? path[i + 1] : '\0';
    if (next == 'p') {
      expanded += std::to_string(::getpid());
    } else if (next == 'h') {
      expanded += host_name();
    } else if (next == 'r') {
      expanded += rank();
    } else {
      expanded += path[i];
      i += next == '%' ? 1 : 0;
      continue;
    }
    ++i;
  }
  return expanded;
}

bool write_file(const std::string& path, const std::string& text, std::string& problem) {
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

void write_to_stderr(const std::string& text) noexcept {
  write_all(STDERR_FILENO, text);
}

} // namespace tensorscope::platform
