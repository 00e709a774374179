// SPDX-License-Identifier: Apache-2.0
// Uses of released tensors that were met, for the report: each with its three places. Noted at level `full`.
#pragma once

#include "core/operator_names.h"
#include "core/sites.h"

#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace tensorscope::core {

/// What freed a storage, and where that stands in the source.
struct ReleaseCause {
  enum class Kind { call, scope_end, session_end } kind = Kind::call;
  std::source_location where;  ///< of the call, or of the region's opening
  std::source_location closed; ///< of the call that closed a session
};

struct UseAfterReleaseNote {
  const OperatorInfo* made_by = nullptr;
  std::string tensor; ///< "Float [4, 4] on cpu"
  std::uint64_t bytes = 0;
  ReleaseCause cause;
  std::string used_by;            ///< the operator; empty for a bare access to data
  const Stack* created = nullptr; ///< null where no stack was taken
  const Stack* released = nullptr;
  const Stack* used = nullptr;
  std::uint64_t times = 1;
  std::uint32_t process = 0; ///< that met it; set when it is noted
};

/// Adds a use, or counts it with an earlier one of the same places. Thread-safe.
void note_use_after_release(const UseAfterReleaseNote& use);

/// All that this process noted, in the order of their first time; what a parent had noted is the parent's to tell.
std::vector<UseAfterReleaseNote> uses_after_release();

} // namespace tensorscope::core
