// SPDX-License-Identifier: Apache-2.0
// Searching a region's storages, and emptying a region for its next use.
#include "core/region.h"

#include <functional>

namespace tensorscope::core {

namespace {
constexpr std::size_t kLinearSearch = 64;
} // namespace

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
  if (indexed_generation_ != generation_ || indexed_ < young) {
    build_index();
  }
  const auto found = std::lower_bound(
      index_.begin(), index_.end(), storage,
      [](const auto& entry, const void* address) { return std::less<const void*>()(entry.first, address); });
  // An indexed storage may have been taken out since: its place holds null then.
  const bool there = found != index_.end() && found->first == storage && items_[found->second].storage == storage;
  return there ? &items_[found->second] : nullptr;
}

void OwnedStorages::build_index() {
  index_.clear();
  index_.reserve(items_.size());
  for (std::uint32_t i = 0; i < items_.size(); ++i) {
    if (items_[i].storage != nullptr) {
      index_.emplace_back(items_[i].storage, i);
    }
  }
  std::sort(index_.begin(), index_.end());
  indexed_ = items_.size();
  indexed_generation_ = generation_;
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
  retained.clear();
  adoptions.clear();
  number = 0;
  outer = nullptr;
  outer_depths = {};
  outer_observers_off = false;
  outer_births.clear();
}

} // namespace tensorscope::core
