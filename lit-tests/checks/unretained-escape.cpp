// SPDX-License-Identifier: Apache-2.0
// RUN: %check_tidy %s tensorscope-unretained-escape %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

using tensorscope::with_torch;

torch::Tensor model(const torch::Tensor &x);
void log_tensor(const torch::Tensor &x);

static torch::Tensor saved;
static std::unordered_map<int, torch::Tensor> cache;
static std::vector<torch::Tensor> archive;

struct Inner {
  torch::Tensor value;
};
struct Tracker {
  torch::Tensor best;
  std::vector<torch::Tensor> history;
  std::map<std::string, torch::Tensor> named;
  std::optional<torch::Tensor> maybe;
  std::function<torch::Tensor()> lazy;
  std::unique_ptr<torch::Tensor> owned;
  std::array<torch::Tensor, 3> slots;
  Inner inner;

  void update(const torch::Tensor &x);
};

//===- Where a tensor can be stored ---------------------------------------===//

void captured(const torch::Tensor &input) {
  torch::Tensor outer;
  with_torch([&] {
    outer = input.exp();
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: tensor made in this scope is stored in 'outer', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
  (void)outer.defined();
}
void global(const torch::Tensor &input) {
  with_torch([&] {
    saved = input * 3;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: tensor made in this scope is stored in 'saved', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void staticLocal(const torch::Tensor &input) {
  static torch::Tensor last;
  with_torch([&] {
    last = input * 3;
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor made in this scope is stored in 'last', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void member(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    t.best = input * 3;
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor made in this scope is stored in 't.best', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void nestedMember(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    t.inner.value = input * 3;
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: tensor made in this scope is stored in 't.inner.value', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void Tracker::update(const torch::Tensor &x) {
  with_torch([&] {
    best = x * 3;
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor made in this scope is stored in 'best', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    this->inner.value = x * 5;
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: tensor made in this scope is stored in 'inner.value', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void containers(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    t.history.push_back(input + 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: tensor made in this scope is stored in 't.history[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    t.history.emplace_back(input + 2);
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: tensor made in this scope is stored in 't.history[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    t.named["last"] = input + 3;
    // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: tensor made in this scope is stored in 't.named[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    t.named.emplace("first", input + 4);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: tensor made in this scope is stored in 't.named[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    t.named.insert_or_assign("next", input + 5);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: tensor made in this scope is stored in 't.named[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    t.slots[1] = input + 6;
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: tensor made in this scope is stored in 't.slots[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    archive.push_back(input + 7);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: tensor made in this scope is stored in 'archive[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    cache[13] = input + 8;
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: tensor made in this scope is stored in 'cache[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void elementsOfALocal(const torch::Tensor &input) {
  std::vector<torch::Tensor> parts(3);
  with_torch([&] {
    parts[0] = input + 1;
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: tensor made in this scope is stored in 'parts[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    parts.push_back(input + 2);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: tensor made in this scope is stored in 'parts[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
  log_tensor(parts[2]);
}
void optionalMember(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    t.maybe = input + 1;
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: tensor made in this scope is stored in 't.maybe', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void pointers(Tracker &t, torch::Tensor *out, const torch::Tensor &input) {
  with_torch([&] {
    *out = input + 1;
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor made in this scope is stored in 'out', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    t.owned = std::make_unique<torch::Tensor>(input + 2);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: tensor made in this scope is stored in 't.owned', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void outParameter(torch::Tensor &out, const torch::Tensor &input) {
  with_torch([&] {
    out = input + 1;
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: tensor made in this scope is stored in 'out', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void closure(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    auto x = input + 1;
    t.lazy = [x] { return x * 2; };
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor made in this scope is stored in 't.lazy', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}

//===- What is stored -----------------------------------------------------===//

void viewOfIt(Tracker &t) {
  with_torch([&] {
    auto x = torch::randn({5, 7});
    t.best = x.view({35});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor made in this scope is stored in 't.best', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    t.history.push_back(x[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: tensor made in this scope is stored in 't.history[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    t.inner.value = x.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: tensor made in this scope is stored in 't.inner.value', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void structureOfThem(std::vector<Inner> &list, const torch::Tensor &input) {
  with_torch([&] {
    list.push_back(Inner{input * 3});
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor made in this scope is stored in 'list[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void wholeList(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    std::vector<torch::Tensor> parts;
    parts.push_back(input * 3);
    t.history = parts;
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: tensor made in this scope is stored in 't.history[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void movedList(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    std::vector<torch::Tensor> parts{input * 3, input * 5};
    t.history = std::move(parts);
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: tensor made in this scope is stored in 't.history', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void copyMadeInside(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    t.best = input.clone();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor made in this scope is stored in 't.best', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void resultOfACallee(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    t.best = model(input).sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor made in this scope is stored in 't.best', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}

//===- How the scope is opened --------------------------------------------===//

void scopeObject(Tracker &t, const torch::Tensor &input) {
  tensorscope::Scope scope;
  t.best = input * 3;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor made in this scope is stored in 't.best', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
}
void inALoop(Tracker &t, const std::vector<torch::Tensor> &batches) {
  for (const auto &batch : batches) {
    tensorscope::Scope scope;
    auto loss = model(batch).mean();
    t.history.push_back(loss.detach());
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: tensor made in this scope is stored in 't.history[...]', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  }
}
// False negative.
void innermostScope(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    auto x = input * 3;
    with_torch([&] {
      log_tensor(x);
      t.best = x;
    });
  });
}
void fromInnerToOuter(const torch::Tensor &input) {
  with_torch([&] {
    torch::Tensor kept;
    with_torch([&] {
      kept = input * 3;
      // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor made in this scope is stored in 'kept', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    });
    log_tensor(kept);
  });
}
void namedBody(Tracker &t, const torch::Tensor &input) {
  auto body = [&] {
    t.best = input * 3;
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor made in this scope is stored in 't.best', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  };
  with_torch(body);
}
void onOnePath(Tracker &t, const torch::Tensor &input, bool better) {
  with_torch([&] {
    auto x = input * 3;
    if (better)
      t.best = x;
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: tensor made in this scope is stored in 't.best', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}
void retainedOnTheOtherPath(Tracker &t, const torch::Tensor &input, bool better) {
  with_torch([&] {
    auto x = input * 3;
    if (better)
      tensorscope::retain(x);
    t.best = x;
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor made in this scope is stored in 't.best', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  });
}

//===- Retained, returned, older ------------------------------------------===//

void retained(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    auto x = torch::randn({5});
    tensorscope::retain(x);
    saved = x;
    cache[1] = tensorscope::rescue_pointers(input * 2);
    t.history.push_back(tensorscope::retain(x + 1));
    t.inner.value = x.view({5, 1});
    auto y = x * 3;
    t.best = y;
    tensorscope::retain(y);
  });
}
void retainedThroughTheMember(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    t.best = input * 3;
    tensorscope::retain(t.best);
    t.history.push_back(input * 5);
    tensorscope::retain(t.history);
  });
}
void retainedByTheScopeObject(Tracker &t, const torch::Tensor &input) {
  tensorscope::Scope scope;
  t.best = scope.retain(input * 3);
}
void retainedList(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    std::vector<torch::Tensor> parts{input * 3, input * 5};
    t.history = tensorscope::retain(parts);
  });
}
static torch::Tensor keep(const torch::Tensor &x) { return tensorscope::retain(x); }
void retainedByACallee(Tracker &t, const torch::Tensor &input) {
  with_torch([&] { t.best = keep(input * 3); });
}
void returnedInstead(Tracker &t, const torch::Tensor &input) {
  saved = with_torch([&] { return input * 3; });
  t.history.push_back(with_torch([&] { return input * 5; }));
}
void storedAndReturned(Tracker &t, const torch::Tensor &input) {
  t.inner.value = with_torch([&] {
    auto x = input * 3;
    t.best = x;
    return x;
  });
}
void madeOutside(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    t.best = input;
    t.history.push_back(input.view({-1}));
    t.inner.value = t.best;
  });
}
void innerResult(const torch::Tensor &input) {
  with_torch([&] {
    torch::Tensor kept;
    kept = with_torch([&] { return input * 3; });
    log_tensor(kept);
  });
}
void resultOfAnInnerScopeLeavesBoth(Tracker &t, const torch::Tensor &input) {
  with_torch([&] { t.best = with_torch([&] { return input * 3; }); });
}
void clonedOutside(Tracker &t, const torch::Tensor &input) {
  auto x = with_torch([&] { return input * 3; });
  t.best = x.clone();
}

//===- Not stored ---------------------------------------------------------===//

// Copying into an older tensor stores no handle.
void copies(torch::Tensor &t, const torch::Tensor &input) {
  with_torch([&] {
    t[0] = input * 3;
    t.index_put_({1}, input * 5);
    std::move(t) = input * 7;
    t.copy_(input * 11);
    t += input.exp();
    t.narrow(0, 0, 3).copy_(input * 13);
  });
}
void numbers(std::vector<double> &losses, const torch::Tensor &input) {
  with_torch([&] { losses.push_back(input.sum().item<double>()); });
}
void localToTheScope(const torch::Tensor &input) {
  with_torch([&] {
    std::vector<torch::Tensor> parts;
    for (int i = 0; i < 4; ++i)
      parts.push_back(input * i);
    std::function<float()> sum = [&] { return torch::cat(parts).sum().item<float>(); };
    return sum();
  });
}
void overwrittenBeforeTheEnd(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    t.best = input * 2;
    auto s = t.best.sum().item<float>();
    t.best = torch::Tensor();
    return s;
  });
}
void clearedBeforeTheEnd(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    t.history.push_back(input * 2);
    auto s = t.history.back().sum().item<float>();
    t.history.clear();
    return s;
  });
}
void releasedBeforeTheEnd(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    t.best = input * 2;
    log_tensor(t.best);
    t.best.reset();
  });
}
// What may be the older tensor itself is not certain to be released.
void mayBeTheOlderOne(Tracker &t, const torch::Tensor &input) {
  with_torch([&] {
    t.best = input.contiguous();
    t.history.push_back(input.to(torch::kFloat64));
    t.inner.value = input.reshape({-1});
  });
}
// No scope, no end of one.
void noScope(Tracker &t, const torch::Tensor &input) { t.best = input * 3; }
