// SPDX-License-Identifier: Apache-2.0
// Hooks, callbacks and saved outputs that own what owns them.
// RUN: %check_tidy %s tensorscope-reference-cycle %t
#include <torch/torch.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

//===- Hooks ---------------------------------------------------------------===//

void byValue(Tensor x) {
  auto act = torch::tanh(x);
  act.register_hook([act](Tensor g) { return g * act.abs(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: this hook owns 'act', which owns the hook: neither is ever freed; capture a detached tensor, or a pointer that does not own [tensorscope-reference-cycle]
}
void byDefault(Tensor act) {
  act.register_hook([=](Tensor g) { return g * act; });
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: this hook owns 'act', {{.*}} [tensorscope-reference-cycle]
}
void underAnotherName(Tensor act) {
  auto same = act;
  act.register_hook([kept = same](Tensor g) { return g * kept; });
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: this hook owns 'act', {{.*}} [tensorscope-reference-cycle]
}
void byItsName(Tensor act) {
  auto hook = [act](Tensor g) { return g * act; };
  act.register_hook(hook);
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: this hook owns 'act', {{.*}} [tensorscope-reference-cycle]
}
void ofAParameter(torch::nn::Linear net) {
  net->weight.register_hook([net](Tensor g) { return g * net->weight; });
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: this hook owns 'net', {{.*}} [tensorscope-reference-cycle]
}
void ofAnElement(std::vector<Tensor> all) {
  all[0].register_hook([all](Tensor g) { return g * all[1]; });
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: this hook owns 'all', {{.*}} [tensorscope-reference-cycle]
}

// The tensor in the range is the one that the hook is put on.
void inALoop(torch::nn::Module &net) {
  for (auto &p : net.parameters())
    p.register_hook([p](Tensor g) { return g + p; });
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: this hook owns 'p', {{.*}} [tensorscope-reference-cycle]
}
// What was computed from a tensor owns it, by its graph.
void aResult(Tensor act) {
  auto y = act * 2;
  act.register_hook([y](Tensor g) { return g * y; });
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: this hook owns 'act', {{.*}} [tensorscope-reference-cycle]
}
void resultsOfResults(Tensor act) {
  act.register_hook([copy = act.clone()](Tensor g) { return g * copy; });
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: this hook owns 'act', {{.*}} [tensorscope-reference-cycle]
  act.register_hook([row = torch::relu(act + 1).view({-1})](Tensor g) { return g * row; });
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: this hook owns 'act', {{.*}} [tensorscope-reference-cycle]
}
void withoutAGraph(Tensor act) {
  act.register_hook([mask = act > 0](Tensor g) { return g * mask; });
  act.register_hook([y = act.detach() * 2](Tensor g) { return g * y; });
  act.register_hook([z = torch::zeros_like(act)](Tensor g) { return g + z; });
}
void computedWithoutGradients(Tensor act) {
  torch::NoGradGuard guard;
  auto y = act * 2;
  act.register_hook([y](Tensor g) { return g * y; });
}
void theInput(Tensor x) {
  auto y = torch::tanh(x);
  y.register_hook([x](Tensor g) { return g * x; });
}
// A hook that is removed is gone, and what it owns with it.
void removed(Tensor x) {
  auto act = torch::tanh(x);
  auto id = act.register_hook([act](Tensor g) { return g * act; });
  act.sum().backward();
  act.remove_hook(id);
}

// What does not own, or owns another tensor.
void noCycles(Tensor act, Tensor other, torch::nn::Linear net) {
  act.register_hook([value = act.detach()](Tensor g) { return g * value; });
  act.register_hook([n = act.size(0)](Tensor g) { return g * n; });
  act.register_hook([other](Tensor g) { return g * other; });
  act.register_hook([&act](Tensor g) { return g * act; });
  act.register_hook([p = &act](Tensor g) { return g * *p; });
  net->weight.register_hook([raw = net.get()](Tensor g) { return g * raw->weight; });
  net->weight.register_hook([weak = std::weak_ptr<torch::nn::LinearImpl>(net.ptr())](Tensor g) { return g; });
}
void theOneBefore(Tensor x) {
  auto before = x;
  x = torch::tanh(x);
  x.register_hook([before](Tensor g) { return g * before; });
}
// False negative: a member of a class that is computed later.
struct Kept {
  Tensor y;
};
void ofAMember(Tensor act) {
  Kept kept;
  kept.y = act * 2;
  act.register_hook([kept](Tensor g) { return g * kept.y; });
}

//===- Members -------------------------------------------------------------===//

struct Net : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  std::function<Tensor(Tensor)> head;
  std::function<Tensor(Tensor)> tail;
  std::vector<std::function<void()>> callbacks;
  std::map<std::string, std::function<void()>> named;
  Tensor forward(Tensor x) { return fc->forward(x); }
  void own() {
    auto self = std::static_pointer_cast<Net>(shared_from_this());
    head = [self](Tensor x) { return self->forward(x); };
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: what is stored in 'head' owns '*this', which owns it: {{.*}} [tensorscope-reference-cycle]
  }
  void borrow() {
    head = [this](Tensor x) { return forward(x); };
  }
};
void stored() {
  auto net = std::make_shared<Net>();
  net->head = [net](Tensor x) { return net->fc->forward(x); };
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: what is stored in 'head' owns 'net', which owns it: neither is ever freed; capture a 'std::weak_ptr' or a raw pointer [tensorscope-reference-cycle]
  net->callbacks.push_back([net] { net->fc->weight.sum(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: what is stored in 'callbacks' owns 'net', {{.*}} [tensorscope-reference-cycle]
  net->named["step"] = [self = net] { self->fc->weight.sum(); };
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: what is stored in 'named' owns 'net', {{.*}} [tensorscope-reference-cycle]
  net->head = std::bind(&Net::forward, net, std::placeholders::_1);
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: what is stored in 'head' owns 'net', {{.*}} [tensorscope-reference-cycle]
}
void storedRight(std::shared_ptr<Net> other) {
  auto net = std::make_shared<Net>();
  net->head = [self = net.get()](Tensor x) { return self->fc->forward(x); };
  net->head = [weak = std::weak_ptr<Net>(net)](Tensor x) { return weak.lock()->forward(x); };
  net->head = [fc = net->fc](Tensor x) mutable { return fc->forward(x); };
  net->head = [other](Tensor x) { return other->forward(x); };
  net->head = [&net](Tensor x) { return net->forward(x); };
  std::function<Tensor(Tensor)> local = [net](Tensor x) { return net->forward(x); };
  local(torch::ones({4}));
}
void givenUp() {
  auto net = std::make_shared<Net>();
  net->head = [net](Tensor x) mutable {
    auto y = net->forward(x);
    net.reset();
    return y;
  };
}
// Emptied somewhere.
void storedForAWhile() {
  auto net = std::make_shared<Net>();
  net->tail = [net](Tensor x) { return net->forward(x); };
  net->tail(torch::ones({4}));
  net->tail = nullptr;
}

//===- Outputs in the context of their own node ----------------------------===//

struct Squash : torch::autograd::Function<Squash> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    auto y = torch::sigmoid(x);
    ctx->saved_data["y"] = y;
    // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: the output 'y' is saved in the context of the node that made it, and owns that node: neither is ever freed; give the output itself to 'save_for_backward' [tensorscope-reference-cycle]
    return y;
  }
};
struct Pair : torch::autograd::Function<Pair> {
  static variable_list forward(AutogradContext *ctx, Tensor x) {
    auto y = torch::sigmoid(x), z = x * 2;
    ctx->saved_data["z"] = z.view({-1});
    // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: a view of the output 'z' is saved in the context of the node that made it, {{.*}} [tensorscope-reference-cycle]
    ctx->save_for_backward({y.view({-1})});
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: a view of the output 'y' is saved {{.*}} [tensorscope-reference-cycle]
    return {y, z};
  }
};
struct Right : torch::autograd::Function<Right> {
  static variable_list forward(AutogradContext *ctx, Tensor x, int64_t n) {
    auto y = torch::sigmoid(x);
    auto mask = x > 0;
    auto index = torch::argmax(x);
    ctx->save_for_backward({x, y});
    ctx->saved_data["n"] = n;
    ctx->saved_data["x"] = x;
    ctx->saved_data["mask"] = mask;
    ctx->saved_data["y"] = y.detach();
    ctx->saved_data["copy"] = y.clone();
    ctx->saved_data["size"] = y.size(0);
    ctx->mark_non_differentiable({index});
    ctx->saved_data["index"] = index;
    return {y, index};
  }
};
// An intermediate is no output.
struct Intermediate : torch::autograd::Function<Intermediate> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    auto half = torch::sigmoid(x);
    ctx->saved_data["half"] = half;
    return half * 2;
  }
};
