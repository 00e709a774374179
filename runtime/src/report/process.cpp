// SPDX-License-Identifier: Apache-2.0
#include "report/process.h"

#include "platform/output.h"

#include <array>
#include <charconv>
#include <ctime>

#include <unistd.h>

namespace tensorscope::report {
namespace {

std::optional<std::uint64_t> rank_number() {
  const std::string text = platform::job_rank();
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && problem == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::string executable() {
  std::array<char, 4096> path{};
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&seconds, &parts) == nullptr) {
    return {};
  }
  return std::string(text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
}

} // namespace

ProcessFacts this_process() {
  return {static_cast<std::uint64_t>(::getpid()), platform::host_name(), rank_number(), executable(), now()};
}

} // namespace tensorscope::report
