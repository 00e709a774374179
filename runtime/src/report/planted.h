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
  /// To blocks that a program gave back, words may lead that it never overwrote: those of a list that was emptied. What the
  /// heap has only just got from the system has no such past.
  enum class Where { anywhere, in_new_memory };

  explicit Planted(Where where);
  ~Planted();
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;

  /// Even so, a word that is left over somewhere may lead to one of the lost: hence several.
  static constexpr std::size_t kPairs = 8; ///< of each kind
  static constexpr std::size_t kObjects = 3 * 2 * kPairs;

  void add_to(std::vector<std::uintptr_t>& complements) const;

  enum class Verdict {
    right,      ///< all that is held was reached, and most of what is not was found
    words_left, ///< the same, but words lead to most of what is lost or in cycles
    wrong,
  };
  static Verdict judge(std::span<const Reach> found);

 private:
  std::array<std::uintptr_t, kObjects> complements_{}; ///< of blocks: the lost, those in cycles, the held
};

} // namespace tensorscope::report
