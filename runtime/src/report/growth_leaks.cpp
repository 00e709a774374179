// SPDX-License-Identifier: Apache-2.0
// From what grew to the report's leaks.
#include "report/growth.h"

#include "core/thread_record.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tensorscope::report {
namespace {

std::uint64_t passes_so_far() {
  std::uint64_t passes = 0;
  for (const auto* thread = core::all_records(); thread != nullptr; thread = thread->next) {
    passes += thread->backward_passes.get();
  }
  return passes;
}

GrowthNow now_of(const core::ThreadRecord& thread, const Question& question) {
  return {thread.operator_stamp.load() / 2, passes_so_far(), question.warmup};
}

std::vector<GrowthFinding> findings_of(core::ThreadRecord& thread, const Question& question) {
  const core::LedgerReading reading(thread);
  if (thread.growth == nullptr || thread.growth->process != question.process) {
    return {};
  }
  return find_growth(*thread.growth, now_of(thread, question));
}

/// Whether the place is one of this thread's that lets go.
bool is_bounded_in(core::ThreadRecord& thread, const Question& question, const Site& place) {
  const core::LedgerReading reading(thread);
  auto* const site = thread.growth != nullptr
      ? thread.growth->known_site({place.stack, place.made_by, 0, core::GrowthOf::tensors})
      : nullptr;
  return site != nullptr && is_bounded(*site, now_of(thread, question), place.count);
}

/// What was retained, or returned from scopes, is no leak where it is so much and no more.
void move_bounded(Report& report, const Question& question) {
  const auto bounded = [&](const Leak& leak) {
    if ((leak.kind != LeakKind::retained && leak.kind != LeakKind::result) || leak.site.stack == nullptr) {
      return false;
    }
    for (auto* thread = core::all_records(); thread != nullptr; thread = thread->next) {
      if (is_bounded_in(*thread, question, leak.site)) {
        return true;
      }
    }
    return false;
  };
  const auto first = std::stable_partition(report.leaks.begin(), report.leaks.end(),
                                           [&](const Leak& leak) { return !bounded(leak); });
  for (auto leak = first; leak != report.leaks.end(); ++leak) {
    report.held.push_back(leak->site);
    report.held.insert(report.held.end(), leak->graph.begin(), leak->graph.end());
  }
  report.leaks.erase(first, report.leaks.end());
}

Leak leak_of(const GrowthFinding& found) {
  Leak leak;
  leak.kind = LeakKind::growth;
  const bool told_below = found.growth.kind == GrowthKind::views && !found.kept.empty();
  leak.site = {found.place.made_by, found.place.stack, found.shape, found.count, told_below ? 0 : found.bytes};
  leak.growth = found.growth;
  for (const auto& kept : found.kept) {
    const bool by_views = found.growth.kind == GrowthKind::views;
    const std::uint64_t times = found.growth.kind == GrowthKind::chain ? found.growth.iterations : found.count;
    leak.graph.push_back(
        {kept.made_by, kept.stack, kept.shape, kept.count * times, by_views ? found.bytes : kept.bytes * times});
    leak.graph_count += leak.graph.back().count;
    leak.graph_bytes += leak.graph.back().bytes;
  }
  std::stable_sort(leak.graph.begin(), leak.graph.end(), [](const Site& a, const Site& b) { return a.bytes > b.bytes; });
  return leak;
}

bool made_at(const Site& site, const GrowthFinding& found) {
  return site.stack == found.place.stack && site.made_by == found.place.made_by;
}

/// Whether the leak is what the finding saw growing, still alive.
bool is_same(const Leak& leak, const GrowthFinding& found) {
  const auto keeps = [&](const Site& site) {
    return std::any_of(found.kept.begin(), found.kept.end(), [&](const core::KeptPerRepeat& kept) {
      return kept.stack == site.stack && kept.made_by == site.made_by;
    });
  };
  return made_at(leak.site, found) || keeps(leak.site) ||
      (leak.graph_count != 0 && std::all_of(leak.graph.begin(), leak.graph.end(), keeps));
}

bool is_kept_by(const Leak& leak, const GrowthFinding& found) {
  return std::any_of(leak.graph.begin(), leak.graph.end(), [&](const Site& site) { return made_at(site, found); });
}

/// Whether two stacks are the same lines of the program: compilers make several places of one.
bool same_lines(const core::Stack& one, const core::Stack& other, Symbolizer& symbolizer) {
  const auto lines = [&](const core::Stack& stack) {
    std::vector<std::pair<std::string, unsigned>> all;
    for (const SourceFrame* frame : symbolizer.frames_of(stack)) {
      if (frame->users) {
        all.emplace_back(frame->file.empty() ? frame->function : frame->file, frame->line);
      }
    }
    return all;
  };
  return &one == &other || lines(one) == lines(other);
}

bool is_told(const Report& report, const GrowthFinding& found, Symbolizer& symbolizer) {
  return std::any_of(report.leaks.begin(), report.leaks.end(), [&](const Leak& leak) {
    return leak.kind == LeakKind::growth && leak.growth->kind == found.growth.kind &&
        leak.site.made_by == found.place.made_by && same_lines(*leak.site.stack, *found.place.stack, symbolizer);
  });
}

void add_finding(Report& report, const GrowthFinding& found, const Question& question, Symbolizer& symbolizer) {
  bool known = is_told(report, found, symbolizer) || std::any_of(report.leaks.begin(), report.leaks.end(),
                           [&](const Leak& leak) { return is_kept_by(leak, found); });
  for (Leak& leak : report.leaks) {
    if (!is_same(leak, found)) {
      continue;
    }
    known = true;
    leak.growth = found.growth;
    // The place of a running total's last update says more than that of its zero.
    if (!made_at(leak.site, found)) {
      leak.site.made_by = found.place.made_by;
      leak.site.stack = found.place.stack;
      leak.site.shape = found.shape;
    }
  }
  if (Leak leak = leak_of(found); !known && leak.bytes() >= question.min_bytes) {
    report.leaks.push_back(std::move(leak));
  }
}

} // namespace

void add_growth(Report& report, const Question& question, Symbolizer& symbolizer) {
  move_bounded(report, question);
  for (auto* thread = core::all_records(); thread != nullptr; thread = thread->next) {
    for (const GrowthFinding& found : findings_of(*thread, question)) {
      add_finding(report, found, question, symbolizer);
    }
  }
  std::stable_sort(report.leaks.begin(), report.leaks.end(),
                   [](const Leak& a, const Leak& b) { return a.bytes() > b.bytes(); });
}

} // namespace tensorscope::report
