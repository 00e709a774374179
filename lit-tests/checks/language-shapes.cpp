// SPDX-License-Identifier: Apache-2.0
// Shapes of the language around scopes, under all checks at once: templates, recursion, wrappers, control flow,
// smart pointers, algorithms.
// RUN: %check_tidy %s tensorscope-* %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <algorithm>
#include <future>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

using tensorscope::with_torch;

torch::Tensor model(const torch::Tensor &x);
void log_tensor(const torch::Tensor &x);
void log_value(double value);
bool flip();

//===- Templates ----------------------------------------------------------===//

template <typename T> T scoped(const std::function<T()> &body) {
  return with_torch([&] { return body(); });
}
float throughAFunctionObject(const torch::Tensor &x) {
  return scoped<torch::Tensor>([&] { return x * 3; }).sum().item<float>();
}

template <typename Key> class Table {
public:
  void put(const Key &key, const torch::Tensor &x) {
    with_torch([&] {
      entries[key] = x * 3;
      // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: tensor made in this scope is stored in 'entries[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    });
  }
  void putRetained(const Key &key, const torch::Tensor &x) {
    with_torch([&] { entries[key] = tensorscope::retain(x * 3); });
  }
  torch::Tensor take(const Key &key) {
    auto entry = entries.at(key);
    entries.erase(key);
    return entry;
  }

private:
  std::unordered_map<Key, torch::Tensor> entries;
};
void useTable(Table<int> &table, const torch::Tensor &x) {
  table.put(13, x);
  table.putRetained(17, x);
  log_tensor(table.take(17));
}

template <typename... Tensors> float sumOf(const Tensors &...tensors) {
  return with_torch([&] { return (tensors.sum().template item<float>() + ...); });
}
float useSumOf(const torch::Tensor &a, const torch::Tensor &b) { return sumOf(a, b); }

template <typename T> void releaseBoth(T &a, T &b) {
  tensorscope::release(a);
  tensorscope::release(b);
}
float usesAfterReleaseBoth() {
  auto a = torch::ones({3}), b = torch::ones({5});
  releaseBoth(a, b);
  return b.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'b' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}

//===- Wrappers with a destructor -----------------------------------------===//

class Releaser {
public:
  explicit Releaser(torch::Tensor tensor) : tensor(std::move(tensor)) {}
  ~Releaser() { tensorscope::release(tensor); }

private:
  torch::Tensor tensor;
};
float usedBeforeTheReleaser() {
  auto x = torch::ones({3});
  Releaser releaser(x);
  return x.sum().item<float>();
}

class Step {
public:
  Step() = default;
  float run(const torch::Tensor &x) { return model(x).sum().item<float>(); }

private:
  tensorscope::Scope scope;
};
float scopeInAMember(const std::vector<torch::Tensor> &xs) {
  float total = 0;
  for (const auto &x : xs) {
    Step step;
    total += step.run(x);
  }
  return total;
}

//===- Control flow -------------------------------------------------------===//

float conditional(const torch::Tensor &x, bool twice) {
  auto y = twice ? x * 2 : x;
  tensorscope::release(y);
  return y.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'y' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// Whether x was released depends on the path: with `twice` it was not.
float maybeTheOther(const torch::Tensor &x, bool twice) {
  auto y = twice ? x * 2 : x;
  tensorscope::release(y);
  return twice ? x.sum().item<float>() : 0;
}
float switched(int kind) {
  auto x = torch::ones({3});
  switch (kind) {
  case 0:
    tensorscope::release(x);
    return 0;
  case 1:
    return x.sum().item<float>();
  default:
    tensorscope::release(x);
  }
  return x.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
float guardedByAFlag() {
  auto x = torch::ones({3});
  bool released = false;
  if (flip()) {
    tensorscope::release(x);
    released = true;
  }
  if (released)
    return 0;
  return x.sum().item<float>();
}
float continues(const std::vector<torch::Tensor> &xs) {
  float total = 0;
  for (auto x : xs) {
    if (x.numel() == 0) {
      tensorscope::release(x);
      continue;
    }
    tensorscope::Scope scope;
    total += x.sum().item<float>();
  }
  return total;
}
float earlyReturnFromTheBody(const torch::Tensor &x) {
  return with_torch([&]() -> float {
    if (!x.defined())
      return 0;
    auto y = model(x);
    if (y.numel() == 0)
      return -1;
    return y.sum().item<float>();
  });
}
torch::Tensor recursive(const torch::Tensor &x, int depth) {
  if (depth == 0)
    return x;
  return with_torch([&] { return torch::tanh(recursive(x, depth - 1)); });
}
void recursionDiscarded(const torch::Tensor &x) {
  log_tensor(recursive(x, 7));
}
void lambdaThatReturnsEarly(std::vector<torch::Tensor> &list, const torch::Tensor &x) {
  with_torch([&] {
    if (!flip())
      return;
    list.push_back(x * 3);
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor made in this scope is stored in 'list[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void initStatement(const torch::Tensor &x) {
  if (auto y = with_torch([&] { return x * 3; }); y.defined())
    log_tensor(y);
}

//===- Smart pointers -----------------------------------------------------===//

struct Node {
  torch::Tensor value;
  std::unique_ptr<Node> next;
};
void linkedList(std::unique_ptr<Node> &head, const torch::Tensor &x) {
  with_torch([&] {
    auto node = std::make_unique<Node>();
    node->value = tensorscope::retain(x * 3);
    node->next = std::move(head);
    head = std::move(node);
  });
}
void throughAPointer(Node *node, const torch::Tensor &x) {
  with_torch([&] {
    node->value = x * 3;
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: tensor made in this scope is stored in 'node.value', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void sharedState(const std::shared_ptr<Node> &node, const torch::Tensor &x) {
  with_torch([&] {
    node->value = x * 3;
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: tensor made in this scope is stored in 'node.value', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void moduleMadeOutside(const torch::Tensor &x) {
  auto net = std::make_shared<torch::nn::LinearImpl>(13, 7);
  for (int i = 0; i < 100; ++i)
    with_torch([&] { return net->forward(x).sum().item<float>(); });
}

//===- Algorithms and threads ---------------------------------------------===//

std::vector<torch::Tensor> transformed(const std::vector<torch::Tensor> &xs) {
  std::vector<torch::Tensor> out;
  std::transform(xs.begin(), xs.end(), std::back_inserter(out), [](const torch::Tensor &x) { return x * 3; });
  return out;
}
double accumulated(const std::vector<torch::Tensor> &xs) {
  return with_torch([&] {
    return std::accumulate(xs.begin(), xs.end(), 0.0,
                           [](double sum, const torch::Tensor &x) { return sum + x.sum().item<double>(); });
  });
}
float forEachWithScope(const std::vector<torch::Tensor> &xs) {
  float total = 0;
  std::for_each(xs.begin(), xs.end(), [&](const torch::Tensor &x) {
    tensorscope::Scope scope;
    total += torch::relu(x).sum().item<float>();
  });
  return total;
}
float sortedByNorm(std::vector<torch::Tensor> &xs) {
  std::sort(xs.begin(), xs.end(), [](const torch::Tensor &a, const torch::Tensor &b) {
    return with_torch([&] { return a.norm().item<float>() < b.norm().item<float>(); });
  });
  return with_torch([&] { return xs.front().norm().item<float>(); });
}
float asynchronous(const torch::Tensor &x) {
  auto answer = std::async(std::launch::async, [x] {
    return with_torch([&] { return model(x).sum().item<float>(); });
  });
  return answer.get();
}
torch::Tensor asynchronousResult(const torch::Tensor &x) {
  auto answer = std::async(std::launch::async, [x] { return with_torch([&] { return model(x); }); });
  return answer.get();
}
void promised(std::promise<torch::Tensor> &promise, const torch::Tensor &x) {
  with_torch([&] {
    promise.set_value(x * 3);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: tensor made in this scope is stored in 'promise[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}

//===- Classes ------------------------------------------------------------===//

class Ema {
public:
  void update(const torch::Tensor &x) {
    tensorscope::Scope scope;
    if (!average.defined())
      average = tensorscope::retain(x.detach().clone());
    else
      average.mul_(0.9).add_(x.detach(), 0.1);
  }
  void updateAnew(const torch::Tensor &x) {
    tensorscope::Scope scope;
    average = average * 0.9 + x * 0.1;
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: tensor made in this scope is stored in 'average', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  }
  void updateAnewRetained(const torch::Tensor &x) {
    tensorscope::Scope scope;
    auto old = average;
    average = tensorscope::retain(average * 0.9 + x * 0.1);
    tensorscope::release(old);
  }
  Ema &operator+=(const torch::Tensor &x) {
    update(x);
    return *this;
  }
  float value() const { return average.mean().item<float>(); }

private:
  torch::Tensor average;
};
float useEma(const std::vector<torch::Tensor> &xs) {
  Ema ema;
  for (const auto &x : xs)
    ema += x;
  return ema.value();
}

class Buffered {
public:
  explicit Buffered(int64_t size) : buffer(torch::zeros({size})) {}
  ~Buffered() { tensorscope::release(buffer); }
  Buffered(const Buffered &) = delete;
  void resize(int64_t size) {
    auto bigger = torch::zeros({size});
    bigger.narrow(0, 0, buffer.size(0)).copy_(buffer);
    tensorscope::release(buffer);
    buffer = bigger;
  }
  void close() {
    tensorscope::release(buffer);
    buffer = torch::Tensor();
  }
  bool open() const { return buffer.defined(); }
  float sum() const { return open() ? buffer.sum().item<float>() : 0; }

private:
  torch::Tensor buffer;
};
float useBuffered() {
  Buffered buffered(13);
  buffered.resize(17);
  const float sum = buffered.sum();
  buffered.close();
  return sum + buffered.sum();
}

// A handle that two owners share: one released it, the other still reads.
struct Owner {
  torch::Tensor weights;
  void free() { tensorscope::release(weights); }
};
float twoOwners() {
  auto weights = torch::ones({3});
  Owner first{weights}, second{weights};
  first.free();
  return second.weights.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: use of 'second.weights' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
float swappedOwners() {
  Owner first{torch::ones({3})}, second{torch::ones({5})};
  first.free();
  std::swap(first, second);
  return first.weights.sum().item<float>();
}
