// SPDX-License-Identifier: Apache-2.0
// Less common ways out of a scope, and out of a session.
// RUN: %check_tidy %s tensorscope-unretained-escape %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

using tensorscope::with_torch;

struct Cache {
  torch::Tensor latest;
  std::vector<torch::Tensor> entries;
};
static torch::Tensor shared;

//===- Sessions -----------------------------------------------------------===//

void inASession(Cache &cache, const torch::Tensor &x) {
  tensorscope::start_session();
  cache.latest = x * 3;
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: tensor made in this session is stored in 'cache.latest', which outlives the session: it is released when the session ends; 'retain' it [tensorscope-unretained-escape]
  tensorscope::stop_session();
}
// Starting a session ends the one before.
void startedTwice(const torch::Tensor &x) {
  tensorscope::start_session();
  shared = x * 3;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor made in this session is stored in 'shared', which outlives the session: it is released when the session ends; 'retain' it [tensorscope-unretained-escape]
  tensorscope::start_session();
  tensorscope::stop_session();
}
void sessionObject(const torch::Tensor &x) {
  tensorscope::Session session;
  shared = x * 3;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor made in this session is stored in 'shared', which outlives the session: it is released when the session ends; 'retain' it [tensorscope-unretained-escape]
}
void keptInASession(Cache &cache, const torch::Tensor &x) {
  tensorscope::start_session();
  cache.latest = tensorscope::retain(x * 3);
  shared = with_torch([&] { return x * 5; });
  cache.entries.push_back(x);
  tensorscope::stop_session();
}
// A session that somebody else ends may have an owner for its tensors.
void leftOpen(Cache &cache, const torch::Tensor &x) {
  tensorscope::start_session();
  cache.latest = x * 3;
}
// After main's own scope or session nothing reads them.
int main() {
  tensorscope::Session session;
  shared = torch::ones({3});
  return shared.sum().item<float>() > 7;
}

//===- Smart pointers -----------------------------------------------------===//

void pointerReset(std::unique_ptr<Cache> &cache, const torch::Tensor &x) {
  with_torch([&] {
    cache.reset(new Cache{x * 3, {}});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: tensor made in this scope is stored in 'cache.latest', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void pointerEmptied(std::unique_ptr<torch::Tensor> &pointer, const torch::Tensor &x) {
  with_torch([&] {
    pointer = std::make_unique<torch::Tensor>(x * 3);
    pointer.reset();
  });
}
void pointerResetToOlder(std::unique_ptr<torch::Tensor> &pointer, const torch::Tensor &older) {
  with_torch([&] { pointer.reset(new torch::Tensor(older)); });
}

//===- Changing places ----------------------------------------------------===//

void swappedOut(Cache &cache, const torch::Tensor &x) {
  with_torch([&] {
    auto y = x * 3;
    std::swap(cache.latest, y);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor made in this scope is stored in 'cache.latest', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void swappedOutRetained(Cache &cache, const torch::Tensor &x) {
  with_torch([&] {
    auto y = tensorscope::retain(x * 3);
    std::swap(cache.latest, y);
  });
}
void listSwappedOut(std::vector<torch::Tensor> &out, const torch::Tensor &x) {
  with_torch([&] {
    std::vector<torch::Tensor> list{x * 3};
    out.swap(list);
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: tensor made in this scope is stored in 'out', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void swappedBack(Cache &cache, const torch::Tensor &x) {
  with_torch([&] {
    auto y = x * 3;
    std::swap(cache.latest, y);
    (void)cache.latest.sum();
    std::swap(cache.latest, y);
  });
}
void exchangedOut(const torch::Tensor &x) {
  with_torch([&] {
    (void)std::exchange(shared, x * 3).defined();
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: tensor made in this scope is stored in 'shared', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}

//===- Variables that die with the scope ----------------------------------===//

// Nobody looks at them after the scope's end.
float declaredBefore(const torch::Tensor &x) {
  torch::Tensor y;
  std::vector<torch::Tensor> stack;
  tensorscope::Scope scope;
  y = x * 3;
  stack.push_back(y);
  return stack.back().sum().item<float>();
}
float overwrittenAfterwards(const torch::Tensor &x) {
  torch::Tensor y;
  {
    tensorscope::Scope scope;
    y = x * 3;
  }
  y = x;
  return y.sum().item<float>();
}
float readAfterwards(const torch::Tensor &x) {
  torch::Tensor y;
  {
    tensorscope::Scope scope;
    y = x * 3;
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: tensor made in this scope is stored in 'y', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  }
  return y.sum().item<float>();
}
// In the next iteration, too.
float readInTheNextIteration(const torch::Tensor &x, int n) {
  torch::Tensor y = x;
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    tensorscope::Scope scope;
    y = y * 3;
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: tensor made in this scope is stored in 'y', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    sum += y.sum().item<float>();
  }
  return sum;
}

//===- Retained one by one ------------------------------------------------===//

// Where the loop runs not once there is nothing to retain.
void retainedInALoop(std::vector<torch::Tensor> &out, const torch::Tensor &x, int n) {
  with_torch([&] {
    for (int i = 0; i < n; ++i)
      out.push_back(x * i);
    for (const auto &t : out)
      tensorscope::retain(t);
  });
}
void retainedOnOnePath(Cache &cache, const torch::Tensor &x, bool keep) {
  with_torch([&] {
    cache.latest = x * 3;
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: tensor made in this scope is stored in 'cache.latest', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    if (keep)
      tensorscope::retain(cache.latest);
  });
}

//===- Taken out again ----------------------------------------------------===//

void takenOut(Cache &cache, const torch::Tensor &x) {
  with_torch([&] {
    cache.entries.push_back(x * 3);
    (void)cache.entries.back().sum();
    cache.entries.pop_back();
  });
}
void erased(std::map<int, torch::Tensor> &cache, const torch::Tensor &x) {
  with_torch([&] {
    cache[7] = x * 3;
    cache.erase(7);
  });
}
void cutShort(Cache &cache, const torch::Tensor &x) {
  with_torch([&] {
    cache.entries.push_back(x * 3);
    cache.entries.resize(0);
  });
}
// One is taken out, and another put in.
void replaced(Cache &cache, const torch::Tensor &x) {
  with_torch([&] {
    cache.entries.pop_back();
    cache.entries.push_back(x * 3);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: tensor made in this scope is stored in 'cache.entries[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
// Only the largest so far is stored, again and again: what an earlier iteration
// stored there is gone already.
void largest(Cache &cache, const std::vector<torch::Tensor> &batches, int n) {
  float largest = 0;
  for (int i = 0; i < n; ++i) {
    for (const auto &batch : batches)
      tensorscope::with_torch([&] { (void)(batch * 2).sum(); });
    for (const auto &batch : batches)
      tensorscope::with_torch([&] {
        const auto scores = batch * 2;
        const float loss = scores.sum().item<float>();
        if (loss > largest) {
          largest = loss;
          cache.latest = scores.detach();
          // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: tensor made in this scope is stored in 'cache.latest', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
        }
      });
  }
}
