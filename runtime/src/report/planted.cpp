// SPDX-License-Identifier: Apache-2.0
// The blocks' addresses are kept as complements but for the one way that leads to those that are held.
#include "report/planted.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>

namespace tensorscope::report {
namespace {

/// Larger than what a program has most of, so that few words are left over that would lead there.
constexpr std::size_t kWords = 150;
using Block = std::array<std::uintptr_t, kWords>;

std::array<std::atomic<Block*>, Planted::kPairs> held{};

std::uintptr_t complement_of(const Block* block) { return block != nullptr ? ~reinterpret_cast<std::uintptr_t>(block) : 0; }

Block* block_at(std::uintptr_t complement) { return complement != 0 ? reinterpret_cast<Block*>(~complement) : nullptr; }

/// The last word but one of a block leads into the other, as a member that is a vector's iterator may.
void lead(std::uintptr_t from, std::uintptr_t to) {
  if (Block* const block = block_at(from); block != nullptr && to != 0) {
    (*block)[kWords - 2] = reinterpret_cast<std::uintptr_t>(block_at(to)) + sizeof(std::uintptr_t);
  }
}

/// Takes what is free of the heap. While it is there, blocks are to be had only of memory that the heap did not have before.
class Filling {
 public:
  Filling() {
    constexpr std::size_t kMost = 65'536; // 75 MiB: taking more would cost a program too much
    for (std::size_t i = 0; i < kMost; ++i) {
      auto* const block = static_cast<Block*>(std::malloc(sizeof(Block)));
      if (block == nullptr) {
        return;
      }
      (*block)[0] = last_;
      last_ = complement_of(block);
      if (find_mapping(before_, reinterpret_cast<std::uintptr_t>(block)) == nullptr) {
        return;
      }
    }
  }
  ~Filling() {
    while (Block* const block = block_at(last_)) {
      last_ = (*block)[0];
      std::free(block);
    }
  }
  Filling(const Filling&) = delete;
  Filling& operator=(const Filling&) = delete;

 private:
  std::vector<Mapping> before_ = readable_mappings(); ///< kept, or else blocks would take its place
  std::uintptr_t last_ = 0;                           ///< complement; each block has the one before
};

} // namespace

Planted::Planted(Where where) {
  {
    std::optional<Filling> filling;
    if (where == Where::in_new_memory) {
      filling.emplace();
    }
    for (std::uintptr_t& one : complements_) {
      one = complement_of(static_cast<Block*>(std::calloc(1, sizeof(Block)))); // 0 where memory is short
    }
  }
  for (std::size_t pair = 0; pair < 3 * kPairs; ++pair) {
    lead(complements_[2 * pair], complements_[2 * pair + 1]);
  }
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    lead(complements_[2 * (kPairs + pair) + 1], complements_[2 * (kPairs + pair)]);
    held[pair].store(block_at(complements_[2 * (2 * kPairs + pair)]));
  }
}

Planted::~Planted() {
  for (auto& one : held) {
    one.store(nullptr);
  }
  for (const std::uintptr_t complement : complements_) {
    std::free(block_at(complement));
  }
}

void Planted::add_to(std::vector<std::uintptr_t>& complements) const {
  complements.insert(complements.end(), complements_.begin(), complements_.end());
}

Planted::Verdict Planted::judge(std::span<const Reach> found) {
  const auto count = [&](std::size_t kind, Reach reach) {
    const auto part = found.subspan(kind * 2 * kPairs, 2 * kPairs);
    return static_cast<std::size_t>(std::count(part.begin(), part.end(), reach));
  };
  const std::size_t lost = count(0, Reach::lost);
  const std::size_t in_cycles = count(1, Reach::in_cycle);
  if (count(2, Reach::reached) != 2 * kPairs) {
    return Verdict::wrong;
  }
  if (lost > kPairs && in_cycles > kPairs) {
    return Verdict::right;
  }
  const std::size_t reached = count(0, Reach::reached) + count(1, Reach::reached);
  return lost + in_cycles + reached == 4 * kPairs ? Verdict::words_left : Verdict::wrong;
}

} // namespace tensorscope::report
