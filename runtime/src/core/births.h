// SPDX-License-Identifier: Apache-2.0
// Which bytes were allocated in the outermost operator that this thread runs now. Filled by the allocator hook,
// read by the observer at the operator's end. One thread only; no lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <vector>

namespace tensorscope::core {

/// The addresses born in the current operator. They die with their bytes (`forget`) or with the operator
/// (`clear`): an address that is used again later is another birth.
class Births {
 public:
  void clear() {
    addresses_.clear();
    rebound_.clear();
    cursor_ = 0;
    empty_storages_ = 0;
    if (!many_.empty()) {
      many_.clear();
    }
  }

  bool empty() const { return addresses_.empty() && many_.empty(); }

  void add(const void* address) {
    if (addresses_.size() < kFew) {
      addresses_.push_back(address);
    } else {
      many_.insert(address);
    }
  }

  /// A storage without bytes was made: it has no address, only this count.
  void add_empty() { ++empty_storages_; }
  bool take_empty() {
    if (empty_storages_ == 0) {
      return false;
    }
    --empty_storages_;
    return true;
  }

  /// A tensor was set to the storage of these bytes by an operator inside of the current one.
  void note_rebound(const void* address) { rebound_.push_back(address); }
  bool was_rebound(const void* address) const {
    return std::find(rebound_.begin(), rebound_.end(), address) != rebound_.end();
  }

  /// The bytes at `address` were freed.
  void forget(const void* address) { take(address); }

  /// Whether `address` was born here; it counts once.
  bool take(const void* address) {
    // Results mostly come in the order of their allocation, so the search starts behind the last hit.
    for (std::size_t n = 0; n < addresses_.size(); ++n) {
      const std::size_t i = (cursor_ + n) % addresses_.size();
      if (addresses_[i] == address) {
        addresses_[i] = addresses_.back();
        addresses_.pop_back();
        cursor_ = addresses_.empty() ? 0 : i % addresses_.size();
        return true;
      }
    }
    return !many_.empty() && many_.erase(address) == 1;
  }

 private:
  /// So many are searched one by one, which is faster than hashing. Few operators allocate more.
  static constexpr std::size_t kFew = 32;

  std::vector<const void*> addresses_;
  std::unordered_set<const void*> many_;
  std::vector<const void*> rebound_;
  std::size_t cursor_ = 0;
  std::size_t empty_storages_ = 0;
};

} // namespace tensorscope::core
