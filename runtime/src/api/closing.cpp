// SPDX-License-Identifier: Apache-2.0
// The five classes at a region's end: result, retained, adopted, graph, escape.
#include "api/closing.h"

#include "api/install.h"
#include "core/region_stack.h"
#include "hooks/graph.h"
#include "hooks/library_calls.h"
#include "hooks/observer.h"
#include "hooks/owners.h"
#include "hooks/references.h"
#include "hooks/released.h"
#include "hooks/results.h"
#include "platform/health.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tensorscope::api {
namespace {

using core::Region;
using core::ThreadRecord;
using Class = core::KeptAs;
constexpr Class kUndecided = Class::escape; ///< until a reason to keep it is found

struct Candidate {
  c10::intrusive_ptr<c10::StorageImpl> storage;
  core::OwnedStorage entry;
  Class kept_as = kUndecided;
};

/// The storages of one region that are still alive at its end, each in its class.
class Classes {
 public:
  explicit Classes(std::vector<core::OwnedStorage> owned) {
    for (auto& entry : owned) {
      if (auto storage = hooks::lock_storage(entry.storage)) {
        candidates_.push_back({std::move(storage), entry});
      } else {
        entry.drop(hooks::liveness);
      }
    }
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return std::less<>()(a.entry.storage, b.entry.storage);
    });
  }
  Classes(const Classes&) = delete;
  Classes& operator=(const Classes&) = delete;
  ~Classes() {
    for (auto& candidate : candidates_) {
      candidate.entry.drop(hooks::liveness);
    }
  }

  std::vector<Candidate>& all() { return candidates_; }
  bool empty() const { return candidates_.empty(); }

  Candidate* find(const c10::StorageImpl& storage) {
    void* const address = hooks::key_of(&storage);
    const auto found = std::lower_bound(
        candidates_.begin(), candidates_.end(), address,
        [](const Candidate& candidate, void* wanted) { return std::less<>()(candidate.entry.storage, wanted); });
    return found != candidates_.end() && found->entry.storage == address ? &*found : nullptr;
  }

  void keep(const c10::StorageImpl& storage, Class kept_as) {
    Candidate* const candidate = find(storage);
    if (candidate != nullptr && candidate->kept_as == kUndecided) {
      candidate->kept_as = kept_as;
    }
  }

  void keep(const at::Tensor& tensor, Class kept_as) {
    hooks::for_each_storage(tensor, [&](c10::TensorImpl&, c10::StorageImpl& storage) { keep(storage, kept_as); });
  }

  bool any_undecided() const {
    return std::any_of(candidates_.begin(), candidates_.end(),
                       [](const Candidate& candidate) { return candidate.kept_as == kUndecided; });
  }

  /// Whether the region owns the tensor's storage and found no reason to keep it.
  bool undecided(const at::Tensor& tensor) {
    bool found = false;
    hooks::for_each_storage(tensor, [&](c10::TensorImpl&, c10::StorageImpl& storage) {
      const Candidate* const candidate = find(storage);
      found = found || (candidate != nullptr && candidate->kept_as == kUndecided);
    });
    return found;
  }

 private:
  std::vector<Candidate> candidates_;
};

const at::Tensor& gradient_of(const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->grad();
}

/// Sorts the candidates into classes; what stays undecided has escaped.
void classify(ThreadRecord& thread, Region& region, const Ending& ending, Classes& classes) {
  std::vector<at::Tensor> roots;
  const auto keep_with_gradient = [&](const at::Tensor& tensor, Class kept_as) {
    classes.keep(tensor, kept_as);
    classes.keep(tensor._fw_grad(0), kept_as); // forward-mode AD's tangent
    if (gradient_of(tensor).defined()) {
      classes.keep(gradient_of(tensor), Class::adopted);
      roots.push_back(gradient_of(tensor));
    }
    roots.push_back(tensor);
  };
  for (const auto& tensor : ending.kept) {
    keep_with_gradient(tensor, Class::result);
  }
  if (hooks::any_retained_from_elsewhere()) {
    for (auto& candidate : classes.all()) {
      at::Tensor tensor;
      if (hooks::retained_from_elsewhere(*candidate.storage, tensor)) {
        classes.keep(*candidate.storage, Class::retained);
        roots.push_back(tensor);
      }
    }
  }
  if (!classes.any_undecided()) {
    return;
  }
  for (const auto& leaf : region.leaves.items()) {
    const auto tensor = hooks::lock_tensor(leaf.object);
    if (tensor.defined() && gradient_of(tensor).defined() && !classes.undecided(tensor)) {
      classes.keep(gradient_of(tensor), Class::adopted);
      roots.push_back(gradient_of(tensor));
    }
  }
  for (const auto& tensor : hooks::tensors_of_owners()) {
    keep_with_gradient(tensor, Class::adopted);
  }
  for (const auto& module : region.scripted.items()) {
    hooks::for_each_attribute(module.object, [&](const at::Tensor& tensor) {
      keep_with_gradient(tensor, Class::adopted);
    });
  }
  for (const auto& seen : region.seen.items()) {
    auto tensor = hooks::lock_tensor(seen.object);
    if (tensor.defined() && !classes.undecided(tensor)) {
      roots.push_back(std::move(tensor));
    }
  }
  std::erase_if(roots, [](const at::Tensor& root) { return !root.defined() || !root.grad_fn(); });
  if (roots.empty() || !classes.any_undecided()) {
    return;
  }
  const auto refused = hooks::visit_graph(
      roots, region.opened_at_node,
      [&](c10::StorageImpl& storage, const at::Tensor&) { classes.keep(storage, Class::graph); });
  if (refused != 0) {
    thread.refused_nodes.add(refused);
    for (auto& candidate : classes.all()) {
      classes.keep(*candidate.storage, Class::graph);
    }
  }
}

void count(ThreadRecord& thread, const Candidate& candidate) {
  auto& figures = thread.devices[hooks::device_index(candidate.storage->device_type())];
  switch (candidate.kept_as) {
    case Class::result:
      figures.returned.add(1);
      break;
    case Class::retained:
      figures.retained.add(1);
      break;
    case Class::adopted:
      figures.adopted.add(1);
      break;
    case Class::graph:
      figures.graph.add(1);
      figures.graph_bytes.add(candidate.storage->nbytes());
      break;
    case Class::escape:
      figures.escaped.add(hooks::is_released(*candidate.storage) ? 0 : 1);
      break;
    case Class::left_open:
    case Class::unscoped:
    case Class::library:
      break; // never of a region
  }
}

/// What the region met is met by the region around it as well: graphs that cross both.
void hand_on(Region& region, Region* outer, const Ending& ending) {
  if (outer == nullptr) {
    return;
  }
  outer->seen.absorb(region.seen);
  outer->leaves.absorb(region.leaves);
  outer->scripted.absorb(region.scripted);
  for (const auto& tensor : ending.kept) {
    if (hooks::may_have_graph(*tensor.unsafeGetTensorImpl())) {
      hooks::see_tensor(*outer, *tensor.unsafeGetTensorImpl());
    }
  }
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

/// Prints each line once: a scope in a loop would say the same each time.
void report_once(const std::string& line) {
  static std::mutex mutex;
  static auto& reported = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  if (reported.insert(line).second) {
    platform::print_line(line);
  }
}

std::string escape_line(const Region& region, const std::vector<hooks::Doomed>& escaped) {
  std::ostringstream text;
  text << escaped.size() << " tensor(s) escaped the " << (region.kind == core::RegionKind::scope ? "scope" : "session")
       << " opened at " << region.where.file_name() << ':' << region.where.line() << ", the first made by "
       << escaped.front().made_by->name << " ("
       << hooks::describe(escaped.front().tensors.empty() ? at::Tensor() : escaped.front().tensors.front(),
                          *escaped.front().storage)
       << "): return them from it or retain them" << hooks::paragraph_of("created here:", escaped.front().made_at);
  return text.str();
}

std::string meet_escapes(ThreadRecord& thread, const Region& region, const Ending& ending, Classes& classes) {
  const SeenViews seen = seen_views(region);
  std::vector<hooks::Doomed> escaped;
  for (auto& candidate : classes.all()) {
    if (candidate.kept_as == kUndecided && !hooks::is_released(*candidate.storage)) {
      escaped.push_back(
          {candidate.storage, known_tensors(candidate, seen), candidate.entry.made_by, candidate.entry.stack});
    }
  }
  if (escaped.empty()) {
    return {};
  }
  const auto policy = options_in_force().on_escape;
  std::string line;
  if (policy != core::OnEscape::release) {
    line = escape_line(region, escaped);
  }
  // Without interposers it is not known what LibTorch itself holds.
  if (policy != core::OnEscape::report && hooks::interposers_reached()) {
    const bool is_scope = region.kind == core::RegionKind::scope;
    const hooks::ReleaseCause cause{
        is_scope ? hooks::ReleaseCause::Kind::scope_end : hooks::ReleaseCause::Kind::session_end, region.where,
        ending.closed};
    for (const auto& one : escaped) {
      thread.devices[hooks::device_index(one.storage->device_type())].released.add(1);
    }
    hooks::release_storages(escaped, cause);
  }
  if (policy == core::OnEscape::report) {
    report_once(line);
  }
  return policy == core::OnEscape::throw_error ? line : std::string();
}

/// Enters what outlives the region into the ledger.
void note_survivors(ThreadRecord& thread, Region& region, Classes& classes) {
  if (classes.empty() && region.retained.empty()) {
    return;
  }
  const core::LedgerGuard guard(thread);
  // The region is off its thread's stack, with those around it still open.
  region.outer = thread.innermost;
  const auto* const path = core::path_of(&region);
  for (auto& candidate : classes.all()) {
    core::add_survivor(thread, {std::exchange(candidate.entry, {}), path, region.number, candidate.kept_as}, hooks::liveness);
  }
  for (const auto& entry : region.retained.take()) {
    core::add_survivor(thread, {entry, path, region.number, Class::retained}, hooks::liveness);
  }
}

std::vector<core::OwnedStorage> take_owned(ThreadRecord& thread, Region& region) {
  const core::LedgerGuard guard(thread);
  return region.owned.take();
}

std::string decide(ThreadRecord& thread, Region& region, const Ending& ending) {
  std::string line;
  Classes classes(take_owned(thread, region));
  if (!classes.empty()) {
    const hooks::LibraryCall ours(true); // unpacking saved tensors runs a few operators
    classify(thread, region, ending, classes);
    for (const auto& candidate : classes.all()) {
      count(thread, candidate);
    }
    line = meet_escapes(thread, region, ending, classes);
  }
  if (core::ledger_is_kept) {
    note_survivors(thread, region, classes);
  }
  hand_on(region, thread.innermost, ending);
  return line;
}

} // namespace

std::string finish_region(ThreadRecord& thread, std::unique_ptr<Region> region, const Ending& ending) noexcept {
  std::string line;
  try {
    line = decide(thread, *region, ending);
  } catch (const std::exception& error) {
    platform::report_trouble(platform::Trouble::close_failed,
                             std::string("the end of a scope left its tensors alive: ") + error.what());
  }
  hooks::leave_region(thread, *region);
  core::recycle_region(thread, std::move(region));
  return line;
}

} // namespace tensorscope::api
