// SPDX-License-Identifier: Apache-2.0
// Escapes at a region's end.
#include "api/escapes.h"

#include "api/install.h"
#include "core/region_stack.h"
#include "hooks/devices.h"
#include "hooks/library_calls.h"
#include "hooks/released.h"
#include "hooks/results.h"
#include "platform/health.h"

#include <torch/csrc/autograd/function.h>

#include <mutex>
#include <set>
#include <sstream>
#include <tuple>
#include <unordered_map>

namespace tensorscope::api {
namespace {

using core::Region;
using core::ThreadRecord;

bool escaped(const Candidate& candidate) {
  return candidate.kept_as == kUndecided && !hooks::is_released(*candidate.storage);
}

bool lies_in(const at::Tensor& tensor, const c10::StorageImpl& storage) {
  bool found = false;
  hooks::for_each_storage(tensor, [&](c10::TensorImpl&, c10::StorageImpl& part) { found = found || &part == &storage; });
  return found;
}

/// The tensors of escapes that have a graph. The latest first: no tensor is behind an earlier one.
std::vector<at::Tensor> roots_of_escapes(Classes& classes) {
  std::vector<at::Tensor> roots;
  for (const auto& candidate : classes.all()) {
    auto tensor = escaped(candidate) ? hooks::lock_tensor(candidate.entry.tensor) : at::Tensor();
    if (tensor.defined() && hooks::may_have_graph(*tensor.unsafeGetTensorImpl()) && tensor.grad_fn()) {
      roots.push_back(std::move(tensor));
    }
  }
  std::stable_sort(roots.begin(), roots.end(), [](const at::Tensor& a, const at::Tensor& b) {
    return a.grad_fn()->sequence_nr() > b.grad_fn()->sequence_nr();
  });
  return roots;
}

/// The living tensors that a region saw, by storage.
using SeenViews = std::unordered_multimap<const c10::StorageImpl*, at::Tensor>;

SeenViews seen_views(const Region& region) {
  SeenViews views;
  for (const auto& item : region.seen.items()) {
    if (auto tensor = hooks::lock_tensor(item.object); tensor.defined() && tensor.has_storage()) {
      views.emplace(tensor.storage().unsafeGetStorageImpl(), std::move(tensor));
    }
  }
  return views;
}

/// Tensors over `candidate` that the region knows: the one that brought it, and views it saw.
std::vector<at::Tensor> known_tensors(const Candidate& candidate, const SeenViews& views) {
  std::vector<at::Tensor> known;
  if (auto tensor = hooks::lock_tensor(candidate.entry.tensor); tensor.defined()) {
    known.push_back(std::move(tensor));
  }
  const auto [first, last] = views.equal_range(candidate.storage.get());
  for (auto view = first; view != last; ++view) {
    known.push_back(view->second);
  }
  return known;
}

/// Those that escaped by themselves come first.
struct Escaped {
  std::vector<hooks::Doomed> all;
  std::size_t behind = 0; ///< of these, by the graph of another one
};

Escaped escapes_of(const Region& region, Classes& classes) {
  const SeenViews seen = seen_views(region);
  Escaped found;
  for (const bool behind : {false, true}) {
    for (const auto& candidate : classes.all()) {
      const bool wanted = behind ? candidate.behind_escape : escaped(candidate) && !candidate.behind_escape;
      if (wanted && !hooks::is_released(*candidate.storage)) {
        found.all.push_back({candidate.storage, known_tensors(candidate, seen), candidate.entry.made_by,
                             candidate.entry.stack});
        found.behind += behind ? 1 : 0;
      }
    }
  }
  return found;
}

/// Prints a line once for each scope in the source and each operator whose result escaped it first: a scope in a loop
/// would say the same each time, with other shapes for ever.
void report_once(const Region& region, const core::OperatorInfo* made_by, const std::string& line) {
  using Place = std::tuple<std::string, unsigned, const core::OperatorInfo*>;
  static std::mutex mutex;
  static auto& reported = *new std::set<Place>;
  const std::lock_guard lock(mutex);
  if (reported.emplace(region.where.file_name(), region.where.line(), made_by).second) {
    platform::print_line(line);
  }
}

std::string escape_line(const Region& region, const Escaped& escapes) {
  const auto& first = escapes.all.front();
  std::ostringstream text;
  text << escapes.all.size() - escapes.behind << " tensor(s) escaped the "
       << (region.kind == core::RegionKind::scope ? "scope" : "session") << " opened at " << region.where.file_name()
       << ':' << region.where.line() << ", the first made by " << first.made_by->name << " ("
       << hooks::describe(first.tensors.empty() ? at::Tensor() : first.tensors.front(), *first.storage) << ")";
  if (escapes.behind != 0) {
    text << ", with " << escapes.behind << " more that backward() needs";
  }
  text << ": return them from it or retain them" << hooks::paragraph_of("created here:", first.made_at);
  return text.str();
}

void release_escapes(ThreadRecord& thread, const Region& region, const Ending& ending, std::vector<hooks::Doomed>& all,
                     const hooks::GraphOnlyStorages& made_inside) {
  const bool is_scope = region.kind == core::RegionKind::scope;
  const hooks::ReleaseCause cause{
      is_scope ? hooks::ReleaseCause::Kind::scope_end : hooks::ReleaseCause::Kind::session_end, region.where,
      ending.closed};
  for (const auto& one : all) {
    thread.devices[hooks::figures_index(*one.storage)].released.add(1);
  }
  // Nothing can use the graph of a released tensor any more: what only that graph holds would be there for nobody.
  for (const auto& inside : made_inside.held()) {
    if (core::owner_of(thread, hooks::key_of(inside.storage.get())) == nullptr) {
      all.push_back({inside.storage, {}, inside.kept_by, nullptr});
    }
  }
  hooks::release_storages(all, cause);
}

} // namespace

bool escapes_stay() {
  return options_in_force().on_escape == core::OnEscape::report || !hooks::interposers_reached();
}

void sort_escapes(Classes& classes, ClosingGraphs& graphs, hooks::GraphOnlyStorages& made_inside) {
  for (auto& root : roots_of_escapes(classes)) {
    graphs.walk.run(root, [&](const hooks::SavedTensor& saved) {
      Candidate* const candidate = classes.find(saved.storage);
      if (candidate == nullptr) {
        made_inside.add(saved);
      } else if (escaped(*candidate) && !lies_in(root, saved.storage)) {
        candidate->behind_escape = true;
      }
    });
    graphs.roots.push_back(std::move(root));
  }
  if (escapes_stay()) {
    for (auto& candidate : classes.all()) {
      candidate.kept_as = candidate.behind_escape ? Class::graph : candidate.kept_as;
    }
  }
}

std::string meet_escapes(ThreadRecord& thread, const Region& region, const Ending& ending, Classes& classes,
                         const hooks::GraphOnlyStorages& made_inside) {
  auto escapes = escapes_of(region, classes);
  if (escapes.all.empty()) {
    return {};
  }
  const auto policy = options_in_force().on_escape;
  const auto* const first = escapes.all.front().made_by;
  std::string line;
  if (policy != core::OnEscape::release) {
    line = escape_line(region, escapes);
  }
  if (policy == core::OnEscape::report) {
    report_once(region, first, line);
  }
  if (!escapes_stay()) {
    release_escapes(thread, region, ending, escapes.all, made_inside);
  }
  return policy == core::OnEscape::throw_error ? line : std::string();
}

} // namespace tensorscope::api
