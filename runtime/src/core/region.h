// SPDX-License-Identifier: Apache-2.0
// Scopes and sessions as the ledger sees them: what each owns, weakly. Knows addresses only; the hooks give
// the few functions that tell whether an address is alive. One thread only, except where said.
#pragma once

#include "core/births.h"
#include "core/operator_names.h"
#include "core/sites.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <source_location>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tensorscope::core {

/// How the hooks answer for the objects behind addresses. The ledger holds one weak reference for each
/// address it keeps, so that an address is never used again while it is in the ledger.
struct Liveness {
  bool (*alive)(const void* object) noexcept;
  void (*drop)(void* object) noexcept; ///< gives up the ledger's weak reference
};

/// Addresses held weakly, pruned of the dead as they grow: the list stays within twice the live ones.
template <class Item>
class WeakList {
 public:
  explicit WeakList(const Liveness& liveness) : liveness_(&liveness) {}
  WeakList(const WeakList&) = delete;
  WeakList& operator=(const WeakList&) = delete;
  ~WeakList() { clear(); }

  bool empty() const { return items_.empty(); }
  const std::vector<Item>& items() const { return items_; }

  /// Takes over one weak reference for each object of `item`. Where memory is short it gives them up, and throws.
  void add(Item item) {
    if (items_.size() >= prune_at_) {
      prune();
    }
    try {
      if (items_.size() == items_.capacity()) {
        items_.reserve(items_.size() + items_.size() / 4 + kSmallest); // doubling would leave half of a long list empty
      }
      items_.push_back(item);
    } catch (...) {
      item.drop(*liveness_);
      throw;
    }
  }

  void prune() {
    std::erase_if(items_, [this](Item& item) { return item.dead(*liveness_) && (item.drop(*liveness_), true); });
    prune_at_ = std::max(kSmallest, 2 * items_.size());
    ++generation_;
  }

  /// Gives the items and their weak references to the caller.
  std::vector<Item> take() {
    std::vector<Item> taken;
    taken.swap(items_);
    prune_at_ = kSmallest;
    ++generation_;
    return taken;
  }

  void clear() {
    for (Item& item : items_) {
      item.drop(*liveness_);
    }
    items_.clear();
    prune_at_ = kSmallest;
    ++generation_;
  }

  /// Moves everything of `other` here; what finds no room is given up.
  void absorb(WeakList& other) {
    for (const Item& item : other.take()) {
      try {
        add(item);
      } catch (...) {
      }
    }
  }

  /// Changes whenever positions may have changed.
  std::uint64_t generation() const { return generation_; }

 protected:
  /// So few that the heap's per-thread cache takes all that one pruning frees.
  static constexpr std::size_t kSmallest = 6;

  const Liveness* liveness_;
  std::vector<Item> items_;
  std::size_t prune_at_ = kSmallest;
  std::uint64_t generation_ = 0;
};

/// Where in a list an address stands. Follows the list as it grows, and starts anew when positions have changed, which
/// happens as often as the list doubles: asking costs the same in a long list.
class AddressIndex {
 public:
  /// Calls `visit(position)` for each item of `list` whose `address_of(item)` is or was `address`, until it returns true.
  template <class List, class AddressOf, class Visit>
  bool find(const List& list, const void* address, AddressOf address_of, Visit visit) {
    if (generation_ != list.generation()) {
      forget();
      generation_ = list.generation();
    }
    const auto& items = list.items();
    for (; indexed_ < items.size(); ++indexed_) {
      if (const void* const known = address_of(items[indexed_])) {
        places_.emplace(known, static_cast<std::uint32_t>(indexed_));
      }
    }
    const auto [first, last] = places_.equal_range(address);
    return std::any_of(first, last, [&](const auto& place) { return visit(place.second); });
  }

  void forget() {
    if (indexed_ != 0) {
      places_ = {};
      indexed_ = 0;
    }
  }

 private:
  std::unordered_multimap<const void*, std::uint32_t> places_;
  std::size_t indexed_ = 0;
  std::uint64_t generation_ = 0;
};

/// So many items are looked through faster than an index is asked.
inline constexpr std::size_t kLinearSearch = 64;

/// An object that the region met and does not own.
struct SeenObject {
  void* object;
  bool dead(const Liveness& liveness) const { return !liveness.alive(object); }
  void drop(const Liveness& liveness) { liveness.drop(object); }
};

/// Objects that the region met, and may forget again.
class SeenObjects : public WeakList<SeenObject> {
 public:
  using WeakList::WeakList;

  void remove(const void* object) {
    const auto removed = std::erase_if(items_, [&](SeenObject& item) {
      return item.object == object && (item.drop(*liveness_), true);
    });
    generation_ += removed != 0 ? 1 : 0;
  }
};

/// A tensor that the region met and does not own, over the storage that it had then.
struct SeenTensor {
  void* object;
  const void* storage;
  bool dead(const Liveness& liveness) const { return !liveness.alive(object); }
  void drop(const Liveness& liveness) { liveness.drop(object); }
};

class SeenTensors : public WeakList<SeenTensor> {
 public:
  using WeakList::WeakList;

  /// Calls `visit(object)` for each tensor that was met over `storage`, and perhaps for others.
  template <class Visit>
  void visit_over(const void* storage, Visit visit) {
    if (items_.size() <= kLinearSearch) {
      std::for_each(items_.begin(), items_.end(), [&](const SeenTensor& seen) { visit(seen.object); });
      return;
    }
    index_.find(*this, storage, [](const SeenTensor& seen) { return seen.storage; },
                [&](std::uint32_t position) { visit(items_[position].object); return false; });
  }

  void clear() {
    WeakList::clear();
    index_.forget();
  }

 private:
  AddressIndex index_;
};

/// A storage that a region owns, with the tensor that brought it.
struct OwnedStorage {
  void* storage;
  void* tensor;             ///< may be dead while a view keeps the storage
  const OperatorInfo* made_by; ///< never null in a live entry
  const Stack* stack = nullptr;       ///< of its making; null below level `full`, and for what the sampling left out
  const TensorShape* shape = nullptr; ///< null below level `full`
  bool dead(const Liveness& liveness) const { return !liveness.alive(storage); }
  void drop(const Liveness& liveness) {
    liveness.drop(storage);
    liveness.drop(tensor);
  }
};

/// Adds `object`, whose weak reference it takes over, unless it is among the last few: what is met again and again
/// stays few entries.
inline void add_unless_recent(WeakList<SeenObject>& list, void* object, const Liveness& liveness) {
  constexpr std::size_t kRecent = 8; // one cache line of addresses
  const auto& items = list.items();
  for (std::size_t i = items.size(); i > 0 && i + kRecent > items.size(); --i) {
    if (items[i - 1].object == object) {
      liveness.drop(object);
      return;
    }
  }
  list.add({object});
}

/// The storages of one region. `take_out` is a search: linear among the young, indexed when it is used on others.
class OwnedStorages : public WeakList<OwnedStorage> {
 public:
  using WeakList::WeakList;

  bool owns(const void* storage) { return find(storage) != nullptr; }

  /// Removes the storage and gives its entry, with the weak references, to `entry`.
  bool take_out(const void* storage, OwnedStorage& entry);

  void clear() {
    WeakList::clear();
    index_.forget();
  }

 private:
  OwnedStorage* find(const void* storage);

  AddressIndex index_;
};

/// How deep this thread is in operators and in calls that LibTorch makes for itself.
struct Depths {
  std::uint32_t operators = 0;
  std::uint32_t library = 0;
};

/// One open scope or session. Owned by its thread's stack; see RegionStack.
class Region {
 public:
  explicit Region(const Liveness& liveness)
      : owned(liveness), seen(liveness), leaves(liveness), scripted(liveness), registered(liveness), retained(liveness) {}

  RegionKind kind = RegionKind::scope;
  std::source_location where;
  std::uint64_t number = 0;         ///< never used twice in a process
  std::uint64_t opened_at_node = 0; ///< autograd's sequence number on this thread at the opening
  Region* outer = nullptr;

  OwnedStorages owned;
  SeenTensors seen;                ///< tensors: results of operators that this region does not own, kept ones
  WeakList<SeenObject> leaves;     ///< tensors whose `.grad` was touched
  WeakList<SeenObject> scripted;   ///< scripted modules whose methods ran: they may keep what they made
  SeenObjects registered; ///< tensors that modules took as parameters or buffers after they were made
  WeakList<OwnedStorage> retained; ///< taken out by retain, for reports
  std::vector<std::shared_ptr<void>> adoptions; ///< dropped when the region ends

  /// The number of a scope of this region whose object died on another thread. The owner unwinds it when it can; a
  /// number that is not the present one is of an earlier use.
  std::atomic<std::uint64_t> abandoned{0};

  Depths outer_depths; ///< of the code around the region; restored at its end
  Births outer_births;
  const OperatorInfo* outer_operator = nullptr;
  bool outer_observers_off = false; ///< a library call around the region had switched the observers off

  void reset() noexcept;
};

} // namespace tensorscope::core
