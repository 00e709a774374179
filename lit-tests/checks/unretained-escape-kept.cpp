// SPDX-License-Identifier: Apache-2.0
// Stores into what keeps its tensors itself: adopted objects and gradients.
// RUN: %check_tidy %s tensorscope-unretained-escape %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <algorithm>
#include <thread>
#include <vector>

void use(const torch::Tensor &x);

using tensorscope::with_torch;

struct Cache {
  std::vector<torch::Tensor> entries;
  torch::Tensor latest;
};

// An adopted object owns what comes to be reachable from it.
void adopted(const torch::Tensor &input) {
  Cache cache;
  const auto adoption = tensorscope::adopt(cache);
  with_torch([&] {
    cache.entries.push_back(input * 3);
    cache.latest = input.exp();
  });
}
// The same object without the adoption.
void notAdopted(const torch::Tensor &input) {
  Cache cache;
  with_torch([&] {
    cache.entries.push_back(input * 3);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: tensor made in this scope is stored in 'cache.entries[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    cache.latest = input.exp();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: tensor made in this scope is stored in 'cache.latest', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
  use(cache.latest);
}
// Another object than the adopted one.
void adoptedBeside(const torch::Tensor &input) {
  Cache cache, other;
  const auto adoption = tensorscope::adopt(cache);
  with_torch([&] {
    other.latest = input.exp();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: tensor made in this scope is stored in 'other.latest', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
  use(other.latest);
}
// A gradient that is assigned belongs to its leaf.
void assignedGradient(const torch::Tensor &weight) {
  with_torch([&] { weight.mutable_grad() = torch::ones({7, 3}); });
}
// So does one that is replaced for each of several leaves.
void replacedGradients(const std::vector<torch::Tensor> &weights) {
  with_torch([&] {
    for (const auto &weight : weights)
      weight.mutable_grad() = weight.exp();
  });
}
// The handle to a tensor that became a gradient stays good.
float gradientsHandle(const torch::Tensor &weight) {
  torch::Tensor outer;
  with_torch([&] {
    auto gradient = torch::ones({7, 3});
    weight.mutable_grad() = gradient;
    outer = gradient;
  });
  return outer.sum().item<float>();
}
// A list of views of an older tensor is as old as that tensor.
float listOfViews(const torch::Tensor &older) {
  std::vector<torch::Tensor> views;
  with_torch([&] {
    views = {older.view({3, 4}), older[5]};
    for (auto &chunk : older.chunk(4))
      views.push_back(chunk);
  });
  float total = 0;
  for (const auto &view : views)
    total += view.sum().item<float>();
  return total;
}
// Another thread may retain what it can reach.
void retainedElsewhere(const torch::Tensor &input) {
  std::vector<torch::Tensor> shared;
  with_torch([&] {
    shared.push_back(input * 3);
    std::thread worker([&shared] { tensorscope::retain(shared); });
    worker.join();
  });
}
// A class that adopts a member does so from its construction on.
class Recorder {
  Cache cache_;
  tensorscope::Adoption kept_ = tensorscope::adopt(cache_);

public:
  float record(const torch::Tensor &input) {
    with_torch([&] { cache_.latest = input * 3; });
    return cache_.latest.sum().item<float>();
  }
};

//===- One by one ---------------------------------------------------------===//

std::vector<torch::Tensor> eachByReference(const torch::Tensor &x, int n) {
  tensorscope::Scope scope;
  std::vector<torch::Tensor> list;
  for (int i = 0; i < n; ++i)
    list.push_back(x * i);
  for (auto &t : list)
    tensorscope::retain(t);
  return list;
}
std::vector<torch::Tensor> eachByCopy(const torch::Tensor &x) {
  tensorscope::Scope scope;
  std::vector<torch::Tensor> list{x * 2, x * 3};
  for (auto t : list)
    tensorscope::retain(t);
  return list;
}
std::vector<torch::Tensor> eachByIndex(const torch::Tensor &x) {
  tensorscope::Scope scope;
  std::vector<torch::Tensor> list{x * 2};
  for (size_t i = 0; i < list.size(); ++i)
    list[i] = tensorscope::retain(list[i]);
  return list;
}
std::vector<torch::Tensor> eachByAnAlgorithm(const torch::Tensor &x) {
  tensorscope::Scope scope;
  std::vector<torch::Tensor> list;
  list.push_back(x * 2);
  std::for_each(list.begin(), list.end(),
                [](const torch::Tensor &t) { tensorscope::retain(t); });
  return list;
}
std::vector<torch::Tensor> eachOfAnotherList(const torch::Tensor &x) {
  tensorscope::Scope scope;
  std::vector<torch::Tensor> list{x * 2}, others{x * 3};
  for (auto &t : others)
    tensorscope::retain(t);
  return list;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: tensor made in this scope is returned while the scope is open: it is released when the scope ends; return 'scope.retain(list)' [tensorscope-unretained-escape]
}

//===- Read on the paths alone that retained it ---------------------------===//

void readWhereItWasRetained(const torch::Tensor &x, bool k) {
  torch::Tensor y;
  tensorscope::Scope s;
  y = x * 2;
  if (k)
    s.retain(y);
  s.close();
  if (k)
    use(y);
}
void readWhereItWasRetainedAfterAReturn(const torch::Tensor &x, int n) {
  torch::Tensor y;
  tensorscope::Scope s;
  y = x * 2;
  const bool keeps = n > 3;
  if (keeps)
    tensorscope::retain(y);
  s.close();
  if (n <= 3)
    return;
  use(y);
}
void readOnTheOtherPath(const torch::Tensor &x, bool k) {
  torch::Tensor y;
  tensorscope::Scope s;
  y = x * 2;
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor made in this scope is stored in 'y', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  if (k)
    s.retain(y);
  s.close();
  if (!k)
    use(y);
}

//===- A local that nobody reads after the block --------------------------===//

void scratchOutsideTheBlock(const torch::Tensor &x) {
  torch::Tensor scratch;
  tensorscope::with_torch([&] {
    scratch = x * 2;
    return scratch.sum().item<float>();
  });
}
void scratchOfALoop(const std::vector<torch::Tensor> &xs) {
  torch::Tensor scratch;
  for (const auto &x : xs)
    tensorscope::with_torch([&] {
      scratch = x * 2;
      return scratch.sum().item<float>();
    });
}
void scratchThatIsSetAnew(const torch::Tensor &x, const torch::Tensor &older) {
  torch::Tensor scratch;
  tensorscope::with_torch([&] { scratch = x * 2; });
  scratch = older;
  use(scratch);
}
void readAfterTheBlock(const torch::Tensor &x) {
  torch::Tensor scratch;
  tensorscope::with_torch([&] {
    scratch = x * 2;
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: tensor made in this scope is stored in 'scratch', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
  use(scratch);
}
void readInTheNextBlock(const std::vector<torch::Tensor> &xs) {
  torch::Tensor last;
  for (const auto &x : xs)
    tensorscope::with_torch([&] {
      if (last.defined())
        last.sum();
      last = x * 2;
      // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor made in this scope is stored in 'last', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    });
}
// A lambda with a name may run again.
void readByALambdaWithAName(const torch::Tensor &x) {
  torch::Tensor last;
  auto show = [&] { return last.sum(); };
  tensorscope::with_torch([&] {
    last = x * 2;
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor made in this scope is stored in 'last', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
  show();
}
