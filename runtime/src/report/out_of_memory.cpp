// SPDX-License-Identifier: Apache-2.0
// Made on the thread whose allocation failed, wherever it is: it may be in an operator, in a backward pass, and hold its
// own ledger. So nothing here runs an operator, waits for another thread without end, or throws.
#include "report/out_of_memory.h"

#include "core/fork_guard.h"
#include "core/live_figures.h"
#include "hooks/making.h"
#include "platform/health.h"
#include "platform/output.h"
#include "report/at_exit.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include <unistd.h>

namespace tensorscope::report {
namespace {

constexpr std::size_t kMostPlaces = 64; ///< a program that fails everywhere must not fill the disk
constexpr std::size_t kMostSites = 20;
constexpr std::size_t kMostScopes = 20;
constexpr std::size_t kReserve = 8u << 20; ///< given back while a report is made: memory may be short indeed

/// Where allocations failed: a retry at the same place is no news.
using Place = std::tuple<const core::Stack*, const core::OperatorInfo*, c10::DeviceType, c10::DeviceIndex>;

struct Failures {
  std::mutex mutex;
  std::set<Place> places;
  std::vector<OutOfMemoryNote> notes;
  std::string written; ///< what the file holds, where reports go to one
  void* reserve = std::malloc(kReserve);
};

constinit const core::Options* options = nullptr;

Failures& failures() {
  static auto* const all = core::make_fork_safe<Failures>(); // never destroyed: memory may run out during exit
  return *all;
}

/// Sorts by bytes and keeps the largest. Returns how many were left out.
template <class Element, class Bytes>
std::uint64_t keep_largest(std::vector<Element>& all, std::size_t most, Bytes bytes) {
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return bytes(a) > bytes(b); });
  const std::size_t left_out = all.size() - std::min(all.size(), most);
  all.resize(all.size() - left_out);
  return left_out;
}

void add(Sum& sum, std::uint64_t bytes) {
  ++sum.count;
  sum.bytes += bytes;
}

void add_living(OutOfMemoryNote& note, const Census& census) {
  std::map<std::pair<const core::OperatorInfo*, const core::Stack*>, Site> sites;
  std::map<std::tuple<bool, std::string, std::uint32_t>, ScopeSum> scopes;
  for (const auto& living : census.storages) {
    if (living.device != note.device) {
      continue;
    }
    add(note.known, living.bytes);
    add(note.roles[static_cast<std::size_t>(living.role)], living.bytes);
    Site& site = sites.try_emplace({living.made_by, living.stack}, Site{living.made_by, living.stack, living.shape, 0, 0}).first->second;
    ++site.count;
    site.bytes += living.bytes;
    const auto& where = living.region.where;
    ScopeSum& scope = scopes[{living.in_region, living.in_region ? where.file_name() : "", where.line()}];
    scope.in_region = living.in_region;
    scope.region = living.region;
    add(scope.sum, living.bytes);
  }
  for (auto& [place, site] : sites) {
    note.sites.push_back(site);
  }
  for (auto& [place, scope] : scopes) {
    note.scopes.push_back(scope);
  }
  note.more_sites = keep_largest(note.sites, kMostSites, [](const Site& site) { return site.bytes; });
  note.more_scopes = keep_largest(note.scopes, kMostScopes, [](const ScopeSum& scope) { return scope.sum.bytes; });
  note.unread_threads = census.unread_threads;
}

OutOfMemoryNote note_of(const hooks::OutOfMemory& what, core::ThreadRecord& thread) {
  OutOfMemoryNote note;
  note.device = what.device;
  note.requested = what.requested;
  note.limit = what.limit;
  note.detail = what.detail != nullptr ? what.detail : "";
  note.thread = thread.slot;
  note.asked_by = thread.depths.operators != 0 ? thread.current_operator : nullptr;
  note.library = thread.depths.library != 0;
  note.stack = hooks::stack_here(thread);
  if (thread.innermost != nullptr) {
    note.in_region = true;
    note.region = {thread.innermost->kind, thread.innermost->where};
  }
  return note;
}

void write(Failures& all, const std::string& text) {
  if (options->log_path.empty()) {
    platform::write_to_stderr(text);
    return;
  }
  const std::string path = platform::expand_path(options->log_path) + ".out-of-memory";
  all.written += text;
  std::string problem;
  if (platform::write_file(path, all.written, problem)) {
    platform::print_line(text.substr(0, text.find('\n')) + "; see " + path);
  } else {
    platform::print_line("cannot write '" + path + "' (log_path): " + problem);
    platform::write_to_stderr(text);
  }
}

/// For when there is not even the memory for a report.
void write_short(const hooks::OutOfMemory& what) noexcept {
  std::array<char, 160> line{};
  const int length = std::snprintf(line.data(), line.size(),
                                   "OUT OF MEMORY: %llu bytes were asked for; memory or time is too short for more of a report\n",
                                   static_cast<unsigned long long>(what.requested));
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), static_cast<std::size_t>(std::max(length, 0)));
}

/// Reports are made one after the other. What ends while one is made may need an interpreter's lock that a thread holds
/// which waits here: so none waits without end.
std::unique_lock<std::mutex> lock_in_time(std::mutex& mutex) {
  constexpr std::int64_t kPatience = 10'000'000'000;
  const std::int64_t deadline = core::monotonic_now() + kPatience;
  std::unique_lock lock(mutex, std::try_to_lock);
  while (!lock && core::monotonic_now() < deadline) {
    ::usleep(1000);
    lock.try_lock();
  }
  return lock;
}

void make_report(Failures& all, const hooks::OutOfMemory& what, core::ThreadRecord& thread) {
  OutOfMemoryNote note = note_of(what, thread);
  const bool is_new = all.places.size() < kMostPlaces &&
      all.places.insert({note.stack, note.asked_by, note.device.type(), note.device.index()}).second;
  if (!is_new) {
    return;
  }
  add_living(note, take_census());
  note.allocated_bytes = note.device.is_cpu() ? core::live_in_process().bytes : 0;
  Symbolizer symbolizer;
  write(all, as_text(note, symbolizer));
  all.notes.push_back(std::move(note));
}

} // namespace

void watch_out_of_memory(const core::Options& given) noexcept {
  options = &given;
  failures();
  hooks::set_out_of_memory_hook(&report_out_of_memory);
}

void report_out_of_memory(const hooks::OutOfMemory& what) noexcept {
  auto* const thread = core::this_thread();
  if (options == nullptr || thread == nullptr) {
    return;
  }
  report_at_exit(); // the program may have made nothing yet
  try {
    auto& all = failures();
    const auto lock = lock_in_time(all.mutex);
    if (!lock) {
      write_short(what);
      return;
    }
    std::free(std::exchange(all.reserve, nullptr));
    try {
      make_report(all, what, *thread);
    } catch (...) {
      write_short(what);
    }
    all.reserve = std::malloc(kReserve);
  } catch (...) {
    write_short(what);
  }
}

std::vector<OutOfMemoryNote> out_of_memory_notes() {
  auto& all = failures();
  const std::lock_guard lock(all.mutex);
  return all.notes;
}

} // namespace tensorscope::report
