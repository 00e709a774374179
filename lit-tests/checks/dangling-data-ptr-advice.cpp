// SPDX-License-Identifier: Apache-2.0
// Pointers into a tensor of the caller's, given out: a temporary ends before its pointer is used.
// RUN: %check_tidy %s tensorscope-dangling-data-ptr %t "--config={CheckOptions: {tensorscope-dangling-data-ptr.Advice: true}}"
// RUN: %check_tidy %s tensorscope-dangling-data-ptr %t.without --check-suffixes=WITHOUT
#include <torch/torch.h>

#include <string>
#include <vector>

struct Image {
  Image(int64_t rows, float *at) : rows(rows), at(at) {}
  int64_t rows;
  float *at;
};

class Matrix {
public:
  Matrix(int64_t rows, void *at) : rows(rows), at(at) {}
  ~Matrix();

private:
  int64_t rows;
  void *at;
};

float *pointer(const torch::Tensor &t) {
  return t.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result points into 't', which is gone after the call where the caller gives a temporary; take a named tensor ('Tensor &'), or give out a copy [tensorscope-dangling-data-ptr]
}
Image object(const torch::Tensor &t) {
  return Image(t.size(0), t.data_ptr<float>());
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result points into 't', {{.*}} [tensorscope-dangling-data-ptr]
}
Matrix matrix(const torch::Tensor &t) {
  return Matrix(t.size(0), t.data_ptr());
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result points into 't', {{.*}} [tensorscope-dangling-data-ptr]
  // CHECK-MESSAGES-WITHOUT: :[[@LINE-2]]:3: warning: the result points into 't', {{.*}} [tensorscope-dangling-data-ptr]
}
Image named(const torch::Tensor &t) {
  float *p = t.data_ptr<float>();
  Image image(t.size(0), p);
  return image;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result points into 't', {{.*}} [tensorscope-dangling-data-ptr]
}
torch::Tensor overIt(const torch::Tensor &t) {
  return torch::from_blob(t.data_ptr<float>(), {2});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result points into 't', {{.*}} [tensorscope-dangling-data-ptr]
  // CHECK-MESSAGES-WITHOUT: :[[@LINE-2]]:3: warning: the result points into 't', {{.*}} [tensorscope-dangling-data-ptr]
}
template <typename T> T *ofAnyType(const torch::Tensor &t) {
  return t.data_ptr<T>();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result points into 't', {{.*}} [tensorscope-dangling-data-ptr]
}
float usesAny(torch::Tensor &t) { return *ofAnyType<float>(t); }

// ----- Not reported ---------------------------------------------------------

float *ofANamedTensor(torch::Tensor &t) { return t.data_ptr<float>(); }
float *ofAHandle(torch::Tensor *t) { return t->data_ptr<float>(); }
const float *ofAConstHandle(const torch::Tensor *t) { return t->data_ptr<float>(); }
std::vector<float> copied(const torch::Tensor &t) {
  return std::vector<float>(t.data_ptr<float>(), t.data_ptr<float>() + t.numel());
}
std::string text(const torch::Tensor &t) { return std::string(t.data_ptr<char>(), t.numel()); }
float number(const torch::Tensor &t) { return *t.data_ptr<float>(); }
uintptr_t address(const torch::Tensor &t) { return reinterpret_cast<uintptr_t>(t.data_ptr()); }
torch::Tensor cloned(const torch::Tensor &t) { return torch::from_blob(t.data_ptr<float>(), {2}).clone(); }

struct Holder {
  torch::Tensor own;
  float *data() const { return own.data_ptr<float>(); }
};
struct Pair {
  torch::Tensor owner;
  float *at;
};
Pair together(const torch::Tensor &t) { return Pair{t, t.data_ptr<float>()}; }
// A caller in this file is looked at itself.
static float *ofThisFile(const torch::Tensor &t) { return t.data_ptr<float>(); }
float byALambda(const torch::Tensor &x) {
  auto at = [](const torch::Tensor &t) { return t.data_ptr<float>(); };
  return at(x)[0] + ofThisFile(x)[0];
}
// Temporaries are refused.
float *guarded(const torch::Tensor &t) { return t.data_ptr<float>(); }
float *guarded(torch::Tensor &&t) = delete;
// One way gives out what lives on.
extern float fallback[4];
float *eitherWay(const torch::Tensor &t) { return t.defined() ? t.data_ptr<float>() : fallback; }
