// SPDX-License-Identifier: Apache-2.0
// Finds functions whose bodies do not do what a model or an annotation says of them.
// RUN: %check_tidy %s tensorscope-contradicted-model %t
#include <tensorscope/annotations.h>
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <functional>
#include <vector>

using torch::Tensor;
void somewhere(Tensor t);
Tensor somehow(const Tensor &t);
struct Frame {
  Tensor pixels;
};
std::vector<Tensor> pool;

//===- The body does otherwise ---------------------------------------------===//

TENSORSCOPE_RELEASES(0) void onlyDropsIt(Tensor frame) { frame = Tensor(); }
// CHECK-MESSAGES: :[[@LINE-1]]:30: warning: 'onlyDropsIt' is annotated to release 'frame', and no path through its body does; what its callers are told is wrong [tensorscope-contradicted-model]
TENSORSCOPE_RELEASES(1) void releasesTheOther(Tensor a, Tensor b) { tensorscope::release(a); }
// CHECK-MESSAGES: :[[@LINE-1]]:30: warning: 'releasesTheOther' is annotated to release 'b', and no path {{.*}}
TENSORSCOPE_RETAINS(0) void neverRetains(const Tensor &) {}
// CHECK-MESSAGES: :[[@LINE-1]]:29: warning: 'neverRetains' is annotated to retain argument 0, and no path {{.*}}
TENSORSCOPE_RETURNS_NEW Tensor topHalf(const Tensor &image) { return image.narrow(0, 0, 4); }
// CHECK-MESSAGES: :[[@LINE-1]]:32: warning: 'topHalf' is annotated to return a new tensor, and its body returns what 'image' holds, or a view of it; {{.*}}
TENSORSCOPE_VIEW_OF(0) Tensor copied(const Tensor &image) { return image.clone(); }
// CHECK-MESSAGES: :[[@LINE-1]]:31: warning: 'copied' is annotated to return a view of 'image', and its body returns another; {{.*}}
TENSORSCOPE_VIEW_OF(0) Tensor second(const Tensor &a, const Tensor &b) { return b; }
// CHECK-MESSAGES: :[[@LINE-1]]:31: warning: 'second' is annotated to return a view of 'a', and its body returns another; {{.*}}
TENSORSCOPE_RELEASES(2) void hasNoThird(Tensor a, Tensor b) { tensorscope::release(a); }
// CHECK-MESSAGES: :[[@LINE-1]]:30: warning: 'hasNoThird' is annotated to act on argument 2, which it does not have; {{.*}}
// The header's annotation holds for the definition.
TENSORSCOPE_RELEASES(0) void declaredBefore(Tensor frame);
void declaredBefore(Tensor frame) { (void)frame.sum(); }
// CHECK-MESSAGES: :[[@LINE-1]]:6: warning: 'declaredBefore' is annotated to release 'frame', {{.*}}

//===- The body does as it is said, or leaves it open ----------------------===//

TENSORSCOPE_RELEASES(0) void releases(Tensor frame) { tensorscope::release(frame); }
TENSORSCOPE_RELEASES(0) void releasesMembers(Frame &frame) { tensorscope::release(frame.pixels); }
TENSORSCOPE_RELEASES(0) void releasesOnAPath(Tensor frame, bool now) {
  if (now)
    tensorscope::release(frame);
}
TENSORSCOPE_RELEASES(0) void releasesElsewhere(Tensor frame) { somewhere(frame); }
TENSORSCOPE_RELEASES(0) void releasesByACallable(Tensor frame, const std::function<void(Tensor)> &give) { give(frame); }
TENSORSCOPE_RELEASES(0) void releasesThroughACallee(Tensor frame) { releases(frame); }
TENSORSCOPE_RELEASES(0) void freesAHandle(void *handle) { delete static_cast<Tensor *>(handle); }
TENSORSCOPE_RELEASES(0) void freesAPointer(Tensor *tensor) { delete tensor; }
TENSORSCOPE_RELEASES(0) void givesUp(Tensor) { throw 1; }
TENSORSCOPE_RETAINS(0) void retains(const Tensor &t) { tensorscope::retain(t); }
TENSORSCOPE_RETAINS(0) void retainsInAPool(const Tensor &t) { pool.push_back(tensorscope::retain(t)); }
TENSORSCOPE_RETURNS_NEW Tensor makes(const Tensor &t) { return t.clone(); }
TENSORSCOPE_RETURNS_NEW Tensor makesOrNot(const Tensor &t, bool copy) { return copy ? t.clone() : somehow(t); }
TENSORSCOPE_VIEW_OF(0) Tensor views(const Tensor &t) { return t.narrow(0, 0, 4); }
TENSORSCOPE_VIEW_OF(0) Tensor viewsSomehow(const Tensor &t) { return somehow(t); }
TENSORSCOPE_VIEW_OF(0) Tensor mayView(const Tensor &t) { return t.contiguous(); }
TENSORSCOPE_SCOPE void perStep(const std::function<void()> &body) { tensorscope::with_torch(body); }
TENSORSCOPE_NO_GRAD Tensor evaluates(const Tensor &t) { return t.detach(); }
struct Cache {
  Tensor held;
  TENSORSCOPE_RETAINS(this) void pin() { tensorscope::retain(held); }
  TENSORSCOPE_VIEW_OF(this) Tensor get() const { return held; }
};
template <class T> TENSORSCOPE_RELEASES(0) void releasesAny(T t) { tensorscope::release(t); }
template void releasesAny<Tensor>(Tensor);
