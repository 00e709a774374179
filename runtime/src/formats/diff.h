// SPDX-License-Identifier: Apache-2.0
// What became of each place between two reports.
#pragma once

#include "formats/json.h"

#include <string>
#include <vector>

namespace tensorscope::formats {

struct Amount {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Amount&) const = default;
};

enum class Became { new_here, grew, shrank, gone };

/// One place that is not as it was.
struct Change {
  Became became = Became::grew;
  Json entry;         ///< the leak, session or use, as the later report has it, or the earlier where it is gone
  std::string what;   ///< its headline
  Amount before;
  Amount after;
};

struct Difference {
  std::vector<Change> changes; ///< what is new or grew first, the most bytes first
  std::size_t same = 0;

  std::size_t count(Became became) const;
  bool worse() const { return count(Became::new_here) + count(Became::grew) != 0; }
};

/// Compares leaks, open sessions and uses after release; with `held` also what is alive and no leak.
Difference diff(const Json& before, const Json& after, bool held);

std::string as_text(const Difference& difference);
Json as_json(const Difference& difference);

} // namespace tensorscope::formats
