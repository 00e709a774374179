// SPDX-License-Identifier: Apache-2.0
// A pile is told by when its parts were made, on the clock of the thread that was at the place first.
#include "report/piles.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace tensorscope::report {
namespace {

/// Fewer may be a handful of things that a program needs one after the other.
constexpr std::size_t kFewest = 10;

/// The time since the place was first come to is cut into so many parts, and of so many members one at least must come
/// from each. A pile may rest for some of the time, as while a trained model is tested.
constexpr std::size_t kParts = 3;
constexpr std::size_t kShare = 10;

/// What one place made and is still there.
struct Place {
  std::vector<std::size_t> members;
  std::vector<core::WorkClock> times; ///< of those that the first thread made
  core::WorkClock begin = 0;
  core::WorkClock end = 0;
};

bool is_pile(const Place& place) {
  const core::WorkClock span = place.end - place.begin;
  const std::size_t count = place.times.size();
  // Something was used up for each one that stayed, or no work was done between them.
  if (count < kFewest || span < static_cast<core::WorkClock>(count)) {
    return false;
  }
  std::array<std::size_t, kParts> shares{};
  for (const core::WorkClock time : place.times) {
    const auto part = static_cast<std::size_t>((time - place.begin) / span * kParts);
    ++shares[std::min(part, kParts - 1)];
  }
  return std::all_of(shares.begin(), shares.end(), [&](std::size_t share) { return share * kShare >= count; });
}

} // namespace

std::vector<bool> find_piles(const std::vector<Unscoped>& all) {
  std::map<std::pair<const core::OperatorInfo*, const core::Stack*>, Place> places;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Unscoped& tensor = all[i];
    if (tensor.stack == nullptr) {
      continue;
    }
    Place& place = places[{tensor.made_by, tensor.stack}];
    place.members.push_back(i);
    if (tensor.thread == tensor.stack->first_thread) {
      place.times.push_back(tensor.made_at);
      place.begin = tensor.stack->first_time;
      place.end = tensor.now;
    }
  }
  std::vector<bool> piled(all.size(), false);
  for (const auto& [key, place] : places) {
    if (is_pile(place)) {
      for (const std::size_t member : place.members) {
        piled[member] = true;
      }
    }
  }
  return piled;
}

} // namespace tensorscope::report
