// SPDX-License-Identifier: Apache-2.0
// From the ledgers to leaks: what is alive, grouped by the place of its making.
#include "report/leaks.h"

#include "core/live_figures.h"
#include "hooks/handed_over.h"
#include "hooks/library_calls.h"
#include "hooks/references.h"
#include "hooks/released.h"
#include "report/groups.h"
#include "report/growth.h"
#include "report/handles_search.h"
#include "report/leak_graphs.h"
#include "report/leak_holders.h"
#include "report/piles.h"
#include "report/unreachable.h"

#include <algorithm>

namespace tensorscope::report {
namespace {

using core::KeptAs;
using core::Survivor;

void add_owned(OpenSession& open, Sites& sites, const core::OwnedStorage& entry) {
  if (const auto storage = hooks::lock_storage(entry.storage); storage && !hooks::is_released(*storage)) {
    ++open.count;
    open.bytes += storage->nbytes();
    sites.add(entry, storage->nbytes());
  }
}

OpenSession describe_session(const core::ThreadRecord& thread, const core::Region& session) {
  OpenSession open{session.where, session.number, thread.slot, 0, 0, {}, 0};
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
    OpenSession open{left.place.where, left.region, left.thread, 0, 0, {}, left.replaced};
    if (left.replaced != 0) {
      report.sessions.push_back(std::move(open));
      continue;
    }
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
  const core::LedgerReading reading(thread);
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
  ledger.survivors.reserve(thread.survivors->items().size()); // no copies for a search of the memory to find
  for (const Survivor& survivor : thread.survivors->items()) {
    if (auto storage = hooks::lock_storage(survivor.entry.storage)) {
      const bool released = hooks::is_released(*storage);
      ledger.survivors.push_back({survivor, std::move(storage), released, std::nullopt, false});
    }
  }
}

std::optional<LeakKind> kind_of(const Living& living, const Question& question) {
  const Survivor& note = living.note;
  if (is_parents(note, question) || !question.main_returned) {
    return std::nullopt;
  }
  if (living.reach == Reach::in_cycle) {
    return LeakKind::cycle;
  }
  if (living.reach == Reach::lost) {
    return LeakKind::lost;
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

/// Where the bytes of tensors are, which hold no handles.
std::vector<AddressRange> bytes_of_tensors(const std::vector<Ledger>& ledgers) {
  std::vector<AddressRange> ranges;
  for (const auto& ledger : ledgers) {
    for (const auto& living : ledger.survivors) {
      const auto begin = reinterpret_cast<std::uintptr_t>(living.storage->_mutable_data_ptr_no_checks().get());
      if (begin != 0 && living.storage->device_type() == c10::DeviceType::CPU) {
        ranges.emplace_back(begin, begin + living.storage->nbytes());
      }
    }
  }
  return ranges;
}

/// Looks for the handles of what may have leaked: what a static holds is the program's to keep, and what nobody holds is
/// lost for good. Only when main's variables are gone.
void find_handles_of(std::vector<Ledger>& ledgers, const Question& question) {
  if (!question.main_returned) {
    return;
  }
  std::vector<Living*> asked;
  const std::vector<AddressRange> bytes = bytes_of_tensors(ledgers);
  for (auto& ledger : ledgers) {
    for (auto& living : ledger.survivors) {
      if (living.released) {
        continue;
      }
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

void sum_up(Report& report, const std::vector<Ledger>& ledgers, const Question& question, Symbolizer& symbolizer) {
  const IsLeak is_leak = [&](const Living& living) { return kind_of(living, question).has_value(); };
  const Graphs graphs = read_graphs(ledgers, is_leak);
  Groups groups(symbolizer, question);
  Sites held;
  for (const auto& ledger : ledgers) {
    report.known_bytes += ledger.open_bytes;
    for (const auto& living : ledger.survivors) {
      report.known_bytes += living.released ? 0 : living.storage->nbytes();
      const auto kind = kind_of(living, question);
      const Living* const keeper = keeper_of(living, graphs);
      const bool indirect = is_indirect(living, keeper, graphs, is_leak);
      if (!kind && !indirect) {
        if (!living.released) {
          held.add(living.note.entry, living.storage->nbytes());
        }
        continue;
      }
      if (indirect || *kind == LeakKind::graph || (*kind == LeakKind::piled && keeper != nullptr)) {
        const Living& end = keeper != nullptr ? *keeper : living;
        groups.add_graph(kind_of(end, question).value_or(LeakKind::graph), end.note, living.note.entry,
                         living.storage->nbytes());
      } else {
        const core::Stack* const exported_at = *kind == LeakKind::lost ? hooks::exported_at(*living.storage) : nullptr;
        groups.add(*kind, living.note, living.storage->nbytes(), own_node_of(living, graphs), exported_at);
      }
    }
  }
  report.leaks = groups.leaks(held);
  report.held = held.largest_first();
}

/// What searches of the memory leave out: tensors' bytes, and our own copies of the ledgers.
std::vector<AddressRange> not_searched(const std::vector<Ledger>& ledgers) {
  std::vector<AddressRange> ranges = bytes_of_tensors(ledgers);
  for (const auto& ledger : ledgers) {
    const auto copies = reinterpret_cast<std::uintptr_t>(ledger.survivors.data());
    ranges.emplace_back(copies, copies + ledger.survivors.capacity() * sizeof(Living));
  }
  return ranges;
}

} // namespace

Report collect(const Question& question, Symbolizer& symbolizer) {
  Report report;
  report.main_returned = question.main_returned;
  report.allocated_bytes = core::live_in_process().bytes;
  report.usage = read_usage();
  std::vector<Ledger> ledgers;
  for (auto* thread = core::all_records(); thread != nullptr; thread = thread->next) {
    read(*thread, question, ledgers.emplace_back());
    auto& sessions = ledgers.back().sessions;
    report.sessions.insert(report.sessions.end(), sessions.begin(), sessions.end());
  }
  add_sessions_left_open(report, ledgers, question);
  find_handles_of(ledgers, question);
  mark_piles(ledgers, question);
  const std::vector<AddressRange> skipped = not_searched(ledgers);
  report.unreachable_trouble = find_unreachable(ledgers, question, skipped);
  sum_up(report, ledgers, question, symbolizer);
  if (question.holders) {
    add_holders(report.leaks, {skipped, question.stack_is_gone}, symbolizer);
  }
  add_growth(report, question, symbolizer);
  report.uses = core::uses_after_release();
  return report;
}

} // namespace tensorscope::report
