// SPDX-License-Identifier: Apache-2.0
// What a region still owns at its end, each storage in its class. Filled by closing.cpp, read by escapes.cpp.
#pragma once

#include "core/thread_record.h"
#include "hooks/graph.h"
#include "hooks/references.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace tensorscope::api {

using Class = core::KeptAs;
constexpr Class kUndecided = Class::escape; ///< until a reason to keep it is found

struct Candidate {
  c10::intrusive_ptr<c10::StorageImpl> storage;
  core::OwnedStorage entry;
  Class kept_as = kUndecided;
  bool behind_escape = false; ///< an escape that lives by the graph of another one
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
    hooks::for_each_needed_storage(tensor, [&](c10::TensorImpl&, c10::StorageImpl& storage) { keep(storage, kept_as); });
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

/// The graphs that a region's end walks: those of what is kept first, then those of what escaped.
struct ClosingGraphs {
  explicit ClosingGraphs(std::uint64_t first_node) : walk(first_node) {}

  hooks::GraphWalk walk;
  std::vector<at::Tensor> roots;        ///< alive until the walk is over
  hooks::GraphOnlyStorages made_inside; ///< by operators, for the graphs of what is kept
};

} // namespace tensorscope::api
