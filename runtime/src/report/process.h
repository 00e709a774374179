// SPDX-License-Identifier: Apache-2.0
// Which process a report is of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tensorscope::report {

struct ProcessFacts {
  std::uint64_t pid = 0;
  std::string host;
  std::optional<std::uint64_t> rank; ///< among the processes of a job, if a launcher has told
  std::string program;               ///< the executable's path
  std::string time;                  ///< now: "2026-01-02T03:04:05Z"
};

ProcessFacts this_process();

} // namespace tensorscope::report
