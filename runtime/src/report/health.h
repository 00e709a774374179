// SPDX-License-Identifier: Apache-2.0
// The library's own troubles, for reports: what makes them less than whole.
#pragma once

#include <string>
#include <vector>

namespace tensorscope::report {

struct HealthLine {
  std::string text;
  bool told = false; ///< it is on stderr already
};

/// What came up while the program worked, and what shows only now. Empty where all is well.
std::vector<HealthLine> tracker_health();

} // namespace tensorscope::report
