// SPDX-License-Identifier: Apache-2.0
// Takes a copy of the memory and finds in it what nothing leads to any more; concludes nothing where it can't be sure.
#pragma once

#include "report/reachability.h"
#include "report/threads_memory.h"

#include <span>
#include <vector>

namespace tensorscope::report {

struct ReachQuestion {
  std::span<const AddressRange> skipped; ///< tensors' bytes, and what the reporter holds itself; so is this list
  CallersFrame caller;               ///< on the calling thread's stack, from which on it counts; none if it is all gone
  decltype(ReachSpace::is_weak) is_weak;
};

/// Why nothing can be said.
enum class ReachTrouble {
  none,
  heap_unknown,       ///< another allocator's, or one that was overwritten
  threads_run,        ///< others could not be stopped
  memory_changes,     ///< what is mapped was never the same twice
  too_large,
  unreadable,
  not_trusted,        ///< what was lost on purpose was not found, or what was held seemed lost
};

struct ReachAnswer {
  std::vector<Reach> reach; ///< for each object; all `unknown` where there is trouble
  ReachTrouble trouble = ReachTrouble::none;
};

/// The objects are given by the complements of their addresses. Other threads are stopped while the memory is copied, if a
/// first look finds something that is lost.
ReachAnswer search_reach(const std::vector<std::uintptr_t>& complements, const ReachQuestion& question);

} // namespace tensorscope::report
