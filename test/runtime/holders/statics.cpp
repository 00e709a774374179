// SPDX-License-Identifier: Apache-2.0
// Tensors held by statics of all kinds, through containers and objects on the heap.
#include <tensorscope/tensorscope.h>

#include <any>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>

struct Holder {
  int rank = 0;
  at::Tensor weights;
};

struct Layer {
  virtual ~Layer() = default;
  at::Tensor cached;
};
struct Dense : Layer {};

struct Registry {
  std::vector<int> sizes;
  std::deque<Holder> kept;
};

static std::unordered_map<std::string, std::vector<at::Tensor>> cache;
static std::unique_ptr<Holder> holder;
static std::shared_ptr<Layer> layer;
static std::map<int, at::Tensor> by_epoch;
static std::any anything;
static std::deque<c10::IValue> values;
static Registry registry;

static at::Tensor kept(int size) {
  return tensorscope::with_torch([&] { return tensorscope::retain(torch::ones({size})); });
}

static std::vector<at::Tensor>& history() {
  static std::vector<at::Tensor> all;
  return all;
}

__attribute__((noinline)) static void fill_any() { anything = std::vector<at::Tensor>{kept(506)}; }
__attribute__((noinline)) static void fill_values() { values.emplace_back(c10::List<at::Tensor>({kept(407)})); }
__attribute__((noinline)) static void fill_registry() { registry.kept.push_back({3, kept(308)}); }

int main() {
  cache["a"].push_back(kept(1001));
  holder = std::make_unique<Holder>();
  holder->weights = kept(902);
  layer = std::make_shared<Dense>();
  layer->cached = kept(803);
  by_epoch[7] = kept(704);
  history().push_back(kept(605));
  fill_any();
  fill_values();
  fill_registry();
}

// CHECK:      LEAK: 4004 bytes
// CHECK:      held by static 'cache' (statics.cpp:[[#@LINE-35]]) -> std::unordered_map -> std::vector -> Tensor{{$}}
// CHECK:      LEAK: 3608 bytes
// CHECK:      held by static 'holder' (statics.cpp:[[#@LINE-36]]) -> std::unique_ptr -> Holder::weights -> Tensor{{$}}
// CHECK:      LEAK: 3212 bytes
// CHECK:      held by static 'layer' (statics.cpp:[[#@LINE-37]]) -> std::shared_ptr -> Layer::cached -> Tensor{{$}}
// CHECK:      LEAK: 2816 bytes
// CHECK:      held by static 'by_epoch' (statics.cpp:[[#@LINE-38]]) -> std::map -> Tensor{{$}}
// CHECK:      LEAK: 2420 bytes
// CHECK:      held by static 'all' of history() (statics.cpp:[[#@LINE-30]]) -> std::vector -> Tensor{{$}}
// CHECK:      LEAK: 2024 bytes
// CHECK:      held by static 'anything' (statics.cpp:[[#@LINE-41]]) -> std::any -> Tensor{{$}}
// CHECK:      LEAK: 1628 bytes
// CHECK:      held by static 'values' (statics.cpp:[[#@LINE-42]]) -> std::deque -> c10::IValue -> ListImpl -> Tensor{{$}}
// CHECK:      LEAK: 1232 bytes
// CHECK:      held by static 'registry' (statics.cpp:[[#@LINE-43]]) -> Registry::kept -> std::deque -> Holder::weights -> Tensor{{$}}

// NOHOLDERS-NOT: held by
// NOHOLDERS:     SUMMARY: tensorscope:

// JSON:      "holders": [
// JSON-NEXT: {
// JSON-NEXT: "count": 1,
// JSON-NEXT: "kind": "static",
// JSON-NEXT: "text": "static 'cache' (statics.cpp:{{[0-9]+}}) -> std::unordered_map -> std::vector -> Tensor",
// JSON-NEXT: "chain": [
// JSON-NEXT: "static 'cache' (statics.cpp:{{[0-9]+}})",
