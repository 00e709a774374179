// SPDX-License-Identifier: Apache-2.0
// The same number of tensors, each held, though no variable has its address: through blocks of the heap, from inside of
// blocks, by marked addresses, by another thread.
#include <tensorscope/tensorscope.h>

#include <ATen/DLConvertor.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>

struct Node {
  virtual ~Node() = default;
  at::Tensor content;
  std::shared_ptr<Node> next;
};
struct Other {
  virtual ~Other() = default;
  int rank = 1;
};
struct Both : Other, Node {};

static std::deque<at::Tensor> in_deque;
static std::unordered_map<std::string, std::vector<at::Tensor>> in_map;
static std::function<double()> in_function;
static std::shared_ptr<Node> in_nodes;
static Node* volatile in_base = nullptr; // nobody reads these, and they must be written all the same
static at::Tensor* volatile in_array = nullptr;
static volatile std::uintptr_t marked = 0;
static DLManagedTensor* volatile exported = nullptr;
static thread_local at::Tensor* volatile of_thread = nullptr;

__attribute__((noinline)) static void hold_on_the_heap() {
  in_deque.resize(200);
  in_deque[150] = torch::ones({31});
  in_map["a"].push_back(torch::ones({32}));
  in_function = [kept = torch::ones({33}), a = 1, b = 2.0] { return kept.sum().item<double>() + a + b; };
  for (int i = 0; i < 100; ++i) {
    auto node = std::make_shared<Node>();
    node->content = i == 0 ? torch::ones({34}) : at::Tensor();
    node->next = std::move(in_nodes);
    in_nodes = std::move(node);
  }
}

__attribute__((noinline)) static void hold_from_inside() {
  auto* const both = new Both;
  both->content = torch::ones({41});
  in_base = both;
  auto* const all = new std::array<at::Tensor, 8>;
  all->front() = torch::ones({42});
  in_array = &(*all)[5];
  exported = at::toDLPack(torch::ones({43})); // a member of what holds the tensor
}

__attribute__((noinline)) static void hold_by_marks() {
  marked = reinterpret_cast<std::uintptr_t>(new at::Tensor(torch::ones({51}))) | 1;
  of_thread = new at::Tensor(torch::ones({52}));
}

/// Waits until the process ends; only its stack leads to the tensors.
__attribute__((noinline)) static void hold_in_a_thread() {
  static std::atomic<bool> ready{false};
  std::thread([] {
    const at::Tensor kept = torch::ones({61});
    const auto on_heap = std::make_unique<std::vector<at::Tensor>>(3, torch::ones({62}));
    ready = true;
    ready.notify_all();
    std::atomic<bool> never{false};
    never.wait(false);
  }).detach();
  ready.wait(false);
}

__attribute__((noinline)) static void hold_many(int count) {
  for (int i = 0; i < count; ++i) {
    in_map["many"].push_back(torch::empty({1}));
  }
}

int main(int argc, char** argv) {
  hold_on_the_heap();
  hold_from_inside();
  hold_by_marks();
  hold_in_a_thread();
  if (argc > 1) {
    hold_many(std::atoi(argv[1]));
  }
}

// MANY: tracker health: whether lost tensors or cycles are among those that are alive was not looked for: more than 20000 are alive
// MANY-NOT: LEAK
