// SPDX-License-Identifier: Apache-2.0
// The search's test of itself: blocks that are lost, that are in a cycle, and that a variable holds, each through another one.
#pragma once

#include "report/reachability.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace tensorscope::report {

class Planted {
 public:
  Planted();
  ~Planted();
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;

  /// A word that is left over somewhere may lead to one of the lost: hence several.
  static constexpr std::size_t kPairs = 8; ///< of each kind
  static constexpr std::size_t kObjects = 3 * 2 * kPairs;

  void add_to(std::vector<std::uintptr_t>& complements) const;

  /// Whether what was found of them is right: all that is held, and most of what is lost.
  static bool are_as_planted(std::span<const Reach> found);

 private:
  std::array<std::uintptr_t, kObjects> complements_{}; ///< of blocks: the lost, those in cycles, the held
};

} // namespace tensorscope::report
