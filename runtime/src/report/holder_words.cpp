// SPDX-License-Identifier: Apache-2.0
#include "report/holder_words.h"

namespace tensorscope::report {

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
