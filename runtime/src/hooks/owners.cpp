// SPDX-License-Identifier: Apache-2.0
// The lists of owners and of foreign retains. Locked; touched by explicit calls and by the ends of regions that have
// something to decide, never by operators.
#include "hooks/owners.h"

#include "core/fork_guard.h"
#include "hooks/references.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace tensorscope::hooks {
namespace {

struct Owner {
  OwnerTensors tensors;
  std::function<bool()> alive; ///< empty: until the token is dropped
};

struct Owners {
  std::mutex mutex;
  std::vector<std::weak_ptr<const Owner>> held;    ///< by their tokens
  std::vector<std::shared_ptr<const Owner>> lasting;
};

/// One that was retained, by their keys, which are held weakly.
struct Retained {
  void* storage;
  void* tensor;

  bool forget_if_dead() const {
    if (liveness.alive(storage)) {
      return false;
    }
    drop();
    return true;
  }
  void drop() const {
    liveness.drop(storage);
    liveness.drop(tensor);
  }
};

struct Retains {
  std::mutex mutex;
  std::unordered_map<const void*, Retained> storages;
  std::size_t sweep_at = next_sweep(0);
};

constinit std::atomic<bool> any_retains{false};

Owners& owners() {
  static auto* const all = core::make_fork_safe<Owners>();
  return *all;
}
Retains& retains() {
  static auto* const all = core::make_fork_safe<Retains>();
  return *all;
}

} // namespace

std::shared_ptr<void> add_owner(OwnerTensors tensors) {
  auto& all = owners();
  auto owner = std::make_shared<Owner>(Owner{std::move(tensors), {}});
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.held, [](const auto& held) { return held.expired(); });
  all.held.push_back(owner);
  return owner;
}

void add_lasting_owner(OwnerTensors tensors, std::function<bool()> alive) {
  auto& all = owners();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.lasting, [](const auto& owner) { return !owner->alive(); });
  all.lasting.push_back(std::make_shared<Owner>(Owner{std::move(tensors), std::move(alive)}));
}

std::vector<at::Tensor> tensors_of_owners() {
  std::vector<std::shared_ptr<const Owner>> asked;
  {
    auto& all = owners();
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.lasting, [](const auto& owner) { return !owner->alive(); });
    asked = all.lasting;
    for (const auto& held : all.held) {
      if (auto owner = held.lock()) {
        asked.push_back(std::move(owner));
      }
    }
  }
  std::vector<at::Tensor> tensors;
  for (const auto& owner : asked) {
    const auto reached = owner->tensors();
    tensors.insert(tensors.end(), reached.begin(), reached.end());
  }
  return tensors;
}

void retain_from_elsewhere(const at::Tensor& tensor, c10::StorageImpl& storage) {
  auto& all = retains();
  const std::lock_guard lock(all.mutex);
  if (all.storages.size() >= all.sweep_at) {
    std::erase_if(all.storages, [](const auto& entry) { return entry.second.forget_if_dead(); });
    all.sweep_at = next_sweep(all.storages.size());
  }
  const auto [known, is_new] = all.storages.try_emplace(key_of(&storage));
  if (!is_new) {
    known->second.drop();
  }
  known->second = {hold_weakly(&storage), hold_weakly(tensor.unsafeGetTensorImpl())};
  any_retains.store(true, std::memory_order_release);
}

bool any_retained_from_elsewhere() noexcept {
  return any_retains.load(std::memory_order_acquire);
}

bool retained_from_elsewhere(c10::StorageImpl& storage, at::Tensor& tensor) {
  auto& all = retains();
  const std::lock_guard lock(all.mutex);
  const auto found = all.storages.find(key_of(&storage));
  if (found == all.storages.end()) {
    return false;
  }
  if (auto locked = lock_tensor(found->second.tensor); locked.defined()) {
    tensor = std::move(locked);
  }
  return true;
}

} // namespace tensorscope::hooks
