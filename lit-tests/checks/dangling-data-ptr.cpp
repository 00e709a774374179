// SPDX-License-Identifier: Apache-2.0
// Finds pointers, accessors and array references that outlive what they point into.
// RUN: %check_tidy %s tensorscope-dangling-data-ptr %t
#include <torch/torch.h>

#include <algorithm>
#include <cstring>
#include <vector>

void consume(const torch::Tensor &t);
void take(at::IntArrayRef sizes);

// ----- A temporary tensor ---------------------------------------------------

// The product is gone at the end of the declaration.
float ofAProduct(const torch::Tensor &x) {
  auto p = (x * 2).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'p' points into a temporary tensor, which is gone at the end of this statement; give the tensor a name first [tensorscope-dangling-data-ptr]
  return p[0];
}

// A transposed tensor is copied by `contiguous`.
float ofATransposed(const torch::Tensor &x) {
  const float *p = x.t().contiguous().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:39: warning: 'p' points into a temporary tensor, which is gone at the end of this statement; give the tensor a name first [tensorscope-dangling-data-ptr]
  return p[0];
}

// `to`, `cpu` and `contiguous` may make a copy, which is gone then.
float mayBeACopy(const torch::Tensor &x) {
  float *p = x.to(torch::kCPU).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: 'p' points into a temporary tensor, which is gone at the end of this statement, where 'to' makes a copy; give the tensor a name first [tensorscope-dangling-data-ptr]
  return p[1];
}
float mayBeOrdered(const torch::Tensor &x) {
  const float *p = x.contiguous().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: 'p' points into a temporary tensor, which is gone at the end of this statement, where 'contiguous' makes a copy; give the tensor a name first [tensorscope-dangling-data-ptr]
  return p[1];
}

// A part of a tuple that has no name.
int64_t partOfATemporary(const torch::Tensor &x) {
  auto *p = std::get<1>(x.max(1)).data_ptr<int64_t>();
  // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: 'p' points into a temporary tensor, which is gone at the end of this statement; give the tensor a name first [tensorscope-dangling-data-ptr]
  return p[0];
}
int64_t partOfATuple(const torch::Tensor &x) {
  auto both = x.max(1);
  auto *p = std::get<1>(both).data_ptr<int64_t>();
  auto *q = std::get<0>(std::move(both)).data_ptr<float>();
  return p[0] + int64_t(q[0]);
}

// One of two variables in one declaration.
float twoInOneDeclaration(const torch::Tensor &x) {
  const float *p = (x * 2).data_ptr<float>(), *q = x.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: 'p' points into a temporary tensor, which is gone at the end of this statement; give the tensor a name first [tensorscope-dangling-data-ptr]
  return p[0] + q[0];
}

// Sizes that a view is given are read.
torch::Tensor sizesForAView(const torch::Tensor &x, const torch::Tensor &y) {
  auto named = y.sizes();
  auto s = (y * 2).sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 's' points into a temporary tensor, which is gone at the end of this statement; give the tensor a name first [tensorscope-dangling-data-ptr]
  return x.view(named) + x.view(s);
}

// `reshape` copies what does not lie in order, and nobody expects it to.
float reshaped(const torch::Tensor &x) {
  const float *p = x.flatten().data_ptr<float>();
  const float *q = x.reshape({-1}).data_ptr<float>();
  return p[0] + q[0];
}
float reshapedOutOfOrder(const torch::Tensor &x) {
  const float *p = x.t().flatten().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: 'p' points into a temporary tensor, which is gone at the end of this statement, where 'flatten' makes a copy; give the tensor a name first [tensorscope-dangling-data-ptr]
  return p[0];
}

// A header over foreign memory keeps the pointer.
struct View {
  const float *at = nullptr;
  int64_t count = 0;
};
float inAView(const torch::Tensor &x) {
  View view{(x * 2).cpu().data_ptr<float>(), x.numel()};
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: 'view.at' points into a temporary tensor, which is gone at the end of this statement, where 'cpu' makes a copy; give the tensor a name first [tensorscope-dangling-data-ptr]
  return view.at[0];
}

// The sizes are the tensor's, too.
int64_t sizesOfATemporary(const torch::Tensor &x) {
  auto s = (x * 2).sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 's' points into a temporary tensor, which is gone at the end of this statement; give the tensor a name first [tensorscope-dangling-data-ptr]
  return s[0];
}

// ----- An array reference ---------------------------------------------------

int64_t ofAList(int64_t n) {
  at::IntArrayRef s = {n, n};
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 's' views a temporary, which is gone at the end of this statement; keep a 'std::vector' [tensorscope-dangling-data-ptr]
  return s[0];
}

struct Spec {
  explicit Spec(at::IntArrayRef s) : shape(s) {}
  at::IntArrayRef shape;
};
int64_t keptByAConstructor(int64_t n) {
  Spec spec({n, n + 1});
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'spec.shape' views a temporary, which is gone at the end of this statement; keep a 'std::vector' [tensorscope-dangling-data-ptr]
  return spec.shape[0];
}

at::IntArrayRef ofALocalVector() {
  std::vector<int64_t> v{1, 2};
  return v;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result views 'v', which is gone at the end of this function; give out a 'std::vector' [tensorscope-dangling-data-ptr]
}

// ----- A local tensor -------------------------------------------------------

float *returned() {
  auto t = torch::ones({3});
  return t.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result points into a local tensor, which is gone at the end of this function; give out the tensor with it [tensorscope-dangling-data-ptr]
}
at::IntArrayRef sizesReturned(const torch::Tensor &x) {
  auto y = x * 2;
  return y.sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result points into a local tensor, which is gone at the end of this function; give out the tensor with it [tensorscope-dangling-data-ptr]
}
struct HeightMap {
  at::TensorAccessor<float, 2> cells;
};
HeightMap accessorReturned(int64_t n) {
  auto t = torch::ones({n, n});
  return HeightMap{t.accessor<float, 2>()};
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result points into a local tensor, which is gone at the end of this function; give out the tensor with it [tensorscope-dangling-data-ptr]
}
float afterTheBlock(const torch::Tensor &x) {
  const float *p = nullptr;
  {
    auto y = x.exp();
    p = y.data_ptr<float>();
  }
  return *p;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: use of 'p' after 'y', which it points into, was destroyed; let it live longer [tensorscope-dangling-data-ptr]
}

// ----- Another tensor, another size -----------------------------------------

float rebound() {
  auto t = torch::ones({3});
  float *p = t.data_ptr<float>();
  t = torch::zeros({4});
  return p[0];
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: use of 'p' after 't', which it points into, was given another tensor; keep the first one, or take the pointer again [tensorscope-dangling-data-ptr]
}

void resized(torch::Tensor t, int64_t n) {
  float *p = t.data_ptr<float>();
  t.resize_({n});
  p[0] = 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'p' after 't', which it points into, was resized: its memory may be elsewhere; take the pointer again [tensorscope-dangling-data-ptr]
}

// A member that points into another one, in a branch.
struct Workspace {
  torch::Tensor ws = torch::empty({1024});
  float *scratch = ws.data_ptr<float>();
  void need(int64_t n) {
    if (ws.numel() < n)
      ws.resize_({n});
    scratch[0] = 1;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: use of 'scratch' after 'ws', which it points into, was resized: its memory may be elsewhere; take the pointer again [tensorscope-dangling-data-ptr]
  }
};

// ----- Not reported ---------------------------------------------------------

float named(const torch::Tensor &x) {
  auto c = x.contiguous();
  const float *p = c.data_ptr<float>();
  return p[0];
}

// In one expression.
float atOnce(const torch::Tensor &x) { return *x.contiguous().data_ptr<float>(); }
void copiedAtOnce(const torch::Tensor &x, float *out) {
  std::memcpy(out, x.cpu().data_ptr<float>(), x.nbytes());
}
std::vector<float> rangeAtOnce(const torch::Tensor &x) {
  return {x.data_ptr<float>(), x.data_ptr<float>() + x.numel()};
}
std::vector<int64_t> sizesAtOnce(const torch::Tensor &x) { return (x * 2).sizes().vec(); }
void listAtOnce(int64_t n) { take({n, n}); }

// A reference keeps the temporary.
float keptByAReference(const torch::Tensor &x) {
  const auto &c = x.contiguous();
  const float *p = c.data_ptr<float>();
  return p[0];
}

// The tensor goes with it.
struct OwnedMap {
  torch::Tensor owner;
  at::TensorAccessor<float, 2> cells;
};
OwnedMap together(int64_t n) {
  auto t = torch::ones({n, n});
  return OwnedMap{t, t.accessor<float, 2>()};
}

// Another handle, a view, a list holds the memory.
float heldElsewhere() {
  auto t = torch::ones({5});
  auto other = t;
  float *p = t.data_ptr<float>();
  t = torch::zeros({5});
  consume(other);
  return p[0];
}
float heldByAView() {
  auto t = torch::ones({5, 5});
  float *p = t.data_ptr<float>();
  t = t.view({25});
  return p[0];
}
float heldByAList(std::vector<torch::Tensor> &list) {
  auto t = torch::ones({5});
  list.push_back(t);
  float *p = t.data_ptr<float>();
  t = torch::zeros({5});
  return p[0];
}

// A function of another file may hold it.
float heldByWhom() {
  auto t = torch::ones({2});
  float *p = t.data_ptr<float>();
  consume(t);
  t = torch::zeros({2});
  return p[0];
}

// Taken again.
void takenAgain(torch::Tensor t, int64_t n) {
  float *p = t.data_ptr<float>();
  t.resize_({n});
  p = t.data_ptr<float>();
  p[0] = 1;
}
struct Grower {
  torch::Tensor ws = torch::empty({1024});
  float *scratch = ws.data_ptr<float>();
  void need(int64_t n) {
    if (ws.numel() < n)
      ws.resize_({n});
    scratch = ws.data_ptr<float>();
    scratch[0] = 1;
  }
};
// Where it points is not known: it is set from outside, too.
struct Attached {
  torch::Tensor ws = torch::empty({1024});
  float *scratch = ws.data_ptr<float>();
  void attach(float *p) { scratch = p; }
  void need(int64_t n) {
    ws.resize_({n});
    scratch[0] = 1;
  }
};

// A new tensor lies in order, and on the CPU: nothing is copied.
float plain() {
  auto t = torch::ones({3});
  float *p = t.contiguous().data_ptr<float>();
  float *q = t.to(torch::kCPU).data_ptr<float>();
  return p[0] + q[0];
}

int64_t ofAVectorThatStays(const std::vector<int64_t> &v) {
  at::IntArrayRef s = v;
  return s[0];
}
int64_t listThatIsCopied(int64_t n) {
  std::vector<int64_t> s = {n, n};
  return s[0];
}

// What LibTorch makes of a list keeps tensors and numbers, and no reference to the list.
struct KeptMesh {
  std::vector<torch::Tensor> parts;
};
torch::Tensor madeOfLists(const torch::Tensor &x) {
  torch::data::transforms::Normalize<> normalize({0.4, 0.5}, {0.2, 0.3});
  auto named = torch::meshgrid({x, x});
  std::vector<torch::Tensor> parts = torch::meshgrid({x, x * 2});
  std::vector<torch::Tensor> more;
  more = torch::meshgrid({x, x});
  KeptMesh kept{torch::meshgrid({x})};
  return normalize(parts[1] + named[0] + more[0] + kept.parts[0]);
}
std::vector<torch::Tensor> meshReturned(const torch::Tensor &x) {
  auto parts = torch::meshgrid({x, x});
  return parts;
}
// Nor of the tensors that a reference leads to.
std::vector<torch::Tensor> copiedFromAReference(const torch::Tensor &x) {
  std::vector<torch::Tensor> named{x, x};
  at::TensorList list = named;
  std::vector<torch::Tensor> copies(list.begin(), list.end());
  copies.insert(copies.end(), list.begin(), list.end());
  return copies;
}
std::vector<torch::Tensor> copiedAtOnce(const torch::Tensor &x) {
  std::vector<torch::Tensor> named{x, x};
  return at::TensorList(named).vec();
}
static std::vector<torch::Tensor> copiedByACallee(at::TensorList list) { return {list.begin(), list.end()}; }
torch::Tensor throughACallee(const torch::Tensor &x) {
  auto copies = copiedByACallee({x, x});
  return copies[0];
}
// A pair with a reference in it keeps that.
int64_t pairOfAReference(int64_t n) {
  auto both = std::make_pair(at::IntArrayRef({n, n}), 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: 'both.first' views a temporary, which is gone at the end of this statement; keep a 'std::vector' [tensorscope-dangling-data-ptr]
  return both.first[0];
}

// Nothing is read.
void unused(const torch::Tensor &x) {
  auto p = (x * 2).data_ptr<float>();
  (void)p;
}

// Pointers that have nothing to do with tensors are other tools'.
int notOurs() {
  std::vector<int> v{1};
  int *p = v.data();
  v.push_back(2);
  return *p;
}

// False negative: a list of references to elements of a temporary.
const torch::Tensor *elementOfATemporary(std::vector<torch::Tensor> (*make)()) { return &make()[0]; }
