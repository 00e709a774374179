// SPDX-License-Identifier: Apache-2.0
// An allocation that failed, and what was alive then, as plain data; written at once, and kept for the report at exit.
#pragma once

#include "core/options.h"
#include "hooks/out_of_memory.h"
#include "report/census.h"

#include <array>
#include <string>
#include <vector>

namespace tensorscope::report {

struct Sum {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

/// What the scopes opened at one place made; or what was made outside of any.
struct ScopeSum {
  bool in_region = false;
  core::RegionPlace region; ///< only if `in_region`
  Sum sum;
};

struct OutOfMemoryNote {
  c10::Device device = c10::kCPU;
  std::uint64_t requested = 0;
  std::uint64_t limit = 0; ///< 0: no limit was set
  std::string detail;
  const core::OperatorInfo* asked_by = nullptr; ///< the outermost operator that ran; null in none
  bool library = false;                         ///< inside backward(), or another call that LibTorch makes for itself
  const core::Stack* stack = nullptr;
  bool in_region = false;
  core::RegionPlace region;         ///< the innermost open one of the thread; only if `in_region`
  std::uint32_t thread = 0;
  Sum known;                        ///< alive on that device, as the ledger knows
  std::uint64_t allocated_bytes = 0; ///< of the CPU all that LibTorch's allocator gave; else 0
  std::vector<Site> sites;          ///< the largest first, and not all
  std::uint64_t more_sites = 0;
  std::vector<ScopeSum> scopes;     ///< the largest first, and not all
  std::uint64_t more_scopes = 0;
  std::array<Sum, kRoles> roles;    ///< by Role
  std::uint64_t unread_threads = 0;
};

/// Has failed allocations reported from now on. `options` must live as long as the process.
void watch_out_of_memory(const core::Options& options) noexcept;

/// What an allocator's hook calls: makes the note, and writes it. Once for each place that asks.
void report_out_of_memory(const hooks::OutOfMemory& what) noexcept;

/// Those of this process so far. At most some dozens.
std::vector<OutOfMemoryNote> out_of_memory_notes();

/// In words; the first line starts with "OUT OF MEMORY:".
std::string as_text(const OutOfMemoryNote& note, Symbolizer& symbolizer);

/// "retained", "made in no scope" and the like.
const char* words_of(Role role);
/// For programs: "retained", "unscoped".
const char* name_of(Role role);

} // namespace tensorscope::report
