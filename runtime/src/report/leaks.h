// SPDX-License-Identifier: Apache-2.0
// What a program kept, as plain data: collected from the ledger, worded elsewhere. Level `full`.
#pragma once

#include "core/ledger.h"
#include "core/options.h"
#include "core/thread_record.h"
#include "core/uses.h"
#include "report/health.h"
#include "report/symbolizer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tensorscope::report {

enum class LeakKind {
  retained, ///< taken out of its scope by retain, and never let go
  graph,    ///< kept because a backward pass of a living tensor needs it
  result,   ///< returned by several runs of a scope, and all are still there
  lost,     ///< alive, and no handle is left anywhere
  escape,   ///< released at its scope's end, and still held
  piled,    ///< made outside of any scope, more and more while the program worked
  left_alive, ///< escaped its scope, and was left alive as `on_escape` asks
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
  std::vector<std::string> python_holders; ///< where a program in Python holds some of them
  std::string suppression;               ///< a rule that would hide it, where one was asked for

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
  bool list_suppressed = false;       ///< the text is to list them (print_suppressions)
  std::vector<HealthLine> health;     ///< the library's own troubles
  std::shared_ptr<const std::vector<OutOfMemoryNote>> out_of_memory; ///< allocations that failed; null for none
  std::uint64_t known_bytes = 0;     ///< of the living storages that the ledger knows
  std::uint64_t allocated_bytes = 0; ///< by LibTorch's CPU allocator, and not freed

  bool clean() const { return leaks.empty() && sessions.empty() && uses.empty(); }
  std::uint64_t escaped_count() const;
  std::uint64_t leaked_count() const; ///< without the escapes, whose memory is free
  std::uint64_t leaked_bytes() const;
};

/// What is to be counted as a leak.
struct Question {
  bool main_returned = true;
  std::uint64_t since_region = 0; ///< regions up to this number belong to the parent process
  std::uint32_t process = 0;      ///< what was made outside of regions by an earlier one is the parent's, too
  std::uint64_t min_bytes = 0;
  std::uint64_t resolution = 0;   ///< frames of the user's code that tell sites apart; 0: all
  bool stack_is_gone = true;      ///< of the asking thread: else a variable there may be the handle that is not found
};

/// Reads the ledgers of all threads, whatever they are doing.
Report collect(const Question& question, Symbolizer& symbolizer);

} // namespace tensorscope::report
