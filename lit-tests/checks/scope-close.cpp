// SPDX-License-Identifier: Apache-2.0
// A scope object that is closed before its block ends.
// RUN: %check_tidy %s tensorscope-* %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

using tensorscope::Scope;

static torch::Tensor last;
bool flip();

//===- close() ------------------------------------------------------------===//

float storedAfterwards(const torch::Tensor &x) {
  Scope scope;
  const float sum = (x * 2).sum().item<float>();
  scope.close();
  last = x * 3;
  return sum + last.sum().item<float>();
}
void storedBefore(const torch::Tensor &x) {
  Scope scope;
  last = x * 3;
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: tensor made in this scope is stored in 'last', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  scope.close();
}
void retainedBefore(const torch::Tensor &x) {
  Scope scope;
  last = x * 3;
  scope.retain(last);
  scope.close();
}
float usedAfterwards(const torch::Tensor &x) {
  Scope scope;
  auto y = x * 2;
  scope.close();
  return y.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'y' after its scope ended: its memory is gone; return it from the scope or 'retain' it [tensorscope-use-after-release]
}
float closedOnOnePath(const torch::Tensor &x) {
  Scope scope;
  auto y = x * 2;
  const float sum = y.sum().item<float>();
  if (flip()) {
    scope.close();
    return sum;
  }
  return y.sum().item<float>();
}
float closedByALambda(const torch::Tensor &x) {
  Scope scope;
  auto y = x * 2;
  auto end = [&] { scope.close(); };
  end();
  return y.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'y' after its scope ended: its memory is gone; return it from the scope or 'retain' it [tensorscope-use-after-release]
}
// The second scope is another one.
void twoScopes(const torch::Tensor &x) {
  Scope first;
  first.close();
  Scope second;
  last = x * 3;
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: tensor made in this scope is stored in 'last', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
  second.close();
}

//===- close_keeping() ----------------------------------------------------===//

float kept(const torch::Tensor &x) {
  Scope scope;
  auto y = x * 2, z = x * 3;
  last = y;
  scope.close_keeping(y);
  const float sum = y.sum().item<float>() + last.sum().item<float>();
  return sum + z.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: use of 'z' after its scope ended: its memory is gone; return it from the scope or 'retain' it [tensorscope-use-after-release]
}
torch::Tensor keptAndReturned(const torch::Tensor &x) {
  Scope scope;
  auto y = x * 2;
  scope.close_keeping(y);
  return y;
}

//===- Closed by somebody else --------------------------------------------===//

// Whoever is given the scope may close it: nothing is said from there.
void finish(Scope &scope);
static void finishHere(Scope &scope) { scope.close(); }
void givenAway(const torch::Tensor &x) {
  Scope scope;
  finish(scope);
  last = x * 3;
}
void givenToAKnownOne(const torch::Tensor &x) {
  Scope scope;
  finishHere(scope);
  last = x * 3;
}
void byReference(const torch::Tensor &x) {
  Scope scope;
  Scope &same = scope;
  same.close();
  last = x * 3;
}
class Step {
public:
  float run(const torch::Tensor &x) { return (x * 2).sum().item<float>(); }
  void end() { scope.close(); }

private:
  Scope scope;
};
void wrapped(const torch::Tensor &x) {
  Step step;
  step.run(x);
  step.end();
  last = x * 3;
}
void wrappedAndOpen(const torch::Tensor &x) {
  Step step;
  step.run(x);
  last = x * 3;
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: tensor made in this scope is stored in 'last', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
}

//===- Returned -----------------------------------------------------------===//

// What a scope object owns is gone before the caller has it.
torch::Tensor returned(const torch::Tensor &x) {
  Scope scope;
  auto y = x * 2;
  return y;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: tensor made in this scope is returned while the scope is open: it is released when the scope ends; return 'scope.retain(y)' [tensorscope-unretained-escape]
}
torch::Tensor returnedFromASession(const torch::Tensor &x) {
  tensorscope::Session session;
  return x * 2;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: tensor made in this session is returned while the session is open: it is released when the session ends; return 'tensorscope::retain(x * 2)' [tensorscope-unretained-escape]
}
torch::Tensor returnedRetained(const torch::Tensor &x) {
  Scope scope;
  auto y = x * 2;
  return scope.retain(y);
}
