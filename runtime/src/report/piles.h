// SPDX-License-Identifier: Apache-2.0
// Which living tensors are part of a pile: a place in the code that kept more and more of them while the program worked.
// This serves a program without scopes. What is made once, at the beginning or in one go, is a program's equipment: a
// model, a table, a set of data. What is kept for a while and let go again, as in a ring of the latest, is no pile either.
#pragma once

#include "core/ledger.h"

#include <cstdint>
#include <vector>

namespace tensorscope::report {

/// A living tensor that was made outside of any region, or by LibTorch for itself.
struct Unscoped {
  const core::OperatorInfo* made_by = nullptr;
  const core::Stack* stack = nullptr; ///< null: the place is not known
  core::WorkClock made_at = 0;
  core::WorkClock now = 0;            ///< of its thread
  std::uint32_t thread = 0;           ///< by its slot
};

/// For each of them whether it is part of a pile.
std::vector<bool> find_piles(const std::vector<Unscoped>& all);

} // namespace tensorscope::report
