// SPDX-License-Identifier: Apache-2.0
// RUN: %check_tidy %s tensorscope-use-after-release %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

void log_tensor(const torch::Tensor &x);

//===- The handle itself --------------------------------------------------===//

// Metadata, arithmetic, an argument, a return value: each is a use.
void handle() {
  auto x = torch::randn({101, 7});
  tensorscope::release(x);
  (void)x.size(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void arithmetic() {
  auto x = torch::randn({101, 7});
  tensorscope::release(x);
  auto y = x + 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
  (void)y;
}
void argument() {
  auto x = torch::randn({101, 7});
  tensorscope::release(x);
  log_tensor(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
float item() {
  auto x = torch::randn({1});
  tensorscope::release(x);
  return x.item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void inPlace() {
  auto x = torch::zeros({3});
  tensorscope::release(x);
  x += 5;
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void asTarget(const torch::Tensor &source) {
  auto x = torch::zeros({3});
  tensorscope::release(x);
  x.copy_(source);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// One statement is one finding, however often it looks at the tensor.
void elementWritten() {
  auto x = torch::zeros({3});
  tensorscope::release(x);
  x[1] = 7;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void backward(const torch::Tensor &w) {
  auto loss = (w * 3).sum();
  tensorscope::release(loss);
  loss.backward();
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: use of 'loss' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}

// Each line that uses it is named: they may be far apart.
void twoUses() {
  auto x = torch::randn({101, 7});
  tensorscope::release(x);
  (void)x.size(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
  (void)x.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}

// A parameter is released as well as a local.
float parameter(torch::Tensor x) {
  tensorscope::release(x);
  return x.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
float constantReference(const torch::Tensor &x) {
  tensorscope::release(x);
  return x.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}

// A member.
struct Holder {
  torch::Tensor value;
  float lateSum() {
    tensorscope::release(value);
    return value.sum().item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: use of 'value' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
  }
};

// A global.
static torch::Tensor shared_state;
float global() {
  tensorscope::release(shared_state);
  return shared_state.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: use of 'shared_state' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}

//===- Aliases and views --------------------------------------------------===//

void alias() {
  auto x = torch::randn({8, 9});
  auto other = x;
  tensorscope::release(x);
  (void)other.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: use of 'other' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void reference() {
  auto x = torch::randn({8, 9});
  auto &other = x;
  tensorscope::release(other);
  (void)x.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void views() {
  auto x = torch::randn({8, 9});
  auto flat = x.view({72});
  auto row = x[3];
  auto part = x.narrow(0, 2, 5);
  auto turned = x.t();
  auto free_of_graph = x.detach();
  tensorscope::release(x);
  (void)flat.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: use of 'flat' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
  (void)row.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: use of 'row' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
  (void)part.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: use of 'part' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
  (void)turned.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: use of 'turned' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
  (void)free_of_graph.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: use of 'free_of_graph' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// Releasing a view releases what it views.
void releasedThroughAView() {
  auto x = torch::randn({8, 9});
  auto row = x[3];
  tensorscope::release(row);
  (void)x.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void viewOfAView() {
  auto x = torch::randn({8, 9});
  auto cell = x[3].narrow(0, 1, 2);
  tensorscope::release(x);
  (void)cell.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: use of 'cell' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void chunks() {
  auto x = torch::randn({9, 9});
  auto parts = x.chunk(3);
  tensorscope::release(x);
  (void)parts[0].sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: use of 'parts[...]' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// A copy has a storage of its own.
void copies() {
  auto x = torch::randn({8, 9});
  auto copy = x.clone();
  auto sum = x + 1;
  tensorscope::release(x);
  (void)copy.sum();
  (void)sum.sum();
}
// contiguous(), reshape() and to() may give a view or a copy: nothing certain, nothing said.
void mayBeAView() {
  auto x = torch::randn({8, 9});
  auto dense = x.contiguous();
  tensorscope::release(x);
  (void)dense.sum();
}
// A raw pointer into the storage.
float rawPointer() {
  auto x = torch::zeros({16});
  const float *p = x.data_ptr<float>();
  tensorscope::release(x);
  return p[0];
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: use of 'p' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
float accessor() {
  auto x = torch::zeros({16});
  auto a = x.accessor<float, 1>();
  tensorscope::release(x);
  return a[0];
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: use of 'a' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// A moved handle is the same tensor.
void moved() {
  auto x = torch::randn({8, 9});
  auto y = std::move(x);
  tensorscope::release(y);
  (void)y.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: use of 'y' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void captured() {
  auto x = torch::randn({8, 9});
  auto later = [x] { return x.sum().item<float>(); };
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
  tensorscope::release(x);
  (void)later();
}
void smartPointer() {
  auto x = std::make_shared<torch::Tensor>(torch::ones({3}));
  tensorscope::release(*x);
  (void)x->sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: use of 'x' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}

//===- Containers and structures ------------------------------------------===//

void vectorReleased(std::vector<torch::Tensor> &layers) {
  tensorscope::release(layers);
  (void)layers.front().sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: use of 'layers[...]' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void elementTakenBefore() {
  std::map<int, torch::Tensor> cache;
  cache[13] = torch::ones({4});
  auto kept = cache[13];
  tensorscope::release(cache);
  (void)kept.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: use of 'kept' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void iteratedAfterwards(std::vector<torch::Tensor> layers) {
  tensorscope::release(layers);
  for (const auto &layer : layers)
    (void)layer.sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: use of 'layers[...]' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void optionalReleased(std::optional<torch::Tensor> mask) {
  tensorscope::release(mask);
  if (mask)
    (void)mask->sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: use of 'mask' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void tupleReleased() {
  auto both = torch::ones({7}).topk(3);
  auto [values, indices] = both;
  tensorscope::release(both);
  (void)values.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: use of 'values' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
struct Pair {
  torch::Tensor mean, deviation;
};
void structureReleased(Pair p) {
  tensorscope::release(p);
  (void)p.mean.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: use of 'p.mean' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void otherMember(Pair p) {
  tensorscope::release(p.mean);
  (void)p.deviation.sum();
  (void)p.mean.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: use of 'p.mean' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
// A list cleared and filled anew holds other tensors.
void filledAnew(std::vector<torch::Tensor> layers) {
  tensorscope::release(layers);
  layers.clear();
  layers.push_back(torch::ones({3}));
  (void)layers.front().sum();
}
// The length of a released list is no use of its tensors.
size_t lengthOnly(std::vector<torch::Tensor> layers) {
  tensorscope::release(layers);
  return layers.size();
}

//===- No use -------------------------------------------------------------===//

// Twice is once; asking whether it is alive, and dropping the handle, are legal.
void twice() {
  auto x = torch::ones({4});
  tensorscope::release(x);
  tensorscope::release(x);
}
void asked() {
  auto x = torch::ones({4});
  tensorscope::release(x);
  if (tensorscope::alive(x))
    (void)x.sum();
}
void dropped() {
  auto x = torch::ones({4});
  tensorscope::release(x);
  x.reset();
}
void definedOnly() {
  auto x = torch::ones({4});
  tensorscope::release(x);
  (void)x.defined();
}
// defined() stays true after a release, so it guards only where the handle was given up too.
void guardedByDefined(bool done) {
  auto x = torch::ones({4});
  if (done) {
    tensorscope::release(x);
    x = torch::Tensor();
  }
  if (x.defined())
    (void)x.sum();
}
void definedDoesNotGuard(bool done) {
  auto x = torch::ones({4});
  if (done)
    tensorscope::release(x);
  if (x.defined())
    (void)x.sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: use of 'x' after it was released on some path: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void assignedAgain() {
  auto x = torch::ones({4});
  tensorscope::release(x);
  x = torch::zeros({4});
  (void)x.sum();
}
void swapped() {
  auto x = torch::ones({4}), y = torch::zeros({4});
  tensorscope::release(x);
  std::swap(x, y);
  (void)x.sum();
}
