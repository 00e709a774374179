// SPDX-License-Identifier: Apache-2.0
// Lines on stderr.
#include "platform/health.h"

#include <array>
#include <atomic>
#include <cstddef>

#include <unistd.h>

namespace tensorscope::platform {
namespace {
constinit std::array<std::atomic<bool>, static_cast<std::size_t>(Trouble::count)> reported{};
} // namespace

void print_line(const std::string& text) noexcept {
  try {
    const std::string line = "tensorscope: " + text + "\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  } catch (...) {
    // Out of memory while reporting: there is nobody left to tell.
  }
}

void report_trouble(Trouble kind, const std::string& text) noexcept {
  if (!reported[static_cast<std::size_t>(kind)].exchange(true)) {
    try {
      print_line("health: " + text);
    } catch (...) {
    }
  }
}

} // namespace tensorscope::platform
