// SPDX-License-Identifier: Apache-2.0
// Places that may name one object: copies of a pointer, references and pointers to one of several variables.
// RUN: %check_tidy %s tensorscope-use-after-release %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <functional>
#include <map>
#include <memory>
#include <vector>

void use(const torch::Tensor &x);
void useAll(const std::vector<torch::Tensor> &xs);
struct Holder {
  torch::Tensor t;
  std::shared_ptr<torch::Tensor> shared;
};

//===- Copies of a smart pointer ------------------------------------------===//

void writtenThroughTheCopy(std::shared_ptr<torch::Tensor> p, const torch::Tensor &fresh) {
  auto q = p;
  tensorscope::release(*p);
  *q = fresh;
  use(*p);
}
void writtenThroughTheFirst(std::shared_ptr<torch::Tensor> p, const torch::Tensor &fresh) {
  auto q = p;
  tensorscope::release(*q);
  *p = fresh;
  use(*q);
}
void copyOfACopy(std::shared_ptr<torch::Tensor> p, const torch::Tensor &fresh) {
  auto q = p;
  auto r = q;
  tensorscope::release(*p);
  *r = fresh;
  use(*p);
}
void memberThroughTheCopy(std::shared_ptr<Holder> p, const torch::Tensor &fresh) {
  auto q = p;
  tensorscope::release(p->t);
  q->t = fresh;
  use(p->t);
}
void emptiedThroughTheCopy(std::shared_ptr<torch::Tensor> p) {
  auto q = p;
  tensorscope::release(*p);
  tensorscope::drop(*q);
  if (p->defined())
    use(*p);
}
void swappedThroughTheCopy(std::shared_ptr<torch::Tensor> p, torch::Tensor fresh) {
  auto q = p;
  tensorscope::release(*p);
  std::swap(*q, fresh);
  use(*p);
}
void pointerThatIsAMember(Holder &h, const torch::Tensor &fresh) {
  auto q = h.shared;
  tensorscope::release(*h.shared);
  *q = fresh;
  use(*h.shared);
}
void listOfPointers(std::vector<std::shared_ptr<torch::Tensor>> &list, const torch::Tensor &fresh) {
  auto q = list[0];
  tensorscope::release(*q);
  *list[0] = fresh;
  use(*q);
}
void writtenThroughAWeakPointer(std::shared_ptr<torch::Tensor> p, const torch::Tensor &fresh) {
  std::weak_ptr<torch::Tensor> q = p;
  tensorscope::release(*p);
  *q.lock() = fresh;
  use(*p);
}
void writtenThroughTheRawPointer(std::shared_ptr<torch::Tensor> p, const torch::Tensor &fresh) {
  torch::Tensor *q = p.get();
  tensorscope::release(*p);
  *q = fresh;
  use(*p);
}
void writtenThroughAWrapper(torch::Tensor x, const torch::Tensor &fresh) {
  auto r = std::ref(x);
  tensorscope::release(x);
  r.get() = fresh;
  use(x);
}
// Nobody writes through the copy.
void onlyRead(std::shared_ptr<torch::Tensor> p) {
  auto q = p;
  tensorscope::release(*p);
  use(*q);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'q' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// The copy is made to point elsewhere; what the first points to stays.
void boundAnew(std::shared_ptr<torch::Tensor> p, std::shared_ptr<torch::Tensor> other) {
  auto q = p;
  tensorscope::release(*p);
  q = other;
  use(*q);
  use(*p);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'p' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// Two handles are two handles.
void handlesAreNoPointers(torch::Tensor x, const torch::Tensor &fresh) {
  auto y = x;
  tensorscope::release(x);
  y = fresh;
  use(y);
  use(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void memberOfAnObjectThatIsCopied(Holder h, const torch::Tensor &fresh) {
  auto other = h;
  tensorscope::release(h.t);
  other.t = fresh;
  use(h.t);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'h.t' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}

//===- One of several variables -------------------------------------------===//

void releasedByReference(torch::Tensor &a, torch::Tensor &b, bool k) {
  torch::Tensor &r = k ? a : b;
  tensorscope::release(r);
  if (k)
    use(b);
  else
    use(a);
}
void releasedListByReference(std::vector<torch::Tensor> &a, std::vector<torch::Tensor> &b, bool k) {
  auto &r = k ? a : b;
  tensorscope::release(r);
  useAll(k ? b : a);
}
void rewrittenByReference(torch::Tensor &a, torch::Tensor &b, bool k, const torch::Tensor &fresh) {
  tensorscope::release(a);
  torch::Tensor &r = k ? a : b;
  r = fresh;
  if (k)
    use(a);
}
void rewrittenByPointer(torch::Tensor &a, torch::Tensor &b, bool k, const torch::Tensor &fresh) {
  tensorscope::release(a);
  torch::Tensor *r = k ? &a : &b;
  *r = fresh;
  if (k)
    use(a);
}
void rewrittenByALaterPointer(torch::Tensor &a, torch::Tensor &b, bool k, const torch::Tensor &fresh) {
  torch::Tensor *r = &a;
  if (k)
    r = &b;
  tensorscope::release(a);
  *r = fresh;
  use(a);
}
void rewrittenWhereItStands(torch::Tensor &a, torch::Tensor &b, bool k, const torch::Tensor &fresh) {
  tensorscope::release(a);
  (k ? a : b) = fresh;
  use(a);
}
static std::vector<torch::Tensor> &pick(std::vector<torch::Tensor> &a, std::vector<torch::Tensor> &b, int n) {
  if (n % 3 == 0)
    return a;
  return b;
}
void releasedByReferenceFromACallee(std::vector<torch::Tensor> a, std::vector<torch::Tensor> b, int n) {
  auto &r = pick(a, b, n);
  tensorscope::release(r);
  useAll(b);
}
void rewrittenByReferenceFromACallee(std::vector<torch::Tensor> a, std::vector<torch::Tensor> b, int n,
                                     const std::vector<torch::Tensor> &fresh) {
  tensorscope::release(b);
  pick(a, b, n) = fresh;
  useAll(b);
}
// The reference itself is used after the release.
void usedByReference(torch::Tensor &a, torch::Tensor &b, bool k) {
  torch::Tensor &r = k ? a : b;
  tensorscope::release(r);
  use(r);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'r' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// On this way it is the one that was released.
void usedOnTheWay(torch::Tensor &a, torch::Tensor &b, bool k) {
  torch::Tensor &r = k ? a : b;
  tensorscope::release(r);
  if (k)
    use(a);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: use of 'a' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// Both were released, whichever it is.
void bothWereReleased(torch::Tensor &a, torch::Tensor &b, bool k) {
  tensorscope::release(a);
  tensorscope::release(b);
  torch::Tensor &r = k ? a : b;
  use(r);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'r' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
