// SPDX-License-Identifier: Apache-2.0
// Whether anything in the program still leads to an object, over any number of steps: a handle in a block of the heap is of
// no use where nothing leads to the block.
#pragma once

#include "report/handles_search.h"

#include <cstdint>
#include <vector>

namespace tensorscope::report {

enum class Reach {
  reachable, ///< or it can't be told
  lost,      ///< what holds it was given up
  cycle,     ///< what holds it holds each other
};

/// Follows the objects, which are given by the complements of their addresses, upwards through the blocks of the C
/// library's main heap. Everything outside of it is taken for reachable, but `skipped` and the calling thread's stack,
/// which are not looked at. A word that is left over from earlier hides a loss, never makes one. Call it while no other
/// thread makes tensors.
std::vector<Reach> find_unreachable(const std::vector<std::uintptr_t>& complements, const std::vector<AddressRange>& skipped);

} // namespace tensorscope::report
