// SPDX-License-Identifier: Apache-2.0
// Long-lived containers of tensors that only grow.
// RUN: %check_tidy %s tensorscope-unbounded-container %t
#include <torch/torch.h>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

using torch::Tensor;
void use(const std::vector<Tensor> &all);
void mayEmpty(std::vector<Tensor> &all);

//===- Globals and statics -------------------------------------------------===//

static std::vector<Tensor> grads;
void hooked(Tensor w) {
  w.register_hook([](Tensor g) { grads.push_back(g); });
  // CHECK-NOTES: :[[@LINE-1]]:40: warning: 'grads' grows each time the hook runs, and nothing in this file takes a tensor out of it; limit its size, or empty it when its tensors have been used [tensorscope-unbounded-container]
  // CHECK-NOTES: :[[@LINE-4]]:28: note: declared here
}
static std::map<int64_t, Tensor> byStep;
void step(int64_t number, const Tensor &x) {
  auto y = x * 2;
  byStep[number] = y;
  // CHECK-NOTES: :[[@LINE-1]]:18: warning: 'byStep' grows each time 'step' runs, {{.*}} [tensorscope-unbounded-container]
  // CHECK-NOTES: :[[@LINE-5]]:34: note: declared here
  std::printf("%zu\n", byStep.size());
}
void inAStatic(const Tensor &x) {
  static std::deque<Tensor> seen;
  seen.emplace_back(x.detach());
  // CHECK-NOTES: :[[@LINE-1]]:8: warning: 'seen' grows each time 'inAStatic' runs, {{.*}} [tensorscope-unbounded-container]
  // CHECK-NOTES: :[[@LINE-3]]:29: note: declared here
}
static std::vector<std::pair<std::string, Tensor>> looked;
void lookedAt(const Tensor &x) {
  looked.push_back({"x", x});
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: 'looked' grows each time 'lookedAt' runs, {{.*}} [tensorscope-unbounded-container]
  // CHECK-NOTES: :[[@LINE-4]]:52: note: declared here
  for (const auto &entry : looked)
    entry.second.sum();
  if (looked.empty() || !looked.front().second.defined())
    return;
  auto copy = looked;
  copy.clear();
}

// A comparison that only chooses a value, or that runs once, limits nothing.
static std::vector<Tensor> counted;
bool count(const Tensor &x) {
  counted.push_back(x.detach());
  // CHECK-NOTES: :[[@LINE-1]]:11: warning: 'counted' grows each time 'count' runs, {{.*}} [tensorscope-unbounded-container]
  // CHECK-NOTES: :[[@LINE-4]]:28: note: declared here
  return counted.size() == 50 ? false : true;
}

static std::vector<Tensor> cleared, limited, given, moved, swapped, assigned, returned;
void bounded(const Tensor &x) {
  cleared.push_back(x);
  limited.push_back(x);
  given.push_back(x);
  moved.push_back(x);
  swapped.push_back(x);
  assigned.push_back(x);
  returned.push_back(x);
}
std::vector<Tensor> &leave(std::vector<Tensor> other) {
  cleared.clear();
  if (limited.size() > 16)
    std::printf("full\n");
  mayEmpty(given);
  use(std::move(moved));
  swapped.swap(other);
  assigned = std::vector<Tensor>();
  return returned;
}
// Names are few.
static std::map<std::string, Tensor> registry;
void record(const std::string &name, const Tensor &x) {
  auto y = x.detach();
  registry[name] = y;
  registry.emplace(name, y);
}
// So are keys that are looked for first: each is made once.
static std::map<int64_t, Tensor> masks;
Tensor mask(int64_t n) {
  auto found = masks.find(n);
  if (found == masks.end())
    found = masks.emplace(n, torch::ones({4})).first;
  return found->second;
}
static std::map<int, Tensor> constants;
void constantKeys(const Tensor &x) {
  constants[0] = x;
  constants[1] = x;
}
static std::vector<float> numbers;
void onlyNumbers(const Tensor &x) { numbers.push_back(x.item<float>()); }

//===- Members -------------------------------------------------------------===//

class Average {
public:
  void load(const std::vector<Tensor> &saved) {
    for (const auto &t : saved)
      buffers.push_back(t.clone());
      // CHECK-NOTES: :[[@LINE-1]]:15: warning: 'buffers' grows each time 'load' runs, {{.*}} [tensorscope-unbounded-container]
      // CHECK-NOTES: :[[@LINE+5]]:23: note: declared here
  }
  size_t size() const { return buffers.size(); }

private:
  std::vector<Tensor> buffers;
};
class Fresh {
public:
  void load(const std::vector<Tensor> &saved) {
    buffers.clear();
    for (const auto &t : saved)
      buffers.push_back(t.clone());
  }

private:
  std::vector<Tensor> buffers;
};
class MadeOnce {
public:
  explicit MadeOnce(int n) {
    for (int i = 0; i < n; ++i)
      layers.push_back(torch::ones({4}));
  }
  Tensor first() { return layers[0]; }

private:
  std::vector<Tensor> layers;
};
// What a module is built of; what a data set has read in.
struct Blocks : torch::nn::Module {
  void build(int n) {
    for (int i = 0; i < n; ++i)
      weights.push_back(register_parameter(std::to_string(i), torch::ones({4})));
  }
  std::vector<Tensor> weights;
};
class Images : public torch::data::datasets::Dataset<Images> {
public:
  void read(int n) {
    for (int i = 0; i < n; ++i)
      images.push_back(torch::ones({4}));
  }

private:
  std::vector<Tensor> images;
};
// A container of its own.
class Collection {
public:
  void add(const Tensor &x) { all.push_back(x); }
  Tensor at(size_t i) const { return all[i]; }

private:
  std::vector<Tensor> all;
};
// A structure that is being built.
struct Tree {
  Tensor value;
  std::vector<Tree *> children;
  Tree *add() {
    auto *child = new Tree;
    children.push_back(child);
    return child;
  }
};
// False negative: a function that is defined elsewhere may empty it.
class Elsewhere {
public:
  void step(const Tensor &x) {
    auto y = x * 2;
    all.push_back(y);
  }
  void finish();

private:
  std::vector<Tensor> all;
};

//===- Local containers ----------------------------------------------------===//

void capturedByAHook(Tensor w) {
  std::vector<Tensor> all;
  w.register_hook([&all](Tensor g) { all.push_back(g); });
  // CHECK-NOTES: :[[@LINE-1]]:42: warning: 'all' grows each time the hook runs, {{.*}} [tensorscope-unbounded-container]
  // CHECK-NOTES: :[[@LINE-3]]:23: note: declared here
  for (int i = 0; i < 50; ++i)
    (w * w).sum().backward();
}
void emptiedInTheLoop(Tensor w) {
  std::vector<Tensor> all;
  w.register_hook([&all](Tensor g) { all.push_back(g); });
  for (int i = 0; i < 50; ++i) {
    (w * w).sum().backward();
    all.clear();
  }
}
std::vector<Tensor> collects(const std::vector<Tensor> &xs) {
  std::vector<Tensor> out;
  for (const auto &x : xs)
    out.push_back(x * 2);
  return out;
}

static std::vector<Tensor> startUp, perRound, stopped;
int main() {
  startUp.push_back(torch::ones({4}));
  for (int i = 0; i < 50; ++i) {
    perRound.push_back(torch::ones({4}));
    // CHECK-NOTES: :[[@LINE-1]]:14: warning: 'perRound' grows each time this loop goes round, {{.*}} [tensorscope-unbounded-container]
    // CHECK-NOTES: :[[@LINE-6]]:37: note: declared here
    stopped.push_back(torch::ones({4}));
    if (stopped.size() > 16)
      break;
  }
  // Run once a program, it limits nothing.
  if (perRound.size() != 50)
    return 1;
  return 0;
}
