// SPDX-License-Identifier: Apache-2.0
// Memory that ends in the caller of who made the tensor, or in a callee.
// RUN: %check_tidy %s tensorscope-dangling-blob %t
#include <torch/torch.h>

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

void consume(const torch::Tensor &t);

static torch::Tensor over(std::vector<float> &v) {
  return torch::from_blob(v.data(), {int64_t(v.size())});
}
static torch::Tensor overPointer(float *p, int64_t n) {
  auto t = torch::from_blob(p, {n});
  return t.view({1, n});
}

// The callee gives back a tensor over what it was given.
torch::Tensor throughACallee() {
  std::vector<float> v(4);
  return over(v);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'v', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}
torch::Tensor throughAPointer() {
  float a[4] = {};
  return overPointer(a, 4);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'a', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}

// Through two of them.
static torch::Tensor twice(std::vector<float> &v) { return over(v).squeeze(); }
torch::Tensor throughTwo() {
  std::vector<float> v(4);
  auto t = twice(v);
  return t;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'v', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}

// The callee stores it.
struct Model {
  torch::Tensor input;
  void set(float *p) { input = torch::from_blob(p, {4}); }
};
void throughAStore(Model &m) {
  float a[4] = {};
  m.set(a);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'm.input' keeps a tensor on the memory of 'a', which was destroyed; store a 'clone()' [tensorscope-dangling-blob]
}

// The callee frees it.
static void dispose(float *p) { delete[] p; }
void freedByACallee() {
  float *p = new float[4];
  auto t = torch::from_blob(p, {4});
  dispose(p);
  consume(t);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 't' after the memory that it borrows was freed; free it later, or use a 'clone()' [tensorscope-dangling-blob]
}

// The callee allocates it.
static float *grab() { return static_cast<float *>(std::malloc(16)); }
void allocatedByACallee() {
  float *p = grab();
  auto t = torch::from_blob(p, {4});
  std::free(p);
  consume(t);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 't' after the memory that it borrows was freed; free it later, or use a 'clone()' [tensorscope-dangling-blob]
}

// The callee moves the elements.
static void grow(std::vector<float> &v) { v.push_back(1); }
void movedByACallee() {
  std::vector<float> v(4);
  auto t = torch::from_blob(v.data(), {4});
  grow(v);
  consume(t);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 't' after the elements of 'v', which it borrows, may have been moved; make it again, or use a 'clone()' [tensorscope-dangling-blob]
}

// A class that frees its memory at its end.
class Buffer {
 public:
  explicit Buffer(int n) : p(new float[n]) {}
  ~Buffer() { delete[] p; }
  float *get() { return p; }

 private:
  float *p;
};
torch::Tensor ofAnOwner() {
  Buffer b(4);
  return torch::from_blob(b.get(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of what was freed; return a 'clone()' [tensorscope-dangling-blob]
}

// A member function that gives out what its object owns.
struct Rows {
  std::vector<float> rows;
  float *data() { return rows.data(); }
  std::vector<float> &all() { return rows; }
};
torch::Tensor ofAnObject() {
  Rows r;
  return torch::from_blob(r.data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'r.rows', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}
torch::Tensor ofAReference() {
  Rows r;
  return torch::from_blob(r.all().data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'r.rows', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}

// A lambda of the same function.
torch::Tensor throughALambda() {
  std::vector<float> v(4);
  auto make = [&] { return torch::from_blob(v.data(), {4}); };
  return make();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'v', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
}

// In a lambda, of its own memory.
void inALambda() {
  auto make = [] {
    std::vector<float> v(4);
    return torch::from_blob(v.data(), {4});
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the result borrows the memory of 'v', which is gone at the end of this function; return a 'clone()' [tensorscope-dangling-blob]
  };
  consume(make());
}

// ----- Not reported ---------------------------------------------------------

torch::Tensor clonedAfterwards() {
  std::vector<float> v(4);
  return over(v).clone();
}

float usedHere() {
  std::vector<float> v(4);
  return over(v).sum().item<float>();
}

static torch::Tensor copyOf(std::vector<float> &v) { return torch::from_blob(v.data(), {4}).clone(); }
torch::Tensor copied() {
  std::vector<float> v(4);
  return copyOf(v);
}

// Which of them is freed depends on the object.
class Maybe {
 public:
  Maybe(float *p, bool owns) : p(p), owns(owns) {}
  ~Maybe() {
    if (owns)
      delete[] p;
  }
  float *get() { return p; }

 private:
  float *p;
  bool owns;
};
torch::Tensor notOwned(float *memory) {
  Maybe m(memory, false);
  return torch::from_blob(m.get(), {4});
}

// The object goes with the tensor.
struct Batch {
  Rows rows;
  torch::Tensor t;
};
Batch together() {
  Batch b;
  b.t = torch::from_blob(b.rows.data(), {4});
  return b;
}

// What the callee gives back is the caller's.
torch::Tensor ofTheCaller(Rows &r) { return torch::from_blob(r.data(), {4}); }

// False negative: nothing is known of a function of another file.
torch::Tensor overElsewhere(std::vector<float> &v);
torch::Tensor throughAnUnknownCallee() {
  std::vector<float> v(4);
  return overElsewhere(v);
}
