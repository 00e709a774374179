// SPDX-License-Identifier: Apache-2.0
// Searching a region's storages, and emptying a region for its next use.
#include "core/region.h"

namespace tensorscope::core {

OwnedStorage* OwnedStorages::find(const void* storage) {
  if (storage == nullptr) {
    return nullptr;
  }
  // What is asked for is mostly young.
  const std::size_t young = items_.size() - std::min(items_.size(), kLinearSearch);
  for (std::size_t i = items_.size(); i > young; --i) {
    if (items_[i - 1].storage == storage) {
      return &items_[i - 1];
    }
  }
  if (young == 0) {
    return nullptr;
  }
  OwnedStorage* found = nullptr;
  index_.find(*this, storage, [](const OwnedStorage& entry) { return entry.storage; }, [&](std::uint32_t position) {
    // What was taken out since left an empty place.
    found = items_[position].storage == storage ? &items_[position] : nullptr;
    return found != nullptr;
  });
  return found;
}

bool OwnedStorages::take_out(const void* storage, OwnedStorage& entry) {
  OwnedStorage* const found = find(storage);
  if (found == nullptr) {
    return false;
  }
  entry = *found;
  // A hole instead of a shift: positions in the index stay right. The next pruning fills it.
  *found = OwnedStorage{nullptr, nullptr, nullptr};
  return true;
}

void Region::reset() noexcept {
  owned.clear();
  seen.clear();
  leaves.clear();
  scripted.clear();
  registered.clear();
  retained.clear();
  adoptions.clear();
  number = 0;
  outer = nullptr;
  outer_depths = {};
  outer_observers_off = false;
  outer_births.clear();
  outer_operator = nullptr;
}

} // namespace tensorscope::core
