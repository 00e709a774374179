// SPDX-License-Identifier: Apache-2.0
// The rules by which a rise is told from a program's equipment, a cache, a list of results.
#include "report/growth.h"

#include <algorithm>
#include <map>

namespace tensorscope::report {
namespace {

using core::GrowthOf;
using core::GrowthPlace;
using core::GrowthPoint;
using core::GrowthSite;
using core::Rise;

/// Over so many iterations, with a backward pass in each or so, no graph is of use any more.
constexpr std::uint64_t kPasses = 5;
/// The same for what starts anew now and then, as truncated backward passes do.
constexpr std::uint64_t kPassesAtMost = 50;
/// Where no backward pass runs at all, a graph that so many iterations add to is there by mistake.
constexpr std::uint32_t kWithoutPass = 16;
constexpr std::uint32_t kFewest = 8; ///< tensors, views or copies that are there
constexpr std::uint32_t kFewestMore = 5; ///< and that have come since it was looked at first
constexpr std::uint32_t kRarest = 50; ///< one in so many iterations at least
/// Results that a program collects are its own business until they are many, and most of what there is.
constexpr std::uint32_t kManyResults = 200;
constexpr std::int64_t kManyBytes = 8 << 20;

bool is_much(const Slope& slope) {
  const std::uint32_t more = slope.to - slope.from;
  return slope.to >= kFewest && more >= kFewestMore && more * kRarest >= slope.iterations;
}

bool begins_anew(const Rise& rise) { return rise.earlier_peak() * 2 >= rise.last().amount; }

/// Whether a graph was kept too long: over backward passes that had no use for it, or where none runs. One pass after it
/// all is what it was kept for.
bool outlives_passes(const Rise& rise, const Slope& slope, const GrowthNow& now) {
  if (slope.passes >= kPasses) {
    return !begins_anew(rise) || slope.passes >= kPassesAtMost;
  }
  return slope.passes == 0 && now.passes == slope.passes_at_end && slope.iterations >= kWithoutPass && !begins_anew(rise);
}

/// Up to the end, or near it, as the thread counts time.
bool goes_on(const GrowthSite& site, const GrowthNow& now) {
  const std::uint64_t all = now.clock - std::min(now.clock, site.first_clock);
  return (site.last_clock - site.first_clock) * 3 >= all * 2;
}

Growth growth_of(GrowthKind kind, const Slope& slope) {
  const double iterations = slope.iterations;
  return {kind, (slope.to - slope.from) / iterations, static_cast<double>(std::max<std::int64_t>(slope.bytes, 0)) / iterations,
          slope.iterations};
}

class Judge {
 public:
  Judge(const core::GrowthLog& log, const GrowthNow& now) : log_(log), now_(now) {}

  std::optional<GrowthFinding> judge(const GrowthPlace& place, const GrowthSite& site) const {
    if (place.of == GrowthOf::views) {
      return judge_views(place, site);
    }
    if (auto chain = judge_chain(place, site)) {
      return chain;
    }
    auto found = judge_graphs(place, site);
    return found ? found : judge_plain(place, site);
  }

 private:
  std::optional<Slope> slope_of(const std::unique_ptr<Rise>& rise) const {
    return rise != nullptr ? steady_slope(*rise, now_.warmup) : std::nullopt;
  }

  GrowthFinding finding(const GrowthPlace& place, const GrowthSite& site, GrowthKind kind, const Slope& slope) const {
    GrowthFinding found{place, site.shape, growth_of(kind, slope), slope.to - slope.from,
                        static_cast<std::uint64_t>(std::max<std::int64_t>(slope.bytes, 0)), {}, site.first_clock};
    std::copy_if(log_.kept.begin(), log_.kept.end(), std::back_inserter(found.kept),
                 [&](const core::KeptPerRepeat& kept) { return kept.keeper == place; });
    return found;
  }

  /// Graphs that hang together: one tensor carries them from iteration to iteration.
  std::optional<GrowthFinding> judge_chain(const GrowthPlace& place, const GrowthSite& site) const {
    const auto slope = slope_of(site.chain);
    if (!slope || !outlives_passes(*site.chain, *slope, now_)) {
      return std::nullopt;
    }
    auto found = finding(place, site, GrowthKind::chain, *slope);
    found.count = 1;
    found.bytes = 0;
    found.growth.tensors_per_iteration = 0;
    found.growth.bytes_per_iteration = 0;
    for (const auto& kept : found.kept) {
      found.growth.tensors_per_iteration += kept.count;
      found.growth.bytes_per_iteration += static_cast<double>(kept.bytes);
    }
    return found;
  }

  /// Tensors that are kept, each with its graph.
  std::optional<GrowthFinding> judge_graphs(const GrowthPlace& place, const GrowthSite& site) const {
    const auto slope = slope_of(site.graphs);
    if (!slope || !is_much(*slope) || !outlives_passes(*site.graphs, *slope, now_)) {
      return std::nullopt;
    }
    auto found = finding(place, site, GrowthKind::graphs, *slope);
    const double each = found.growth.tensors_per_iteration;
    for (const auto& kept : found.kept) {
      found.growth.tensors_per_iteration += each * kept.count;
      found.growth.bytes_per_iteration += each * static_cast<double>(kept.bytes);
    }
    return found;
  }

  std::optional<GrowthFinding> judge_views(const GrowthPlace& place, const GrowthSite& site) const {
    const auto slope = slope_of(site.living);
    if (!slope || !is_much(*slope) || begins_anew(*site.living)) {
      return std::nullopt;
    }
    return finding(place, site, GrowthKind::views, *slope);
  }

  std::optional<GrowthFinding> judge_plain(const GrowthPlace& place, const GrowthSite& site) const {
    const auto slope = slope_of(site.living);
    if (!slope || !is_much(*slope) || begins_anew(*site.living) || !goes_on(site, now_)) {
      return std::nullopt;
    }
    const bool each_stays = slope->to - slope->from + 1 >= slope->iterations;
    if (site.alike && each_stays) {
      return finding(place, site, GrowthKind::copies, *slope);
    }
    const bool many = slope->iterations >= kManyResults && slope->bytes >= kManyBytes &&
        site.living->last().bytes * 2 >= log_.live_bytes;
    return many ? std::optional(finding(place, site, GrowthKind::tensors, *slope)) : std::nullopt;
  }

  const core::GrowthLog& log_;
  const GrowthNow& now_;
};

bool keeps(const GrowthFinding& keeper, const GrowthPlace& place) {
  return std::any_of(keeper.kept.begin(), keeper.kept.end(), [&](const core::KeptPerRepeat& kept) {
    return kept.stack == place.stack && kept.made_by == place.made_by;
  });
}

bool same_place(const GrowthPlace& a, const GrowthPlace& b) { return a.stack == b.stack && a.made_by == b.made_by; }

/// What another finding's graph or view keeps is told there. Of several results of one operator one is told.
void drop_kept(std::vector<GrowthFinding>& all) {
  const auto told_elsewhere = [&](const GrowthFinding& one) {
    return std::any_of(all.begin(), all.end(), [&](const GrowthFinding& other) {
      if (&one == &other || keeps(one, other.place)) {
        return false;
      }
      return keeps(other, one.place) || (same_place(one.place, other.place) && &other < &one);
    });
  };
  std::vector<GrowthFinding> left;
  std::copy_if(all.begin(), all.end(), std::back_inserter(left),
               [&](const GrowthFinding& one) { return !told_elsewhere(one); });
  all.swap(left);
}

} // namespace

std::optional<Slope> steady_slope(const Rise& rise, std::uint64_t warmup) {
  auto begin = std::find_if(rise.points().begin(), rise.points().end(),
                            [&](const GrowthPoint& point) { return point.repeats >= warmup; });
  const auto end = rise.points().end();
  if (end - begin < 3 || rise.last().amount <= begin->amount) {
    return std::nullopt;
  }
  // It may have been level for a while.
  const std::uint32_t all = rise.last().amount - begin->amount;
  const std::uint32_t low = begin->amount + all / 16;
  while (end - begin > 3 && (begin + 1)->amount <= low) {
    ++begin;
  }
  const GrowthPoint& last = rise.last();
  const std::uint32_t half = begin->repeats + (last.repeats - begin->repeats) / 2;
  const auto middle = std::find_if(begin, end, [&](const GrowthPoint& point) { return point.repeats >= half; });
  const std::uint32_t total = last.amount - begin->amount;
  const std::uint32_t at_middle = std::clamp(middle->amount, begin->amount, last.amount);
  if ((last.amount - at_middle) * 4 < total || (at_middle - begin->amount) * 8 < total ||
      last.repeats == begin->repeats) {
    return std::nullopt;
  }
  return Slope{last.repeats - begin->repeats, begin->amount, last.amount,
               static_cast<std::int64_t>(last.bytes) - static_cast<std::int64_t>(begin->bytes),
               last.passes - begin->passes, last.passes};
}

bool is_bounded(const core::GrowthSite& site, const GrowthNow& now, std::uint64_t alive) {
  constexpr std::uint64_t kFew = 16;
  if (alive < 2) {
    return false;
  }
  // A cache is full one day, and the work goes on; a ring of the latest lets go of the others.
  const std::uint64_t since = now.clock - std::min(now.clock, site.last_clock);
  const bool rises = site.living != nullptr && !site.living->empty() && steady_slope(*site.living, now.warmup);
  return (!goes_on(site, now) && since >= kFew * 2) || (!rises && site.repeats >= kFew && site.repeats >= 2 * alive);
}

std::vector<GrowthFinding> find_growth(const core::GrowthLog& log, const GrowthNow& now) {
  std::vector<GrowthFinding> all;
  const Judge judge(log, now);
  for (const auto& [place, site] : log.sites) {
    if (auto found = judge.judge(place, site)) {
      all.push_back(std::move(*found));
    }
  }
  // The order of a table of addresses is another one in each run.
  std::sort(all.begin(), all.end(), [](const GrowthFinding& a, const GrowthFinding& b) {
    return a.first_clock != b.first_clock ? a.first_clock > b.first_clock : a.place.part < b.place.part;
  });
  drop_kept(all);
  return all;
}

} // namespace tensorscope::report
