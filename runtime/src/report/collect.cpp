// SPDX-License-Identifier: Apache-2.0
// From the ledgers to leaks: what is alive, grouped by the place of its making.
#include "report/leaks.h"

#include "core/live_figures.h"
#include "hooks/graph.h"
#include "hooks/library_calls.h"
#include "hooks/references.h"
#include "hooks/released.h"
#include "report/groups.h"
#include "report/handles_search.h"
#include "report/piles.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace tensorscope::report {
namespace {

using core::KeptAs;
using core::Survivor;

/// A survivor that is alive, kept so while it is looked at.
struct Living {
  Survivor note;
  c10::intrusive_ptr<c10::StorageImpl> storage;
  bool released = false;
  std::optional<HandlePlace> handles; ///< where they are, if that was looked for
  bool piled = false;                 ///< part of a pile: see report/piles.h
};

/// A copy of one thread's ledger, taken under its lock.
struct Ledger {
  std::vector<Living> survivors;
  std::vector<OpenSession> sessions;
  std::uint64_t open_bytes = 0; ///< owned or retained by open regions
  std::uint32_t thread = 0;     ///< its slot
  core::WorkClock now = 0;      ///< of the thread
  bool quiet = false;           ///< the thread is this one, or has ended
};

class Reading {
 public:
  explicit Reading(core::ThreadRecord& thread) : lock_(thread.ledger_lock), own_(&thread == core::current_record) {
    own_ ? lock_.lock_as_owner() : lock_.lock_as_reader();
  }
  ~Reading() { own_ ? lock_.unlock_as_owner() : lock_.unlock_as_reader(); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  core::LedgerLock& lock_;
  bool own_;
};

void add_owned(OpenSession& open, Sites& sites, const core::OwnedStorage& entry) {
  if (const auto storage = hooks::lock_storage(entry.storage); storage && !hooks::is_released(*storage)) {
    ++open.count;
    open.bytes += storage->nbytes();
    sites.add(entry, storage->nbytes());
  }
}

OpenSession describe_session(const core::ThreadRecord& thread, const core::Region& session) {
  OpenSession open{session.where, session.number, thread.slot, 0, 0, {}};
  Sites sites;
  for (const auto& entry : session.owned.items()) {
    add_owned(open, sites, entry);
  }
  open.sites = sites.largest_first();
  return open;
}

/// Sessions whose threads have ended; what they owned is among the survivors.
void add_sessions_left_open(Report& report, const std::vector<Ledger>& ledgers, const Question& question) {
  for (const auto& left : core::regions_left_open()) {
    if (left.place.kind != core::RegionKind::session || left.region <= question.since_region) {
      continue;
    }
    OpenSession open{left.place.where, left.region, left.thread, 0, 0, {}};
    Sites sites;
    for (const auto& ledger : ledgers) {
      for (const auto& living : ledger.survivors) {
        if (living.note.kept_as == KeptAs::left_open && living.note.region == left.region) {
          add_owned(open, sites, living.note.entry);
        }
      }
    }
    open.sites = sites.largest_first();
    report.sessions.push_back(std::move(open));
  }
}

std::uint64_t living_bytes(const std::vector<core::OwnedStorage>& entries) {
  std::uint64_t bytes = 0;
  for (const auto& entry : entries) {
    if (const auto storage = hooks::lock_storage(entry.storage); storage && !hooks::is_released(*storage)) {
      bytes += storage->nbytes();
    }
  }
  return bytes;
}

void read(core::ThreadRecord& thread, const Question& question, Ledger& ledger) {
  const Reading reading(thread);
  ledger.thread = thread.slot;
  ledger.now = thread.work_done();
  ledger.quiet = &thread == core::current_record || !thread.in_use.load(std::memory_order_acquire);
  for (const core::Region* region = thread.innermost; region != nullptr; region = region->outer) {
    ledger.open_bytes += living_bytes(region->owned.items()) + living_bytes(region->retained.items());
    if (region->kind == core::RegionKind::session && region->number > question.since_region) {
      ledger.sessions.push_back(describe_session(thread, *region));
    }
  }
  if (thread.survivors == nullptr) {
    return;
  }
  for (const Survivor& survivor : thread.survivors->items()) {
    if (auto storage = hooks::lock_storage(survivor.entry.storage)) {
      const bool released = hooks::is_released(*storage);
      ledger.survivors.push_back({survivor, std::move(storage), released, std::nullopt, false});
    }
  }
}

std::optional<LeakKind> kind_of(const Living& living, const Question& question) {
  const Survivor& note = living.note;
  const bool parents = note.region != 0 ? note.region <= question.since_region : note.process != question.process;
  if (parents || !question.main_returned) {
    return std::nullopt;
  }
  if (living.handles == HandlePlace::nowhere && question.stack_is_gone) {
    return LeakKind::lost;
  }
  if (living.handles == HandlePlace::in_static) {
    return std::nullopt;
  }
  switch (note.kept_as) {
    case KeptAs::retained:
      return living.released ? std::nullopt : std::optional(LeakKind::retained);
    case KeptAs::graph:
      return living.released ? std::nullopt : std::optional(LeakKind::graph);
    case KeptAs::result:
      return living.released ? std::nullopt : std::optional(LeakKind::result);
    case KeptAs::escape:
      if (living.released) {
        return LeakKind::escape;
      }
      // Where LibTorch can't be intercepted, what it holds for itself looks like an escape.
      return hooks::interposers_reached() ? std::optional(LeakKind::left_alive) : std::nullopt;
    case KeptAs::unscoped:
    case KeptAs::library:
      return living.piled ? std::optional(LeakKind::piled) : std::nullopt;
    case KeptAs::adopted:
    case KeptAs::left_open:
      return std::nullopt;
  }
  return std::nullopt;
}

/// One reference is ours. A view would hold the storage by another.
bool is_held_by_one_tensor(const Living& living) {
  return c10::raw::intrusive_ptr::use_count(living.storage.get()) == 2 &&
      hooks::liveness.alive(living.note.entry.tensor);
}

void search_handles(const std::vector<Living*>& asked, const std::vector<AddressRange>& bytes) {
  std::vector<std::uintptr_t> complements;
  for (const Living* living : asked) {
    complements.push_back(~reinterpret_cast<std::uintptr_t>(hooks::target_at(living->note.entry.tensor)));
  }
  const auto found = find_handles(complements, bytes);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    // Threads that run may have dropped the tensor before its place was read.
    asked[i]->handles = is_held_by_one_tensor(*asked[i]) ? found[i] : HandlePlace::elsewhere;
  }
}

/// Looks for the handles of what may have leaked: what a static holds is the program's to keep, and what nobody holds is
/// lost for good. Only when main's variables are gone.
void find_handles_of(std::vector<Ledger>& ledgers, const Question& question) {
  if (!question.main_returned) {
    return;
  }
  std::vector<Living*> asked;
  std::vector<AddressRange> bytes;
  for (auto& ledger : ledgers) {
    for (auto& living : ledger.survivors) {
      if (living.released) {
        continue;
      }
      const auto begin = reinterpret_cast<std::uintptr_t>(living.storage->_mutable_data_ptr_no_checks().get());
      bytes.emplace_back(begin, begin + living.storage->nbytes());
      const KeptAs kept_as = living.note.kept_as;
      const bool matters = kept_as == KeptAs::unscoped || kept_as == KeptAs::result || kept_as == KeptAs::retained ||
          kept_as == KeptAs::escape;
      if (matters && is_held_by_one_tensor(living)) {
        asked.push_back(&living);
      }
    }
  }
  search_handles(asked, bytes);
  if (std::all_of(ledgers.begin(), ledgers.end(), [](const Ledger& ledger) { return ledger.quiet; })) {
    return;
  }
  // A thread that runs may have moved a handle to where the search had been.
  asked.erase(std::remove_if(asked.begin(), asked.end(),
                             [](const Living* living) { return living->handles != HandlePlace::nowhere; }),
              asked.end());
  search_handles(asked, bytes);
}

/// Only when main's variables are gone.
void mark_piles(std::vector<Ledger>& ledgers, const Question& question) {
  if (!question.main_returned) {
    return;
  }
  std::vector<Living*> asked;
  std::vector<Unscoped> unscoped;
  for (auto& ledger : ledgers) {
    for (auto& living : ledger.survivors) {
      const core::Survivor& note = living.note;
      // Gradients and the like pile up, too, where a program keeps them all.
      if ((note.kept_as == KeptAs::unscoped || note.kept_as == KeptAs::library) && !living.released) {
        asked.push_back(&living);
        unscoped.push_back({note.entry.made_by, note.entry.stack, note.made_at, ledger.now, ledger.thread});
      }
    }
  }
  const auto piled = find_piles(unscoped);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    asked[i]->piled = piled[i];
  }
}

/// For each storage that a graph needs, the living tensor at whose end the graph hangs.
using Keepers = std::unordered_map<const c10::StorageImpl*, const Living*>;

/// The living tensor at whose end the graph hangs that keeps the storage, or null. A graph may keep another's end.
const Living* keeper_of(const Living& living, const Keepers& keepers) {
  const Living* keeper = nullptr;
  auto found = keepers.find(living.storage.get());
  for (std::size_t steps = 0; found != keepers.end() && steps < keepers.size(); ++steps) {
    keeper = found->second;
    found = keepers.find(keeper->storage.get());
  }
  return keeper;
}

/// The tensors of one ledger that have a graph, and are no part of another's.
void add_roots(const Ledger& ledger, std::vector<at::Tensor>& roots, std::vector<const Living*>& notes) {
  for (const auto& living : ledger.survivors) {
    auto tensor = living.released ? at::Tensor() : hooks::lock_tensor(living.note.entry.tensor);
    if (tensor.defined() && living.note.kept_as != KeptAs::graph && tensor.grad_fn()) {
      roots.push_back(std::move(tensor));
      notes.push_back(&living);
    }
  }
}

Keepers keepers_of_graphs(const std::vector<Ledger>& ledgers) {
  std::vector<at::Tensor> roots;
  std::vector<const Living*> notes;
  for (const auto& ledger : ledgers) {
    // A running thread may be changing the graphs of its tensors right now.
    if (ledger.quiet) {
      add_roots(ledger, roots, notes);
    }
  }
  Keepers keepers;
  const hooks::LibraryCall ours(true); // unpacking saved tensors runs a few operators
  hooks::GraphWalk walk(0);
  for (std::size_t i = roots.size(); i-- > 0;) { // the younger first: a graph keeps what is older than its end
    walk.run(roots[i], [&](const hooks::SavedTensor& saved) {
      if (notes[i]->storage.get() != &saved.storage) {
        keepers.try_emplace(&saved.storage, notes[i]);
      }
    });
  }
  return keepers;
}

bool any_may_be_kept_by_graphs(const std::vector<Ledger>& ledgers) {
  return std::any_of(ledgers.begin(), ledgers.end(), [](const Ledger& ledger) {
    return std::any_of(ledger.survivors.begin(), ledger.survivors.end(), [](const Living& living) {
      return (living.note.kept_as == KeptAs::graph || living.piled) && !living.released;
    });
  });
}

void sum_up(Report& report, const std::vector<Ledger>& ledgers, const Question& question, Symbolizer& symbolizer) {
  const Keepers keepers = any_may_be_kept_by_graphs(ledgers) ? keepers_of_graphs(ledgers) : Keepers();
  Groups groups(symbolizer, question);
  Sites held;
  for (const auto& ledger : ledgers) {
    report.known_bytes += ledger.open_bytes;
    for (const auto& living : ledger.survivors) {
      report.known_bytes += living.released ? 0 : living.storage->nbytes();
      const auto kind = kind_of(living, question);
      if (!kind) {
        if (!living.released) {
          held.add(living.note.entry, living.storage->nbytes());
        }
        continue;
      }
      const Living* const keeper = keeper_of(living, keepers);
      if (*kind == LeakKind::graph || (*kind == LeakKind::piled && keeper != nullptr)) {
        const Living& end = keeper != nullptr ? *keeper : living;
        groups.add_graph(kind_of(end, question).value_or(LeakKind::graph), end.note, living.note.entry,
                         living.storage->nbytes());
      } else {
        groups.add(*kind, living.note, living.storage->nbytes());
      }
    }
  }
  report.leaks = groups.leaks(held);
  report.held = held.largest_first();
}

} // namespace

std::uint64_t Report::escaped_count() const {
  std::uint64_t count = 0;
  for (const auto& leak : leaks) {
    count += leak.kind == LeakKind::escape ? leak.site.count : 0;
  }
  return count;
}

std::uint64_t Report::leaked_count() const {
  std::uint64_t count = 0;
  for (const auto& leak : leaks) {
    count += leak.graph_count + (leak.kind == LeakKind::graph || leak.kind == LeakKind::escape ? 0 : leak.site.count);
  }
  return count;
}

std::uint64_t Report::leaked_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& leak : leaks) {
    bytes += leak.kind == LeakKind::escape ? 0 : leak.bytes();
  }
  return bytes;
}

Report collect(const Question& question, Symbolizer& symbolizer) {
  Report report;
  report.main_returned = question.main_returned;
  report.allocated_bytes = core::live_in_process().bytes;
  std::vector<Ledger> ledgers;
  for (auto* thread = core::all_records(); thread != nullptr; thread = thread->next) {
    read(*thread, question, ledgers.emplace_back());
    auto& sessions = ledgers.back().sessions;
    report.sessions.insert(report.sessions.end(), sessions.begin(), sessions.end());
  }
  add_sessions_left_open(report, ledgers, question);
  find_handles_of(ledgers, question);
  mark_piles(ledgers, question);
  sum_up(report, ledgers, question, symbolizer);
  report.uses = core::uses_after_release();
  return report;
}

} // namespace tensorscope::report
