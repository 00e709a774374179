// SPDX-License-Identifier: Apache-2.0
// Values that are kept once, for the life of the process: stacks, shapes and the like repeat in every iteration.
// What is there is found without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

namespace tensorscope::core {

/// All values of one kind, up to a number: a program that never repeats itself must not fill the memory. A `Value` has
/// `hash()` and `==`. Addresses stay valid for ever. Only a new value takes the lock.
template <class Value>
class InternTable {
 public:
  explicit InternTable(std::size_t most = std::numeric_limits<std::size_t>::max())
      : most_(most), heads_(static_cast<Head*>(std::calloc(kHeads, sizeof(Head)))) { // pages come as they are used
    if (heads_ == nullptr) {
      throw std::bad_alloc();
    }
  }
  ~InternTable() {
    for (std::size_t i = 0; i < kHeads; ++i) {
      for (Node* node = heads_[i].load(std::memory_order_relaxed); node != nullptr;) {
        delete std::exchange(node, node->next);
      }
    }
    std::free(heads_);
  }
  InternTable(const InternTable&) = delete;
  InternTable& operator=(const InternTable&) = delete;

  /// Null for a new value when the table is full. `value` is a `Value`, or of a type that hashes and compares as one and
  /// converts to one.
  template <class Like>
  const Value* intern(const Like& value) {
    const std::size_t hash = value.hash();
    Head& head = heads_[hash % kHeads];
    if (const Value* const known = find(head.load(std::memory_order_acquire), hash, value)) {
      return known;
    }
    if (size() >= most_) {
      return nullptr;
    }
    const std::lock_guard lock(mutex_);
    Node* const first = head.load(std::memory_order_relaxed);
    if (const Value* const known = find(first, hash, value)) {
      return known;
    }
    if (size() >= most_) {
      return nullptr;
    }
    auto* const node = new Node{static_cast<Value>(value), hash, first};
    head.store(node, std::memory_order_release);
    size_.store(size() + 1, std::memory_order_relaxed);
    return &node->value;
  }

  std::size_t size() const { return size_.load(std::memory_order_relaxed); }

  /// Whether new values are no longer taken.
  bool full() { return size() >= most_; }

  std::mutex& mutex() { return mutex_; }

 private:
  struct Node {
    const Value value;
    const std::size_t hash;
    Node* const next;
  };
  using Head = std::atomic<Node*>;
  static_assert(Head::is_always_lock_free);

  template <class Like>
  static const Value* find(const Node* node, std::size_t hash, const Like& value) {
    for (; node != nullptr; node = node->next) {
      if (node->hash == hash && value == node->value) {
        return &node->value;
      }
    }
    return nullptr;
  }

  static constexpr std::size_t kHeads = 1 << 16;

  const std::size_t most_;
  std::mutex mutex_;
  std::atomic<std::size_t> size_{0};
  Head* const heads_;
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
