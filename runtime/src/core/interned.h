// SPDX-License-Identifier: Apache-2.0
// Values that are kept once, for the life of the process: stacks, shapes and the like repeat in every iteration.
// A thread that met a value before finds it without a lock.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <mutex>
#include <unordered_set>

namespace tensorscope::core {

/// All values of one kind, up to a number: a program that never repeats itself must not fill the memory. A `Value` has
/// `hash()` and `==`. Addresses stay valid for ever.
template <class Value>
class InternTable {
 public:
  explicit InternTable(std::size_t most = std::numeric_limits<std::size_t>::max()) : most_(most) {}

  /// Null for a new value when the table is full.
  const Value* intern(const Value& value) {
    const std::lock_guard lock(mutex_);
    if (values_.size() >= most_) {
      const auto known = values_.find(value);
      return known != values_.end() ? &*known : nullptr;
    }
    return &*values_.insert(value).first;
  }

  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

  std::mutex& mutex() { return mutex_; }

 private:
  struct Hash {
    std::size_t operator()(const Value& value) const { return value.hash(); }
  };
  const std::size_t most_;
  std::mutex mutex_;
  std::unordered_set<Value, Hash> values_;
};

/// What one thread met lately of an InternTable.
template <class Value>
class InternCache {
 public:
  /// `value` is a `Value`, or of a type that hashes and compares as one and converts to one.
  template <class Like>
  const Value* intern(InternTable<Value>& table, const Like& value) {
    const Value*& slot = slots_[value.hash() % slots_.size()];
    if (slot == nullptr || !(value == *slot)) {
      slot = table.intern(value);
    }
    return slot;
  }

 private:
  /// 8 KiB a thread: more than the places in which a training step makes tensors.
  std::array<const Value*, 1024> slots_{};
};

/// Mixes `more` into a hash.
inline std::size_t mix_hash(std::size_t hash, std::size_t more) {
  return (hash ^ more) * 0x9e3779b97f4a7c15ull + (hash >> 29);
}

} // namespace tensorscope::core
