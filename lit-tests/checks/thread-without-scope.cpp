// SPDX-License-Identifier: Apache-2.0
// Finds threads that work without a scope where the code uses scopes.
// RUN: %check_tidy %s tensorscope-thread-without-scope %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <future>
#include <thread>
#include <vector>

static std::vector<torch::Tensor> cache;
torch::Tensor next();
void show(double value);

// A thread that is started in a scope gives tensors out.
void startedInScope() {
  tensorscope::with_torch([&] {
    std::thread worker([&] { cache.push_back(torch::rand({13, 7})); });
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: a scope is open here, but not on the thread that this starts: the tensors that leave the thread are nobody's; open a scope in it [tensorscope-thread-without-scope]
    worker.join();
  });
}
static void fill() { cache.push_back(torch::rand({13, 7})); }
// The same by name, under a guard.
void startedUnderGuard() {
  tensorscope::Scope scope;
  std::thread worker(fill);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: a scope is open here, but not on the thread that this starts: the tensors that leave the thread are nobody's; open a scope in it [tensorscope-thread-without-scope]
  worker.join();
}
// By async.
void asynchronous() {
  tensorscope::Scope scope;
  auto done = std::async(std::launch::async, [] { cache.push_back(torch::rand({3})); });
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: a scope is open here, but not on the thread that this starts: the tensors that leave the thread are nobody's; open a scope in it [tensorscope-thread-without-scope]
  done.wait();
}
// The thread's own loop has no scope.
void loop(int n) {
  std::thread worker([n] {
    for (int i = 0; i < n; ++i)
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: this loop runs on a thread of its own and creates tensors in each iteration with no scope open: a scope of another thread does not cover it; open one here [tensorscope-thread-without-scope]
      show(torch::rand({13, 7}).sum().item<double>());
  });
  worker.join();
}
static void work(int n) {
  while (n--)
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop runs on a thread of its own and creates tensors in each iteration with no scope open: a scope of another thread does not cover it; open one here [tensorscope-thread-without-scope]
    show(torch::rand({13, 7}).sum().item<double>());
}
void named(int n) {
  std::thread worker(work, n);
  worker.join();
}
// A pool runs it.
struct Pool {
  template <typename F> void enqueue(F f) { tasks.push_back(f); }
  std::vector<std::function<void()>> tasks;
};
void pooled(Pool &pool, int n) {
  pool.enqueue([n] {
    for (int i = 0; i < n; ++i)
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: this loop runs on a thread of its own and creates tensors in each iteration with no scope open: a scope of another thread does not cover it; open one here [tensorscope-thread-without-scope]
      show(torch::rand({13, 7}).sum().item<double>());
  });
}
// A scope in the thread: right.
void ownScope(int n) {
  tensorscope::with_torch([&] {
    std::thread worker([n] {
      for (int i = 0; i < n; ++i) {
        tensorscope::Scope scope;
        show(torch::rand({13, 7}).sum().item<double>());
      }
    });
    worker.join();
  });
}
// It gives out what it has retained: right.
void retained() {
  tensorscope::with_torch([&] {
    std::thread worker([] {
      tensorscope::with_torch([] { cache.push_back(tensorscope::retain(torch::rand({13, 7}))); });
    });
    worker.join();
  });
}
// It looks at the tensors of the scope around it: right.
void reads() {
  tensorscope::with_torch([&] {
    auto x = torch::rand({13, 7});
    std::thread worker([&] { show(x.sum().item<double>()); });
    worker.join();
  });
}
// Not on a thread: what the loop does there is for another rule.
void noThread(int n) {
  for (int i = 0; i < n; ++i)
    show(torch::rand({13, 7}).sum().item<double>());
}
// Not started in a scope, and no loop.
void once() {
  std::thread worker([] { cache.push_back(torch::rand({13, 7})); });
  worker.join();
}
// False negative: the scope may end before the thread has read.
void detached() {
  tensorscope::Scope scope;
  auto x = torch::rand({13, 7});
  std::thread([x] { show(x.sum().item<double>()); }).detach();
}
