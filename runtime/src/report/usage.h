// SPDX-License-Identifier: Apache-2.0
// How many bytes were alive over the life of the process: the threads' timelines as one.
#pragma once

#include "core/timeline.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tensorscope::report {

struct UsagePoint {
  core::TimelineClock begin = 0;
  std::uint64_t live = 0;    ///< from then on, until the next point
  std::uint64_t highest = 0; ///< in between
};

struct DeviceUsage {
  std::string device;
  std::uint64_t live = 0;
  std::uint64_t peak = 0; ///< exact where one thread allocates; else as the points have it
  std::vector<UsagePoint> points;
};

struct Usage {
  core::TimelineClock until = 0;
  std::vector<DeviceUsage> devices;
};

/// Of all threads, whatever they are doing.
Usage read_usage();

/// The sum of several timelines, in at most so many points.
std::vector<UsagePoint> add_up(const std::vector<std::vector<core::Timeline::Sample>>& threads, std::size_t most_points);

} // namespace tensorscope::report
