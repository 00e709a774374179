// SPDX-License-Identifier: Apache-2.0
#include "report/holder_words.h"

#include <algorithm>

namespace tensorscope::report {

std::string describe(const LeakHolders& holders) {
  constexpr std::size_t kShown = 3;
  std::string text;
  const std::size_t shown = std::min(kShown, holders.holders.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Holder& holder = holders.holders[i];
    text += "  held by " + holder.text;
    text += holder.count > 1 ? " (" + std::to_string(holder.count) + " handles)\n" : "\n";
  }
  if (shown < holders.holders.size()) {
    text += "  and in " + std::to_string(holders.holders.size() - shown) + " more ways\n";
  }
  if (holders.stopped_early) {
    text += "  (the search for holders was given up before its end: the program's memory is large)\n";
  }
  return text;
}

const char* name_of(HolderKind kind) {
  switch (kind) {
    case HolderKind::static_variable:
      return "static";
    case HolderKind::thread_local_variable:
      return "thread_local";
    case HolderKind::stack:
      return "stack";
    case HolderKind::heap:
      return "heap";
    case HolderKind::graph:
      return "graph";
    case HolderKind::grad:
      return "grad";
    case HolderKind::parameter:
      return "parameter";
    case HolderKind::buffer:
      return "buffer";
    case HolderKind::optimizer:
      return "optimizer";
    case HolderKind::unknown:
      break;
  }
  return "unknown";
}

} // namespace tensorscope::report
