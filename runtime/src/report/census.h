// SPDX-License-Identifier: Apache-2.0
// What is alive now, without asking who holds it: quick, made while the program works, by a thread that may be deep inside
// LibTorch. Runs no operator and looks for no handle.
#pragma once

#include "core/thread_record.h"
#include "report/leaks.h"

#include <c10/core/Device.h>

#include <cstdint>
#include <vector>

namespace tensorscope::report {

/// In what part of the program's memory a storage is.
enum class Role : std::uint8_t {
  open_scope,   ///< a scope owns it that has not ended
  open_session, ///< a session does
  retained,
  result,       ///< a scope returned it
  graph,        ///< a backward pass needs it
  adopted,      ///< a gradient, or reached by an adopted owner
  escape,       ///< held past its scope's end, and left alive
  left_open,    ///< the thread of its scope ended before the scope
  unscoped,     ///< made in no scope
  library,      ///< made by LibTorch for itself: gradients, optimizer state
  count,
};
inline constexpr std::size_t kRoles = static_cast<std::size_t>(Role::count);

struct LivingStorage {
  const core::OperatorInfo* made_by = nullptr;
  const core::Stack* stack = nullptr;
  const core::TensorShape* shape = nullptr;
  std::uint64_t bytes = 0;
  c10::Device device = c10::kCPU;
  Role role = Role::unscoped;
  bool in_region = false;
  core::RegionPlace region; ///< the scope or session that made it; only if `in_region`
};

struct Census {
  std::vector<LivingStorage> storages;
  std::uint64_t unread_threads = 0; ///< whose ledgers could not be had in time
};

/// Reads the ledgers of all threads. Waits for none of them long: the calling thread may be what they wait for.
Census take_census();

} // namespace tensorscope::report
