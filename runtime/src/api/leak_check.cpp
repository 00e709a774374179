// SPDX-License-Identifier: Apache-2.0
// expect_no_leaks: counts before and after, and at level `full` names what became more.
#include "api/install.h"
#include "core/live_figures.h"
#include "hooks/released.h"
#include "report/kept_sites.h"

#include <tensorscope/stats.h>

#include <algorithm>
#include <atomic>
#include <sstream>

namespace tensorscope {
TENSORSCOPE_INLINE_NAMESPACE {
namespace {

std::string plural(std::int64_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

/// What is alive at one moment.
struct Moment {
  core::Live live;
  std::vector<report::Site> sites;
};

Moment now() {
  hooks::free_waiting();
  return {core::live_in_process(), report::living_sites()};
}

std::vector<KeptTensors> places_of(const std::vector<report::Site>& sites) {
  constexpr std::size_t kMost = 20; // a test's message is read by people
  std::vector<KeptTensors> places;
  for (const auto& site : sites) {
    if (places.size() == kMost) {
      break;
    }
    places.push_back({report::words_of(site), report::stack_of(site), static_cast<std::int64_t>(site.count),
                      static_cast<std::int64_t>(site.bytes)});
  }
  return places;
}

/// What a warm-up run makes has the same stack as what the run makes that counts: there is one call, which a counter that
/// others could see keeps the compiler from making two of.
Moment run_all(const std::function<void()>& function, int warmup) {
  Moment before;
  for (std::atomic<int> run = 0; run <= warmup; ++run) {
    if (run == warmup) {
      before = now();
    }
    function();
  }
  return before;
}

} // namespace

LeakCheck expect_no_leaks(const std::function<void()>& function, LeakExpectation how) {
  const bool counted = api::ready();
  const Moment before = run_all(function, std::max(how.warmup, 0));
  const Moment after = now();
  LeakCheck check;
  check.storages = static_cast<std::int64_t>(after.live.count - before.live.count);
  check.bytes = static_cast<std::int64_t>(after.live.bytes - before.live.bytes);
  check.counted = counted;
  if (!check) {
    check.places = places_of(report::grown_sites(before.sites, after.sites));
  }
  return check;
}

std::string LeakCheck::message() const {
  std::ostringstream text;
  if (!counted) {
    return "nothing was counted: tensorscope is at level off";
  }
  if (static_cast<bool>(*this)) {
    text << "no leak: " << plural(storages, "storage") << ", " << plural(bytes, "byte");
    return text.str();
  }
  text << "the code kept " << plural(storages, "storage") << " with " << plural(bytes, "byte")
       << " more than it found";
  for (const auto& place : places) {
    text << "\n  " << plural(place.bytes, "byte") << " in " << plural(place.storages, "tensor")
         << " of " << place.made_by;
    if (!place.stack.empty()) {
      text << '\n' << place.stack.substr(0, place.stack.size() - 1);
    }
  }
  if (places.empty()) {
    text << "\n  to see where they were made: TENSORSCOPE_OPTIONS=level=full, or link tensorscope::debug";
  }
  return text.str();
}

} // inline namespace
} // namespace tensorscope
