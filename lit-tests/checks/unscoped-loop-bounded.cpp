// SPDX-License-Identifier: Apache-2.0
// Loops that run a small constant number of times, that fill what outlives them, or that go over the layers of a model.
// RUN: %check_tidy %s tensorscope-unscoped-loop %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

void use(const torch::Tensor &x);
void set(int &n);
bool flip();
constexpr int kN = 4;

//===- A small constant number of times -----------------------------------===//

void downInTheCondition(const torch::Tensor &x) {
  for (int i = kN; i-- > 0;)
    use(x * i);
}
void downToNothing(const torch::Tensor &x) {
  for (int i = kN; i--;)
    use(x * i);
}
void stepFirst(const torch::Tensor &x) {
  for (int i = kN; --i >= 0;)
    use(x * i);
}
void countedWhile(const torch::Tensor &x) {
  int i = 0;
  while (i < kN) {
    use(x * i);
    ++i;
  }
}
void countedWhileInTheCondition(const torch::Tensor &x) {
  int tries = 3;
  while (tries-- > 0)
    use(x * tries);
}
void whileNotDone(const torch::Tensor &x) {
  int i = 0;
  bool done = false;
  while (!done && i < 8) {
    use(x * i);
    done = flip();
    i += 1;
  }
}
void countedDo(const torch::Tensor &x) {
  int i = 0;
  do {
    use(x * i);
  } while (++i < kN);
}
void withoutAnInit(const torch::Tensor &x) {
  int i;
  for (i = 0; i < kN; ++i)
    use(x * i);
}
void doubled(const torch::Tensor &x) {
  for (int scale = 1; scale <= 8; scale *= 2)
    use(x * scale);
}
void longStrides(const torch::Tensor &x) {
  for (int i = 0; i < 1000; i += 100)
    use(x * i);
}
void onceMoreFromTheStart(const torch::Tensor &x, int n) {
  int i = 0;
  while (i < kN) {
    use(x * i);
    ++i;
  }
  i = 0;
  while (i < kN) {
    use(x + i);
    ++i;
  }
}
void leftAfterAFew(const torch::Tensor &x) {
  int tries = 0;
  while (true) {
    use(x * tries);
    if (++tries >= 3)
      break;
  }
}
void leftAfterAFewAtTheEnd(const torch::Tensor &x) {
  for (int i = 0;; ++i) {
    if (i >= 3 || flip())
      return;
    use(x * i);
  }
}
void upToALocal(const torch::Tensor &x) {
  for (int i = 0, n = 4; i < n; ++i)
    use(x * i);
}
void overAListInBraces(const torch::Tensor &x) {
  for (int i : std::vector<int>{1, 2, 3})
    use(x * i);
}
void leftByChance(const torch::Tensor &x) {
  int tries = 0;
  while (true) {
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    use(x * tries);
    if (++tries >= 3 && flip())
      break;
  }
}
void upToALocalThatChanges(const torch::Tensor &x, int more) {
  int n = 4;
  n += more;
  for (int i = 0; i < n; ++i)
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    use(x * i);
}
void manyInTheCondition(const torch::Tensor &x) {
  for (int i = 1000; i-- > 0;)
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    use(x * i);
}
void whileOfMany(const torch::Tensor &x) {
  int i = 0;
  while (i < 1000) {
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    use(x * i);
    ++i;
  }
}
void startUnknown(const torch::Tensor &x, int i) {
  while (i-- > 0)
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    use(x * i);
}
// Only some iterations count.
void countsSuccesses(const torch::Tensor &x) {
  int good = 0;
  while (good < kN) {
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    use(x * 2);
    if (flip())
      ++good;
  }
}
void counterMovesBothWays(const torch::Tensor &x) {
  int i = 0;
  while (i < kN) {
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    use(x * i);
    ++i;
    if (flip())
      --i;
  }
}
void counterIsGivenAway(const torch::Tensor &x) {
  int i = 0;
  while (i < kN) {
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    use(x * i);
    ++i;
    set(i);
  }
}
void awayFromTheEnd(const torch::Tensor &x) {
  for (unsigned i = 9; i > 3; ++i)
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    use(x * int(i));
}

//===- What all outlives the iteration ------------------------------------===//

void cachedOnAMiss(std::unordered_map<int, torch::Tensor> &cache, const torch::Tensor &x, const std::vector<int> &keys) {
  for (int k : keys)
    if (cache.find(k) == cache.end())
      cache.emplace(k, x * k);
}
void cachedOnAMissAndUsed(const torch::Tensor &x, int n) {
  std::map<int, torch::Tensor> cache;
  for (int i = 0; i < n; ++i) {
    auto it = cache.find(i % 3);
    if (it == cache.end())
      it = cache.emplace(i % 3, x * i).first;
    use(it->second);
  }
}
void triedToCache(std::map<int, torch::Tensor> &cache, const torch::Tensor &x, int n) {
  for (int i = 0; i < n; ++i)
    if (!cache.count(i))
      cache.try_emplace(i, x * i);
}
void cachedWithSomethingDropped(std::map<int, torch::Tensor> &cache, const torch::Tensor &x, int n) {
  for (int i = 0; i < n; ++i)
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    if (!cache.count(i)) {
      auto scaled = x * i;
      use(scaled);
      cache.emplace(i, scaled + x);
    }
}
void addedToOneOfTwoLists(std::vector<torch::Tensor> &a, std::vector<torch::Tensor> &b, const torch::Tensor &x, int n) {
  for (int i = 0; i < n; ++i) {
    auto &list = i % 2 ? a : b;
    list.push_back(x * i);
  }
}
struct TablesImpl : torch::nn::Module {
  explicit TablesImpl(int n) {
    for (int i = 0; i < n; ++i)
      register_buffer("table" + std::to_string(i), torch::zeros({3, 3}));
    for (int i = 0; i < n; ++i)
      register_parameter("weight" + std::to_string(i), torch::randn({3, 3}) * 0.1);
    for (int i = 0; i < n; ++i)
      register_module("layer" + std::to_string(i), torch::nn::Linear(3, 4));
  }
};
void registered(torch::nn::Module &module, int n) {
  for (int i = 0; i < n; ++i) {
    auto table = torch::zeros({3, 3});
    module.register_buffer("table" + std::to_string(i), table);
  }
}
void registeredAndMore(torch::nn::Module &module, const torch::Tensor &x, int n) {
  for (int i = 0; i < n; ++i) {
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    module.register_buffer("table" + std::to_string(i), torch::zeros({3, 3}));
    use(x * i);
  }
}

//===- The layers of a model ----------------------------------------------===//

struct Block {
  torch::nn::Linear up{nullptr}, down{nullptr};
  bool residual = false;
};
struct Trained {
  torch::nn::Linear net{nullptr};
  torch::Tensor state;
};
struct NetImpl : torch::nn::Module {
  std::vector<torch::nn::Linear> layers;
  std::vector<std::pair<torch::nn::Linear, torch::nn::Linear>> pairs;
  std::vector<std::shared_ptr<torch::nn::LinearImpl>> pointers;
  std::vector<Block> blocks;
  std::map<std::string, torch::nn::Linear> named;
  torch::nn::ModuleList list;
  int depth = 0;

  torch::Tensor forward(torch::Tensor x) {
    for (auto &layer : layers)
      x = layer->forward(x);
    return x;
  }
  torch::Tensor byNumber(torch::Tensor x) {
    for (size_t i = 0; i < layers.size(); ++i)
      x = torch::relu(layers[i]->forward(x));
    return x;
  }
  torch::Tensor byNumberOfAMember(torch::Tensor x) {
    for (int i = 0; i < depth; ++i)
      x = torch::relu(layers.at(i)(x));
    return x;
  }
  torch::Tensor byNumberInAWhile(torch::Tensor x) {
    size_t i = 0;
    while (i < pointers.size()) {
      x = pointers[i]->forward(x);
      ++i;
    }
    return x;
  }
  torch::Tensor inPairs(torch::Tensor x) {
    for (auto &[first, second] : pairs)
      x = second->forward(torch::relu(first->forward(x)));
    return x;
  }
  torch::Tensor inBlocks(torch::Tensor x) {
    for (auto &block : blocks)
      x = block.down->forward(torch::relu(block.up->forward(x)));
    return x;
  }
  torch::Tensor byName(torch::Tensor x) {
    for (auto &[name, layer] : named)
      x = layer->forward(x);
    return x;
  }
  torch::Tensor byPosition(torch::Tensor x) {
    for (auto it = layers.begin(); it != layers.end(); ++it)
      x = (*it)->forward(x);
    return x;
  }
  torch::Tensor ofAList(torch::Tensor x) {
    for (const auto &layer : *list)
      x = std::dynamic_pointer_cast<torch::nn::LinearImpl>(layer)->forward(x);
    return x;
  }
  torch::Tensor ofPointers(torch::Tensor x) {
    for (const auto &layer : pointers)
      x = layer->forward(x);
    return x;
  }
  // One module, as often as there are batches.
  void ofBatches(const std::vector<torch::Tensor> &batches) {
    for (const auto &batch : batches)
      // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
      use(layers[0]->forward(batch));
  }
  void ofBatchesByNumber(const std::vector<torch::Tensor> &batches) {
    for (size_t i = 0; i < batches.size(); ++i)
      // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
      use(layers[i % 3]->forward(batches[i]));
  }
  // What has tensors of its own beside the module is no layer.
  void ofTrained(std::vector<Trained> &all, const torch::Tensor &x) {
    for (auto &one : all)
      // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
      use(one.net->forward(x + one.state));
  }
};
TORCH_MODULE(Net);
torch::Tensor foldedOverLayers(std::vector<torch::nn::Linear> &layers, const torch::Tensor &x) {
  return std::accumulate(layers.begin(), layers.end(), x,
                         [](torch::Tensor y, torch::nn::Linear &layer) { return layer->forward(y); });
}
void foldedOverBatches(torch::nn::Linear &net, const std::vector<torch::Tensor> &xs) {
  std::for_each(xs.begin(), xs.end(), [&](const torch::Tensor &x) { use(net->forward(x)); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
}
