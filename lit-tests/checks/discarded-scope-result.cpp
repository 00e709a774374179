// SPDX-License-Identifier: Apache-2.0
// RUN: %check_tidy %s tensorscope-discarded-scope-result %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

using tensorscope::with_torch;

torch::Tensor model(const torch::Tensor &x);
void log_value(double value);
void log_tensor(const torch::Tensor &x);

//===- Statements ---------------------------------------------------------===//

// A scope's tensor thrown away as a statement.
void statement(const torch::Tensor &x) {
  with_torch([&] { return x * 13; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// In a loop, each iteration keeps one for nobody.
void statementInALoop(const std::vector<torch::Tensor> &batches) {
  for (const auto &batch : batches) {
    with_torch([&] { return model(batch).sum(); });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody in each iteration; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  }
}

// A while loop, and the scope as its only statement.
void statementInAWhileLoop(const torch::Tensor &x, int steps) {
  while (steps-- > 0)
    with_torch([&] { return model(x); });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody in each iteration; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// The last expression of a body that does more than return.
void longBody(const torch::Tensor &x) {
  with_torch([&] {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
    auto y = model(x);
    log_value(y.sum().item<double>());
    return y;
  });
}

// One of two returns is enough.
void earlyReturn(const torch::Tensor &x, bool small) {
  with_torch([&]() -> torch::Tensor {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
    if (small)
      return {};
    return x.exp();
  });
}

// The body is a named lambda.
void namedBody(const torch::Tensor &x) {
  auto body = [&] { return x + 7; };
  with_torch(body);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// The body is a function.
static torch::Tensor makeNoise() { return torch::randn({17, 3}); }
void functionBody() {
  with_torch(makeNoise);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// The branch of a condition.
void inABranch(const torch::Tensor &x, bool verbose) {
  if (verbose)
    with_torch([&] { return x.abs(); });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// False negative: the left side of a comma.
int leftOfAComma(const torch::Tensor &x) {
  return with_torch([&] { return x.sin(); }), 3;
}

// A nested scope hands its result on, and the outer one's is thrown away.
void nested(const torch::Tensor &x) {
  with_torch([&] { return with_torch([&] { return x * 3; }); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// An inner scope's result thrown away inside a scope that returns something else.
float innerOne(const torch::Tensor &x) {
  return with_torch([&] {
    with_torch([&] { return x * 5; });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
    return x.sum().item<float>();
  });
}

//===- Result types -------------------------------------------------------===//

struct Attention {
  torch::Tensor weights;
  int heads = 0;
};
struct Output {
  torch::Tensor prediction;
  std::vector<Attention> attention;
};
struct Counts {
  long tokens = 0;
  double mean = 0;
};
struct Layered {
  Output inner;
  int step = 0;
};

// Tensors at any depth of a container.
void containers(const torch::Tensor &x) {
  with_torch([&] { return std::vector<torch::Tensor>{x + 1, x + 2, x + 3}; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return std::map<std::string, torch::Tensor>{{"prediction", x * 2}}; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return std::unordered_map<int, torch::Tensor>{{19, x.exp()}}; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return std::array<torch::Tensor, 2>{x.sin(), x.cos()}; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return std::deque<torch::Tensor>{x.abs()}; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return std::vector<std::vector<torch::Tensor>>{{x + 1}, {x + 2}}; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return std::make_tuple(3, x.exp()); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return std::make_pair(x.log(), 0.5); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return std::optional<torch::Tensor>(x.sin()); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return std::variant<int, torch::Tensor>(x.cos()); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// Structures, smart pointers, LibTorch's own carriers.
void carriers(const torch::Tensor &x) {
  with_torch([&] { return Output{x.exp(), {{x.log(), 4}}}; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return Layered{{x + 1, {}}, 7}; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return std::make_shared<torch::Tensor>(x + 1); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return torch::nn::Linear(13, 7); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return c10::IValue(x.abs()); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// Views of what the scope made are as alive as what they view.
void viewOfNewTensor(const torch::Tensor &x) {
  with_torch([&] { return model(x).view({-1}); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return (x * 2)[0]; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  with_torch([&] { return torch::ones({3, 5}).t(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// Results without a tensor are free to go.
void scalars(const torch::Tensor &x) {
  with_torch([&] { return x.sum().item<float>(); });
  with_torch([&] { return x.size(0); });
  with_torch([&] { return x.sizes().vec(); });
  with_torch([&] { return Counts{x.numel(), x.mean().item<double>()}; });
  with_torch([&] { return std::vector<double>{x.max().item<double>()}; });
  with_torch([&] { return std::string("done"); });
  with_torch([&] { (void)x.sum(); });
  with_torch([&] { log_tensor(x + 1); });
}

// Nothing in the result was made in the scope: there is nothing that the scope keeps.
struct Holder {
  torch::Tensor weight;
};
void madeOutside(const torch::Tensor &x, Holder &holder) {
  with_torch([&] { return x; });
  with_torch([&] { return holder.weight; });
  with_torch([&]() -> torch::Tensor { return {}; });
}

//===- Variables ----------------------------------------------------------===//

// A variable that nobody reads.
void unusedVariable(const torch::Tensor &x) {
  auto y = with_torch([&] { return x * 3; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope is put in 'y', which is never read: its tensors are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// The same in a loop, where it is one per iteration.
void unusedVariableInALoop(const std::vector<torch::Tensor> &batches) {
  for (const auto &batch : batches) {
    auto loss = with_torch([&] { return model(batch).mean(); });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the result of this scope is put in 'loss', which is never read: its tensors are kept past the scope for nobody in each iteration; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  }
}

// Overwritten before anybody looked.
float overwritten(const torch::Tensor &x) {
  auto y = with_torch([&] { return x * 3; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope is put in 'y', which is never read: its tensors are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  y = with_torch([&] { return x * 5; });
  return y.sum().item<float>();
}

// A constant reference to the result, not read.
void unusedReference(const torch::Tensor &x) {
  const auto &y = with_torch([&] { return x * 3; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope is put in 'y', which is never read: its tensors are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// Structured bindings that nobody reads; those that take a tensor are named.
void unusedBindings(const torch::Tensor &x) {
  auto [mean, count] = with_torch([&] { return std::make_pair(x.mean(), 3); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope is put in 'mean', which is never read: its tensors are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}

// One that is read takes no tensor.
int scalarBindingUsed(const torch::Tensor &x) {
  auto [mean, count] = with_torch([&] { return std::make_pair(x.mean(), 3); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope is put in 'mean', which is never read: its tensors are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  return count;
}

// Bindings of which one that takes a tensor is read are used.
double oneBindingUsed(const torch::Tensor &x) {
  auto [mean, count] = with_torch([&] { return std::make_pair(x.mean(), 3); });
  return mean.item<double>();
}

// A view or an element of what is used, and writing through one, is no result of its own.
double viewsOfAUsedOne(const torch::Tensor &x) {
  auto y = with_torch([&] { return x * 3; });
  y[0] = 7;
  y.view({-1})[1].add_(3);
  y.detach();
  [[maybe_unused]] auto row = y[0];
  return y.sum().item<double>();
}

// Kept on purpose: unused, and said to be.
void markedAsUnused(const torch::Tensor &x) {
  [[maybe_unused]] auto y = with_torch([&] { return x * 3; });
  [[maybe_unused]] auto [mean, count] = with_torch([&] { return std::make_pair(x.mean(), 3); });
}

// A map that is filled by key and never read, and one that is read.
void mapNeverRead(const torch::Tensor &x, int steps) {
  std::map<int, torch::Tensor> results;
  for (int i = 0; i < steps; ++i)
    results[i] = with_torch([&] { return x * i; });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the result of this scope is put in 'results', which is never read: its tensors are kept past the scope for nobody in each iteration; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}
double mapRead(const torch::Tensor &x, int steps) {
  std::map<int, torch::Tensor> results;
  for (int i = 0; i < steps; ++i)
    results[i] = with_torch([&] { return x * i; });
  return results[3].sum().item<double>();
}
void elementWritten(const torch::Tensor &x) {
  auto y = with_torch([&] { return x * 3; });
  y[0] = 7;
}

// An object that refers to it may look at it.
struct Viewer {
  const torch::Tensor &tensor;
  double sum() const { return tensor.sum().item<double>(); }
};
double readThroughAnObject(const torch::Tensor &x) {
  auto y = with_torch([&] { return x * 3; });
  Viewer viewer{y};
  y = with_torch([&] { return x * 5; });
  return viewer.sum();
}

// Used on one path is used.
void usedOnOnePath(const torch::Tensor &x, bool verbose) {
  auto y = with_torch([&] { return x * 3; });
  if (verbose)
    log_tensor(y);
}

// Carried to the next iteration and read there.
double carried(const torch::Tensor &x, int steps) {
  torch::Tensor state = x;
  for (int i = 0; i < steps; ++i)
    state = with_torch([&] { return model(state); });
  return state.sum().item<double>();
}

// The last one of a loop is read after it.
double lastOne(const std::vector<torch::Tensor> &batches) {
  torch::Tensor last;
  for (const auto &batch : batches)
    last = with_torch([&] { return model(batch).detach(); });
  return last.defined() ? last.item<double>() : 0.0;
}

// Assigned on to another.
double assignedOn(const torch::Tensor &x) {
  torch::Tensor first, second, third;
  first = second = with_torch([&] { return x * 3; });
  return (third = with_torch([&] { return x * 5; })).item<double>() + first.item<double>();
}

// Captured by a lambda that is called.
double capturedAndRead(const torch::Tensor &x) {
  auto y = with_torch([&] { return x * 3; });
  auto read = [y] { return y.sum().item<double>(); };
  return read();
}

// Returned, passed, moved on, compared, iterated: all of these take it.
torch::Tensor returned(const torch::Tensor &x) {
  return with_torch([&] { return x * 3; });
}
void passed(const torch::Tensor &x) { log_tensor(with_torch([&] { return x * 3; })); }
void movedOn(const torch::Tensor &x, std::vector<torch::Tensor> &out) {
  auto y = with_torch([&] { return x * 3; });
  out.push_back(std::move(y));
}
void memberCalled(const torch::Tensor &x) {
  log_value(with_torch([&] { return x.sum(); }).item<double>());
}
void iterated(const torch::Tensor &x) {
  for (const auto &part : with_torch([&] { return x.exp().chunk(3); }))
    log_tensor(part);
}
void conditionOf(const torch::Tensor &x) {
  if (with_torch([&] { return x > 3; }).item<bool>())
    log_value(3);
}
struct Keeper {
  torch::Tensor value;
  void keep(const torch::Tensor &x) {
    value = with_torch([&] { return x * 3; });
  }
};
struct Initialized {
  explicit Initialized(const torch::Tensor &x) : value(with_torch([&] { return x * 3; })) {}
  torch::Tensor value;
};

//===- Where others may look ----------------------------------------------===//

// What a reference, a pointer or a smart pointer leads to is not the function's own.
torch::Tensor &slotOf(int key);
torch::Tensor *slotAt(int key);
struct State {
  torch::Tensor hidden;
  std::vector<torch::Tensor> history;
};
struct Link {
  State *state;
};
void throughAReference(const torch::Tensor &x) {
  auto &slot = slotOf(7);
  slot = with_torch([&] { return x * 3; });
}
void throughAPointer(const torch::Tensor &x) {
  auto *slot = slotAt(7);
  *slot = with_torch([&] { return x * 3; });
  slot[2] = with_torch([&] { return x * 5; });
}
void throughSmartPointers(std::shared_ptr<torch::Tensor> out, std::vector<std::shared_ptr<State>> states,
                          const torch::Tensor &x) {
  *out = with_torch([&] { return x * 3; });
  states[0]->hidden = with_torch([&] { return x * 5; });
}
void throughAMember(Link link, const torch::Tensor &x) {
  link.state->history.push_back(with_torch([&] { return x * 3; }));
}
void throughPointersInAList(std::vector<torch::Tensor *> slots, const torch::Tensor &x) {
  for (auto *slot : slots)
    *slot = with_torch([&] { return x * 3; });
}
// A pointer that the scope itself made is as much its result as a tensor.
void unusedPointer(const torch::Tensor &x) {
  auto made = with_torch([&] { return std::make_shared<torch::Tensor>(x * 3); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope is put in 'made', which is never read: its tensors are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}
// An array and a list of structures are the function's own.
void ownArray(const torch::Tensor &x) {
  torch::Tensor parts[3];
  std::vector<State> states(3);
  parts[1] = with_torch([&] { return x * 3; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope is put in 'parts', which is never read: its tensors are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  states[1].hidden = with_torch([&] { return x * 5; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope is put in 'states', which is never read: its tensors are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}
// A pointer to the variable, and a handler, are ways to read it.
void readThroughAPointer(const torch::Tensor &x, bool second) {
  torch::Tensor y, z;
  torch::Tensor *last = nullptr;
  last = second ? &z : &y;
  y = with_torch([&] { return x * 3; });
  log_tensor(*last);
}
void readInAHandler(const torch::Tensor &x) {
  torch::Tensor y;
  try {
    y = with_torch([&] { return x * 3; });
    log_value(7);
  } catch (const char *) {
    log_tensor(y);
  }
}

//===- Said to be meant ---------------------------------------------------===//

// std::ignore, a cast to void, and the comment that silences it.
void meant(const torch::Tensor &x) {
  std::ignore = with_torch([&] { return x * 3; });
  (void)with_torch([&] { return x.log(); });
  with_torch([&] { return x * 3; }); // NOLINT(tensorscope-discarded-scope-result)
  // NOLINTNEXTLINE(tensorscope-discarded-scope-result)
  with_torch([&] { return x * 5; });
}

// A template whose result depends on its parameter is judged where it is used.
template <typename Body> void runInScope(Body &&body) { with_torch(std::forward<Body>(body)); }
void useRunInScope(const torch::Tensor &x) {
  runInScope([&] { log_tensor(x * 3); });
}
// The end of the object runs code that may look at it.
struct ShownAtTheEnd {
  torch::Tensor tensor;
  ~ShownAtTheEnd() { log_value(tensor.numel()); }
};
struct HoldsOne {
  ShownAtTheEnd shown;
};
void readByADestructor(const torch::Tensor &x) {
  ShownAtTheEnd shown{with_torch([&] { return x * 2; })};
  HoldsOne holder{{with_torch([&] { return x * 3; })}};
}
struct ShownNever {
  torch::Tensor tensor;
};
void noDestructor(const torch::Tensor &x) {
  ShownNever shown{with_torch([&] { return x * 2; })};
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope is put in 'shown', which is never read: its tensors are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
}
