// SPDX-License-Identifier: Apache-2.0
// Reads by the system's calls: while the library is loaded, the program's streams may not be there yet.
#include "platform/input.h"

#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace tensorscope::platform {
namespace {

constexpr std::size_t kMostBytes = 8u << 20;

bool read_all(int file, std::string& text, std::string& problem) {
  std::array<char, 4096> part{};
  while (text.size() <= kMostBytes) {
    const auto count = ::read(file, part.data(), part.size());
    if (count == 0) {
      return true;
    }
    if (count < 0 && errno != EINTR) {
      problem = std::generic_category().message(errno);
      return false;
    }
    text.append(part.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  problem = "it is larger than " + std::to_string(kMostBytes >> 20) + " MiB";
  return false;
}

} // namespace

bool read_file(const std::string& path, std::string& text, std::string& problem) {
  // A pipe that nobody writes to must not hold the program up.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    problem = std::generic_category().message(errno);
    return false;
  }
  text.clear();
  const bool done = read_all(file, text, problem);
  ::close(file);
  return done;
}

} // namespace tensorscope::platform
