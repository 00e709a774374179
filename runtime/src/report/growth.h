// SPDX-License-Identifier: Apache-2.0
// Which places kept more and more while the program worked, told from the samples that were taken meanwhile. Also what is
// gone again now, as what main's own variables held, is found. What is reported, and what is not, is in
// docs/runtime/growth.md.
#pragma once

#include "core/growth.h"
#include "report/leaks.h"

#include <optional>
#include <vector>

namespace tensorscope::report {

/// A thread's present state, by which its samples are judged.
struct GrowthNow {
  std::uint64_t clock = 0;  ///< its operators so far
  std::uint64_t passes = 0; ///< backward passes so far, in the process
  std::uint64_t warmup = 0; ///< repeats of a place that do not count
};

/// A rise that goes on: no cache that is full, no ring of the latest.
struct Slope {
  std::uint32_t iterations = 0;
  std::uint32_t from = 0;  ///< amount at its beginning
  std::uint32_t to = 0;
  std::int64_t bytes = 0;  ///< more at the end than at the beginning
  std::uint64_t passes = 0;          ///< backward passes between
  std::uint64_t passes_at_end = 0;   ///< since the program began
};
std::optional<Slope> steady_slope(const core::Rise& rise, std::uint64_t warmup);

/// What grew at one place.
struct GrowthFinding {
  core::GrowthPlace place;
  const core::TensorShape* shape = nullptr;
  Growth growth;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::vector<core::KeptPerRepeat> kept;
  std::uint64_t first_clock = 0;
};

/// The findings of one thread, whose ledger the caller has locked.
std::vector<GrowthFinding> find_growth(const core::GrowthLog& log, const GrowthNow& now);

/// Whether a place has shown that it lets go: so much is there as was before, though it was come to again and again; or
/// nothing is added any more while the program goes on.
bool is_bounded(const core::GrowthSite& site, const GrowthNow& now, std::uint64_t alive);

/// Adds what grew to the leaks. What is in both becomes one.
void add_growth(Report& report, const Question& question, Symbolizer& symbolizer);

} // namespace tensorscope::report
