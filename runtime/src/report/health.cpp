// SPDX-License-Identifier: Apache-2.0
// Looks at counters and tables; costs nothing until a report is made.
#include "report/health.h"

#include "core/sites.h"
#include "core/thread_record.h"
#include "hooks/cpu_allocator.h"
#include "platform/health.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace tensorscope::report {
namespace {

struct Sums {
  std::uint64_t unseen = 0; ///< the most of any thread
  std::uint64_t failed_stacks = 0;
};

Sums sums_of_threads() {
  Sums sums;
  for (const auto* thread = core::all_records(); thread != nullptr; thread = thread->next) {
    sums.unseen = std::max(sums.unseen, thread->unseen_births.get());
    sums.failed_stacks += thread->failed_stacks.get();
  }
  return sums;
}

std::string full_tables() {
  auto& tables = core::site_tables();
  std::string full;
  const auto add = [&](bool is_full, const char* name) { full += is_full ? (full.empty() ? "" : ", ") + std::string(name) : ""; };
  add(tables.stacks.full(), "stacks");
  add(tables.shapes.full(), "shapes");
  add(tables.paths.full(), "scopes");
  return full;
}

} // namespace

std::vector<HealthLine> tracker_health() {
  std::vector<HealthLine> all;
  const auto add = [&](const std::string& text, bool told = false) {
    HealthLine& line = all.emplace_back();
    line.text = text;
    line.told = told;
  };
  for (const auto& text : platform::troubles_so_far()) {
    add(text, true);
  }
  const Sums sums = sums_of_threads();
  if (!hooks::cpu_allocator_in_place() && !platform::was_reported(platform::Trouble::allocator_replaced)) {
    add("another CPU allocator was set after tensorscope's: what it gives is not known");
  } else if (!hooks::cpu_bytes_are_counted()) {
    add("the CPU allocator is not LibTorch's own: its bytes can't be counted");
  }
  constexpr std::uint64_t kBlind = 200;
  if (sums.unseen >= kBlind) {
    add(std::to_string(sums.unseen) + " CPU allocations came one after the other with no operator seen: something removed "
        "LibTorch's observers, or switched them off");
  }
  if (sums.failed_stacks != 0) {
    add(std::to_string(sums.failed_stacks) + " stacks were cut short: code without unwind tables, or memory was short");
  }
  if (const auto full = full_tables(); !full.empty()) {
    add("tables are full (" + full + "): what came later is reported without its place or sizes");
  }
  return all;
}

} // namespace tensorscope::report
