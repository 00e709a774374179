// SPDX-License-Identifier: Apache-2.0
// Objects with a life and a count of weak references, for tests of the ledger without LibTorch.
#pragma once

#include "core/region.h"

#include <memory>
#include <vector>

namespace tensorscope_test {

struct Thing {
  bool alive = true;
  int weak = 0;
};

inline const tensorscope::core::Liveness things{
    [](const void* object) noexcept { return object != nullptr && static_cast<const Thing*>(object)->alive; },
    [](void* object) noexcept {
      if (object != nullptr) {
        --static_cast<Thing*>(object)->weak;
      }
    }};

/// Makes things that live as long as the pool, dead or alive.
class Pool {
 public:
  Thing* make() { return things_.emplace_back(std::make_unique<Thing>()).get(); }

  tensorscope::core::OwnedStorage owned(Thing* storage) {
    ++storage->weak;
    Thing* const tensor = make();
    ++tensor->weak;
    return {storage, tensor, &tensorscope::core::unknown_operator()};
  }

  int weak_references() const {
    int sum = 0;
    for (const auto& thing : things_) {
      sum += thing->weak;
    }
    return sum;
  }

 private:
  std::vector<std::unique_ptr<Thing>> things_;
};

} // namespace tensorscope_test
