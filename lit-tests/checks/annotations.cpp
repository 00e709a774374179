// SPDX-License-Identifier: Apache-2.0
// What the macros of tensorscope/annotations.h say of functions that the checker does not see is believed.
// RUN: %check_tidy %s tensorscope-use-after-release,tensorscope-unretained-escape,tensorscope-discarded-scope-result %t
#include <tensorscope/annotations.h>
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <functional>
#include <vector>

using torch::Tensor;
TENSORSCOPE_RELEASES(0) void recycle(Tensor frame);
TENSORSCOPE_RELEASES(1) void recycleAt(int slot, Tensor frame, std::vector<Tensor> &pool);
TENSORSCOPE_RETAINS(0) void keepForever(const Tensor &t);
TENSORSCOPE_RETURNS_NEW Tensor decode(const Tensor &bytes);
TENSORSCOPE_VIEW_OF(0) Tensor topHalf(const Tensor &image);
TENSORSCOPE_SCOPE Tensor perStep(const std::function<Tensor()> &body);
Tensor unknown(const Tensor &t);
struct Frame {
  TENSORSCOPE_RELEASES(this) void close();
  Tensor pixels;
};
class TENSORSCOPE_SCOPE FrameScope {
 public:
  FrameScope();
  ~FrameScope();
};
// What the body leaves open, the annotation settles.
TENSORSCOPE_RELEASES(0) void recycleHere(Tensor frame) { recycle(frame); }
TENSORSCOPE_RELEASES(0) void recycleUnknown(Tensor frame, const std::function<void(Tensor)> &give) { give(frame); }

//===- Believed ------------------------------------------------------------===//

void released(Tensor t) {
  recycle(t);
  (void)t.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: {{.*}} [tensorscope-use-after-release]
}
void releasedThroughAView(Tensor t) {
  Tensor half = topHalf(t);
  recycle(t);
  (void)half.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: {{.*}} [tensorscope-use-after-release]
}
void releasedByNumber(Tensor a, std::vector<Tensor> pool) {
  recycleAt(3, a, pool);
  (void)a.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: {{.*}} [tensorscope-use-after-release]
}
void releasedObject(Frame frame) {
  frame.close();
  (void)frame.pixels.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: {{.*}} [tensorscope-use-after-release]
}
void releasedByABody(Tensor a, Tensor b, const std::function<void(Tensor)> &give) {
  recycleHere(a);
  (void)a.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: {{.*}} [tensorscope-use-after-release]
  recycleUnknown(b, give);
  (void)b.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: {{.*}} [tensorscope-use-after-release]
}
void escapesAScopeOfTheirOwn(Tensor &out, const Tensor &x) {
  FrameScope scope;
  out = decode(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: {{.*}} [tensorscope-unretained-escape]
}
void discardsTheirScopesResult(const Tensor &x) {
  perStep([&] { return x + 1; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: {{.*}} [tensorscope-discarded-scope-result]
}

//===- Silent --------------------------------------------------------------===//

void releasedTwice(Tensor t) {
  recycle(t);
  recycle(t);
}
void releasedAnother(Tensor t) {
  Tensor other = decode(t);
  recycle(t);
  (void)other.sum();
}
void retained(Tensor &out, const Tensor &x) {
  FrameScope scope;
  Tensor made = x + 1;
  keepForever(made);
  out = made;
}
// The pool is named by nothing: it may hold anything afterwards.
void poolIsUnknown(std::vector<Tensor> &pool, Tensor t) {
  for (auto &held : pool)
    tensorscope::release(held);
  recycleAt(0, t, pool);
  for (auto &held : pool)
    (void)held.sum();
}
void notAnnotated(Tensor t) {
  Tensor other = unknown(t);
  recycle(t);
  (void)other.sum();
}
