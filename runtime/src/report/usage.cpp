// SPDX-License-Identifier: Apache-2.0
#include "report/usage.h"

#include "core/thread_record.h"

#include <algorithm>

namespace tensorscope::report {
namespace {

constexpr std::size_t kMostPoints = 1000;

struct Event {
  core::Timeline::Sample sample;
  std::size_t thread = 0;
};

std::uint64_t not_negative(std::int64_t value) { return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)); }

/// Each stretch of time becomes its last value and its highest.
std::vector<UsagePoint> thin_out(const std::vector<UsagePoint>& points, std::size_t most_points) {
  if (points.size() <= most_points) {
    return points;
  }
  const core::TimelineClock length = (points.back().begin - points.front().begin) / most_points + 1;
  std::vector<UsagePoint> thin;
  for (const UsagePoint& point : points) {
    if (thin.empty() || (point.begin - points.front().begin) / length != (thin.back().begin - points.front().begin) / length) {
      thin.push_back(point);
    } else {
      thin.back().live = point.live;
      thin.back().highest = std::max(thin.back().highest, point.highest);
    }
  }
  return thin;
}

DeviceUsage cpu_usage() {
  DeviceUsage cpu{"cpu", 0, 0, {}};
  std::vector<std::vector<core::Timeline::Sample>> threads;
  const core::ThreadRecord* only = nullptr;
  std::size_t busy = 0;
  std::uint64_t live = 0;
  for (const auto* thread = core::all_records(); thread != nullptr; thread = thread->next) {
    const std::uint64_t allocated = thread->allocated_bytes.get();
    std::uint64_t freed = 0;
    for (const auto& bytes : thread->freed_bytes) {
      freed += bytes.get();
    }
    live += allocated - freed;
    if (allocated + freed != 0) {
      ++busy;
      only = thread;
      threads.push_back(thread->timeline.samples());
    }
  }
  cpu.live = not_negative(static_cast<std::int64_t>(live));
  cpu.points = add_up(threads, kMostPoints);
  for (const UsagePoint& point : cpu.points) {
    cpu.peak = std::max(cpu.peak, point.highest);
  }
  if (busy == 1) {
    cpu.peak = only->peak_bytes.get();
  }
  cpu.peak = std::max(cpu.peak, cpu.live);
  return cpu;
}

} // namespace

std::vector<UsagePoint> add_up(const std::vector<std::vector<core::Timeline::Sample>>& threads, std::size_t most_points) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    for (const auto& sample : threads[i]) {
      events.push_back({sample, i});
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.sample.begin < b.sample.begin; });
  std::vector<std::int64_t> live(threads.size(), 0);
  std::int64_t sum = 0;
  std::vector<UsagePoint> points;
  for (const Event& event : events) {
    const std::int64_t others = sum - live[event.thread];
    live[event.thread] = event.sample.live;
    sum = others + event.sample.live;
    points.push_back({event.sample.begin, not_negative(sum), not_negative(std::max(sum, others + event.sample.highest))});
  }
  return thin_out(points, most_points);
}

Usage read_usage() {
  Usage usage;
  usage.until = core::timeline_now();
  usage.devices.push_back(cpu_usage());
  auto& points = usage.devices.front().points;
  const DeviceUsage& cpu = usage.devices.front();
  if (!points.empty() && points.back().live != cpu.live) { // what was done since the last look at the clock
    points.push_back({std::max(usage.until, points.back().begin), cpu.live, cpu.live});
  }
  return usage;
}

} // namespace tensorscope::report
