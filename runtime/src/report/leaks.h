// SPDX-License-Identifier: Apache-2.0
// What a program kept, as plain data: collected from the ledger, worded elsewhere. Level `full`.
#pragma once

#include "core/ledger.h"
#include "core/options.h"
#include "core/thread_record.h"
#include "core/uses.h"
#include "report/health.h"
#include "report/holders.h"
#include "report/symbolizer.h"
#include "report/usage.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tensorscope::report {

enum class LeakKind {
  retained, ///< taken out of its scope by retain, and never let go
  graph,    ///< kept because a backward pass of a living tensor needs it
  result,   ///< returned by several runs of a scope, and all are still there
  lost,     ///< alive, and no handle is left anywhere, or only in blocks that are lost themselves
  cycle,    ///< alive, and only what it keeps alive itself leads to it, or another cycle
  escape,   ///< released at its scope's end, and still held
  piled,    ///< made outside of any scope, more and more while the program worked
  left_alive, ///< escaped its scope, and was left alive as `on_escape` asks
  growth,   ///< more and more was kept while the program worked; it may be gone now
};

/// What grew.
enum class GrowthKind {
  tensors,
  copies, ///< with the same content
  views,  ///< small ones, each of a storage that nothing else holds
  graphs, ///< tensors, each with a graph of its own
  chain,  ///< the graph of one tensor, which carries it from iteration to iteration
};

/// How fast, while the program worked.
struct Growth {
  GrowthKind kind = GrowthKind::tensors;
  double tensors_per_iteration = 0; ///< those that a graph keeps included
  double bytes_per_iteration = 0;
  std::uint64_t iterations = 0;     ///< that were looked at
};

/// Storages made at one place.
struct Site {
  const core::OperatorInfo* made_by = nullptr;
  const core::Stack* stack = nullptr;       ///< of the first; null where none was taken
  const core::TensorShape* shape = nullptr; ///< of the first; null where it is not known
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

struct Leak {
  LeakKind kind = LeakKind::retained;
  Site site;
  const core::ScopePath* path = nullptr; ///< the scope that made them and those around; null outside of any
  std::uint64_t runs = 0;                ///< of that scope, that made them
  std::vector<Site> graph;               ///< what their backward passes keep besides, the largest first
  std::uint64_t graph_count = 0;
  std::uint64_t graph_bytes = 0;
  std::optional<Growth> growth;
  std::string own_node;                  ///< of their own graphs, which keeps them
  std::uint64_t exported = 0;            ///< of those that are lost: over so many a capsule for other libraries was made
  const core::Stack* exported_at = nullptr; ///< where the first of these was made
  std::vector<std::string> python_holders; ///< where a program in Python holds some of them
  std::string suppression;               ///< a rule that would hide it, where one was asked for
  std::vector<core::OwnedStorage> tensors; ///< its own, or those whose graphs it is; while it is collected
  LeakHolders holders;

  /// Of an escape those that it had.
  std::uint64_t bytes() const { return (kind == LeakKind::graph ? 0 : site.bytes) + graph_bytes; }
};

struct OpenSession {
  std::source_location where;
  std::uint64_t region = 0; ///< its number
  std::uint32_t thread = 0;
  std::uint64_t count = 0; ///< storages it owns
  std::uint64_t bytes = 0;
  std::vector<Site> sites; ///< of these, the largest first
  std::uint64_t replaced = 0; ///< so often the same line started the next one while it was open; it is closed then
};

/// What a rule hid.
struct Suppressed {
  std::string rule;   ///< "leak:pattern"
  std::string origin; ///< "file:line"
  std::uint64_t count = 0; ///< storages
  std::uint64_t bytes = 0;
};

struct OutOfMemoryNote; // report/out_of_memory.h

struct Report {
  std::vector<Leak> leaks;           ///< the largest first
  std::vector<OpenSession> sessions; ///< left open
  std::vector<core::UseAfterReleaseNote> uses;
  bool main_returned = true;         ///< else what its variables hold is no leak
  std::vector<Site> held;            ///< alive, and no leak by what is known or too small to be one; the largest first
  std::vector<Suppressed> suppressed; ///< known leaks, which are not among `leaks` and `sessions`
  std::vector<HealthLine> health;     ///< the library's own troubles
  std::string unreachable_trouble;    ///< why lost tensors and cycles were not looked for; empty where they were
  std::shared_ptr<const std::vector<OutOfMemoryNote>> out_of_memory; ///< allocations that failed; null for none
  std::uint64_t known_bytes = 0;     ///< of the living storages that the ledger knows
  std::uint64_t allocated_bytes = 0; ///< by LibTorch's CPU allocator, and not freed
  Usage usage;

  bool clean() const { return leaks.empty() && sessions.empty() && uses.empty(); }
  std::uint64_t escaped_count() const;
  std::uint64_t growth_count() const; ///< places, without those whose tensors are leaks anyway
  std::uint64_t leaked_count() const; ///< without the escapes, whose memory is free, and without what only grew
  std::uint64_t leaked_bytes() const;
};

/// What is to be counted as a leak.
struct Question {
  bool main_returned = true;
  std::uint64_t since_region = 0; ///< regions up to this number belong to the parent process
  std::uint32_t process = 0;      ///< what was made outside of regions by an earlier one is the parent's, too
  std::uint64_t min_bytes = 0;
  std::uint64_t resolution = 0;   ///< frames of the user's code that tell sites apart; 0: all
  std::uint64_t warmup = 0;       ///< repeats of a place that do not count as growth
  bool holders = true;            ///< whether to say who holds what leaked
  bool stack_is_gone = true;      ///< of the asking thread: else a variable there may be the handle that is not found
};

/// Reads the ledgers of all threads, whatever they are doing.
Report collect(const Question& question, Symbolizer& symbolizer);

} // namespace tensorscope::report
