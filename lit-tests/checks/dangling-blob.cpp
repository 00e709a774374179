// SPDX-License-Identifier: Apache-2.0
// Finds tensors over memory that ends before they do.
// RUN: %check_tidy %s tensorscope-dangling-blob %t
#include <torch/torch.h>

#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

void consume(const torch::Tensor &t);
std::vector<float> load();
void fill(std::vector<float> &v);
struct Image {
  int h = 0, w = 0;
  std::vector<uint8_t> px;
};
Image decode(int i);

// ----- Returned -------------------------------------------------------------

// The array is gone when the function returns.
torch::Tensor localArray() {
  float a[4] = {};
  return torch::from_blob(a, {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'a', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
  // CHECK-FIXES: {{^}}  return torch::from_blob(a, {4}).clone();{{$}}
}

// So are the elements of a local vector, and a view of the tensor is no copy.
torch::Tensor viewOfLocal() {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {4});
  return t.view({2, 2}).unsqueeze(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'v', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}

// A parameter by value is the function's own.
torch::Tensor parameterByValue(std::vector<float> v) {
  return torch::from_blob(v.data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'v', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}

// A temporary does not even live that long.
torch::Tensor temporary() {
  return torch::from_blob(load().data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of a temporary, which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}

// An array in an object, a smart pointer's, one variable.
torch::Tensor localStdArray() {
  std::array<float, 4> a{};
  return torch::from_blob(a.data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'a', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}
torch::Tensor localUniquePointer() {
  std::unique_ptr<float[]> p(new float[4]);
  return torch::from_blob(p.get(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'p', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}
torch::Tensor oneVariable() {
  float x = 3;
  return torch::from_blob(&x, {1});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'x', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}

// What lies in order, and has the type already, is not copied.
torch::Tensor inOrder() {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {4});
  return t.unsqueeze(0).contiguous();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'v', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}
torch::Tensor reshaped() {
  std::vector<float> v(4);
  return torch::from_blob(v.data(), {4}).reshape({2, 2});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'v', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}
torch::Tensor sameType() {
  std::vector<float> v(4);
  return torch::from_blob(v.data(), {4}, torch::kFloat).to(torch::kFloat);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'v', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}
torch::Tensor sameTypeByDefault() {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {4}).toType(torch::kFloat32).cpu();
  t = t.to(torch::kCPU);
  return t.to(torch::kCPU, torch::kFloat);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'v', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}

// Kept from one iteration, if it is.
torch::Tensor bestOfALoop(int n) {
  torch::Tensor best;
  for (int i = 0; i < n; ++i) {
    float buffer[4] = {float(i)};
    auto t = torch::from_blob(buffer, {4});
    if (!best.defined() || t.sum().item<float>() > 0)
      best = t;
  }
  return best;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'buffer', which was destroyed; return a 'clone()' [tensorscope-dangling-blob]
}
torch::Tensor copyOfTheBest(int n) {
  torch::Tensor best;
  for (int i = 0; i < n; ++i) {
    float buffer[4] = {float(i)};
    auto t = torch::from_blob(buffer, {4});
    if (!best.defined() || t.sum().item<float>() > 0)
      best = t.clone();
  }
  return best;
}

// Where it was put in, and not where the list was changed later.
struct Blocks {
  std::vector<torch::Tensor> all;
  void add(std::array<float, 4> block) {
    all.push_back(torch::from_blob(block.data(), {4}));
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'all' keeps a tensor on the memory of 'block', which is gone at the end of this function; store a 'clone()' [tensorscope-dangling-blob]
    if (all.size() > 4)
      all.erase(all.begin());
  }
};

// In a pair, and in a list.
std::pair<torch::Tensor, int> inAPair() {
  std::vector<float> v(4);
  return {torch::from_blob(v.data(), {4}), 1};
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'v', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}
std::vector<torch::Tensor> inAList() {
  std::vector<torch::Tensor> out;
  for (int i = 0; i < 3; ++i) {
    auto img = decode(i);
    out.push_back(torch::from_blob(img.px.data(), {4}, torch::kByte));
  }
  return out;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'img.px', which was destroyed; return a 'clone()' [tensorscope-dangling-blob]
}

// One of two ways out.
torch::Tensor onOneWay(bool copy) {
  float a[4] = {};
  auto t = torch::from_blob(a, {4});
  if (copy)
    return t.clone();
  return t;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'a', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
  // CHECK-FIXES: {{^}}  return t.clone();{{$}}
}

// A deleter with nothing in it owns nothing.
torch::Tensor emptyDeleter() {
  std::vector<float> v(4);
  return torch::from_blob(v.data(), {4}, [](void *) {});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'v', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}

// ----- Used after the end ---------------------------------------------------

void afterTheBlock() {
  torch::Tensor t;
  {
    std::vector<float> v(4);
    t = torch::from_blob(v.data(), {4});
  }
  consume(t);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 't' after 'v', whose memory it borrows, was destroyed; let 'v' live longer, or use a 'clone()' [tensorscope-dangling-blob]
}

void afterDelete() {
  float *p = new float[4];
  auto t = torch::from_blob(p, {4});
  delete[] p;
  consume(t);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 't' after the memory that it borrows was freed; free it later, or use a 'clone()' [tensorscope-dangling-blob]
}

void afterFree() {
  auto *p = static_cast<float *>(std::malloc(16));
  auto t = torch::from_blob(p, {4});
  std::free(p);
  consume(t);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 't' after the memory that it borrows was freed; free it later, or use a 'clone()' [tensorscope-dangling-blob]
}

// Inserting may move the elements.
void afterAnInsertion() {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {4});
  v.push_back(1);
  consume(t);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 't' after the elements of 'v', which it borrows, may have been moved; make it again, or use a 'clone()' [tensorscope-dangling-blob]
}

// What is assigned brings its own elements.
void afterAMove() {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {4});
  v = load();
  consume(t);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 't' after the elements of 'v', which it borrows, were moved; make it again, or use a 'clone()' [tensorscope-dangling-blob]
}

// The vector that `load` gives lives as long as the declaration.
float overATemporary() {
  auto t = torch::from_blob(load().data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 't' borrows the memory of a temporary, which is gone at the end of this statement; give it a name first, or 'clone()' [tensorscope-dangling-blob]
  return t.sum().item<float>();
}

// An insertion at the end of one iteration, a use in the next.
void nextIteration(int n) {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {4});
  for (int i = 0; i < n; ++i) {
    consume(t);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: use of 't' after the elements of 'v', which it borrows, may have been moved; make it again, or use a 'clone()' [tensorscope-dangling-blob]
    v.push_back(1);
  }
}

// ----- Kept -----------------------------------------------------------------

struct Model {
  torch::Tensor input;
  void set() {
    std::vector<float> v(4);
    input = torch::from_blob(v.data(), {4});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'input' keeps a tensor on the memory of 'v', which was destroyed; store a 'clone()' [tensorscope-dangling-blob]
  }
};

torch::Tensor last;
void inAGlobal() {
  float a[4] = {};
  last = torch::from_blob(a, {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'last' keeps a tensor on the memory of 'a', which was destroyed; store a 'clone()' [tensorscope-dangling-blob]
}

void inTheCallersList(std::vector<torch::Tensor> &out) {
  float a[4] = {};
  out.push_back(torch::from_blob(a, {4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: 'out' keeps a tensor on the memory of 'a', which was destroyed; store a 'clone()' [tensorscope-dangling-blob]
}

// ----- Not reported ---------------------------------------------------------

torch::Tensor cloned() {
  std::vector<float> v(4);
  return torch::from_blob(v.data(), {4}).clone();
}

torch::Tensor clonedLater() {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {4});
  t = t.clone();
  return t;
}

torch::Tensor computed() {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {4});
  return t / 255;
}

// Whether `to` copies depends on the device.
torch::Tensor moved(torch::Device device) {
  std::vector<float> v(4);
  return torch::from_blob(v.data(), {4}).to(device);
}

// The deleter owns the vector.
torch::Tensor sharedOwner() {
  auto v = std::make_shared<std::vector<float>>(4);
  return torch::from_blob(v->data(), {4}, [v](void *) {});
}
torch::Tensor movedIntoTheDeleter() {
  std::vector<float> v(4);
  float *p = v.data();
  return torch::from_blob(p, {4}, [keep = std::move(v)](void *) {});
}

// The memory goes with the tensor.
struct Owned {
  std::vector<float> data;
  torch::Tensor t;
};
Owned together() {
  Owned o;
  o.data.resize(4);
  o.t = torch::from_blob(o.data.data(), {4});
  return o;
}
std::pair<std::vector<float>, torch::Tensor> movedAlong() {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {4});
  return {std::move(v), t};
}

// The memory is not the function's.
torch::Tensor ofTheCaller(std::vector<float> &v) { return torch::from_blob(v.data(), {4}); }
torch::Tensor ofAPointer(float *p) { return torch::from_blob(p, {4}); }
torch::Tensor ofAStatic() {
  static float a[4] = {};
  return torch::from_blob(a, {4});
}
struct Cache {
  std::map<int, std::vector<float>> rows;
  torch::Tensor get(int key) {
    auto &row = rows[key];
    return torch::from_blob(row.data(), {4});
  }
};

// The same buffer for each iteration.
void buffer(int n) {
  std::vector<float> v(4);
  for (int i = 0; i < n; ++i) {
    fill(v);
    consume(torch::from_blob(v.data(), {4}));
  }
}

// Made again after the elements were moved.
void madeAgain() {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {4});
  v.push_back(1);
  t = torch::from_blob(v.data(), {5});
  consume(t);
}

// There is room for them.
void reserved() {
  std::vector<float> v;
  v.reserve(8);
  v.push_back(1);
  auto t = torch::from_blob(v.data(), {1});
  v.push_back(2);
  consume(t);
}

// The copy fits where the elements are.
void copiedInto(const std::vector<float> &next) {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {4});
  v = next;
  consume(t);
}

// The branch that frees does not go on.
void freedOnTheWayOut(bool fail) {
  float *p = new float[4];
  auto t = torch::from_blob(p, {4});
  if (fail) {
    delete[] p;
    return;
  }
  consume(t);
  delete[] p;
}

// The flag knows.
void freedByAFlag(bool done) {
  float *p = new float[4];
  auto t = torch::from_blob(p, {4});
  if (done)
    delete[] p;
  if (!done) {
    consume(t);
    delete[] p;
  }
}
torch::Tensor clonedByAFlag(bool own, float *p) {
  std::vector<float> v(4);
  auto t = torch::from_blob(own ? v.data() : p, {4});
  if (own)
    t = t.clone();
  return t;
}

// The shape is the tensor's own.
int64_t shapeOnly() {
  torch::Tensor t;
  {
    std::vector<float> v(4);
    t = torch::from_blob(v.data(), {4});
  }
  return t.size(0) + t.numel();
}

// Copied into an older tensor.
void copiedIntoAnOlderOne(torch::Tensor &out) {
  float a[4] = {};
  out[0] = torch::from_blob(a, {4});
  out.copy_(torch::from_blob(a, {4}));
}

torch::Tensor stacked() {
  std::vector<torch::Tensor> rows;
  std::vector<std::vector<float>> data(3, std::vector<float>(4));
  for (auto &d : data)
    rows.push_back(torch::from_blob(d.data(), {4}));
  return torch::stack(rows);
}

// Each element is cloned in its place.
std::vector<torch::Tensor> clonedInTheList() {
  std::vector<float> v(4);
  std::vector<torch::Tensor> list{torch::from_blob(v.data(), {4})};
  for (auto &t : list)
    t = t.clone();
  return list;
}
std::vector<torch::Tensor> clonedByIndex() {
  std::vector<float> v(4);
  std::vector<torch::Tensor> list;
  list.push_back(torch::from_blob(v.data(), {4}));
  for (size_t i = 0; i < list.size(); ++i)
    list[i] = list[i].clone();
  return list;
}

// The elements of a map outlive the loop over them.
torch::Tensor overAMap() {
  std::map<int, std::vector<float>> rows;
  std::vector<torch::Tensor> list;
  for (auto &[key, row] : rows)
    list.push_back(torch::from_blob(row.data(), {4}));
  for (auto &entry : rows)
    list.push_back(torch::from_blob(entry.second.data(), {4}));
  return torch::stack(list);
}

// The vector that is returned keeps its elements.
std::vector<float> returnedOwner(torch::Tensor &out) {
  std::vector<float> v(4);
  out = torch::from_blob(v.data(), {4});
  return v;
}

// A callee that is not known may have made the elements anything.
torch::Tensor givenAway() {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {4});
  fill(v);
  return t.sum();
}

// Copied: out of order, to another type, or because it was asked for; or
// perhaps.
torch::Tensor outOfOrder() {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {2, 2});
  return t.t().contiguous();
}
torch::Tensor outOfOrderLater() {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {2, 2});
  t = t.permute({1, 0});
  return t.reshape({4});
}
torch::Tensor withStrides(at::IntArrayRef strides) {
  std::vector<float> v(4);
  return torch::from_blob(v.data(), {2, 2}, strides).contiguous();
}
torch::Tensor otherType(torch::Dtype type) {
  std::vector<uint8_t> v(4);
  auto t = torch::from_blob(v.data(), {4}, torch::kByte);
  return t.to(torch::kFloat) + t.to(type);
}
torch::Tensor typeThatIsNotKnown(torch::Dtype type) {
  std::vector<float> v(4);
  return torch::from_blob(v.data(), {4}).to(type);
}
torch::Tensor optionsThatAreNotKnown(const torch::TensorOptions &options) {
  std::vector<float> v(4);
  return torch::from_blob(v.data(), {4}, options).to(torch::kFloat);
}
torch::Tensor copyOfTheSameType() {
  std::vector<float> v(4);
  return torch::from_blob(v.data(), {4}).to(torch::kFloat, /*non_blocking=*/false, /*copy=*/true);
}
torch::Tensor toAnotherDevice() {
  std::vector<float> v(4);
  return torch::from_blob(v.data(), {4}).to(torch::kCUDA);
}
