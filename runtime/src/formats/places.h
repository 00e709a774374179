// SPDX-License-Identifier: Apache-2.0
// The living bytes of a report, by the place of their making: what profiles are made of.
#pragma once

#include "formats/json.h"

#include <string>
#include <vector>

namespace tensorscope::formats {

/// Bytes of one place. The parts of a leak are places of their own: it, and each of what its graph keeps.
struct Place {
  const Json* site = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  bool leaked = false; ///< else alive, and no leak by what is known
};

/// All places with living bytes, leaks first. What escaped has no bytes any more. Points into `report`.
std::vector<Place> places_of(const Json& report);

/// The frames of the program, the outermost first; one that says so where it has none.
std::vector<const Json*> calls_to(const Place& place);

/// "forward model.cpp:12".
std::string short_frame(const Json& frame);

} // namespace tensorscope::formats
