// SPDX-License-Identifier: Apache-2.0
// The ledgers as a report reads them.
#pragma once

#include "hooks/references.h"
#include "report/handles_search.h"
#include "report/leaks.h"
#include "report/reachability.h"

#include <optional>
#include <vector>

namespace tensorscope::report {

/// A survivor that is alive, kept so while it is looked at.
struct Living {
  core::Survivor note;
  c10::intrusive_ptr<c10::StorageImpl> storage;
  bool released = false;
  std::optional<HandlePlace> handles; ///< where they are, if that was looked for
  bool piled = false;                 ///< part of a pile: see report/piles.h
  Reach reach = Reach::unknown;       ///< whether anything leads to it, if that was looked for
};

/// Whether it is a parent process's to report.
inline bool is_parents(const core::Survivor& note, const Question& question) {
  return note.region != 0 ? note.region <= question.since_region : note.process != question.process;
}

/// A copy of one thread's ledger, taken under its lock.
struct Ledger {
  std::vector<Living> survivors;
  std::vector<OpenSession> sessions;
  std::uint64_t open_bytes = 0; ///< owned or retained by open regions
  std::uint32_t thread = 0;     ///< its slot
  core::WorkClock now = 0;      ///< of the thread
  bool quiet = false;           ///< the thread is this one, or has ended
};

} // namespace tensorscope::report
