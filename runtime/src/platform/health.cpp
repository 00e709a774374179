// SPDX-License-Identifier: Apache-2.0
// Lines on stderr.
#include "platform/health.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

#include <unistd.h>

namespace tensorscope::platform {
namespace {
/// The words of each kind; never freed, as they are read during exit. Empty where they found no memory.
constinit std::array<std::atomic<const char*>, static_cast<std::size_t>(Trouble::count)> reported{};
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
  auto& place = reported[static_cast<std::size_t>(kind)];
  const char* nothing = nullptr;
  if (!place.compare_exchange_strong(nothing, "")) {
    return;
  }
  if (const char* const words = ::strdup(text.c_str())) {
    place.store(words);
  }
  try {
    print_line("health: " + text);
  } catch (...) {
  }
}

bool was_reported(Trouble kind) noexcept {
  return reported[static_cast<std::size_t>(kind)].load() != nullptr;
}

std::vector<std::string> troubles_so_far() {
  std::vector<std::string> all;
  for (const auto& place : reported) {
    if (const char* const words = place.load(); words != nullptr && *words != '\0') {
      all.emplace_back(words);
    }
  }
  return all;
}

} // namespace tensorscope::platform
