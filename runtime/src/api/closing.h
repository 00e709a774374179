// SPDX-License-Identifier: Apache-2.0
// The end of a region: which of its storages are kept, and what becomes of the rest. Called for scopes, sessions.
#pragma once

#include "core/region.h"
#include "core/thread_record.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace tensorscope::api {

struct Ending {
  const std::vector<at::Tensor>& kept;   ///< reachable from the result
  std::source_location closed;           ///< of the call that closed a session
};

/// Decides for everything that `region`, already off its thread's stack, still owns. Returns one line about
/// escapes if `on_escape` asks for an error, an empty string otherwise.
///
/// If deciding fails (memory is short, an owner's listing throws), everything is left alive and counted.
std::string finish_region(core::ThreadRecord& thread, std::unique_ptr<core::Region> region, const Ending& ending) noexcept;

} // namespace tensorscope::api
