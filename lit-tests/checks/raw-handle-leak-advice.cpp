// SPDX-License-Identifier: Apache-2.0
// Raw pointers that alone own something while LibTorch may throw.
// RUN: %check_tidy %s tensorscope-raw-handle-leak %t "--config={CheckOptions: {tensorscope-raw-handle-leak.Advice: true}}"
// RUN: %check_tidy %s tensorscope-raw-handle-leak %t.without --check-suffixes=WITHOUT --expect-clean
#include <torch/torch.h>

#include <cstdlib>
#include <memory>

using torch::Tensor;

struct Data {
  Tensor tensor;
};
struct Handle {
  int dims;
  Data *data;
};

Handle *bothLost(int64_t n, int count) {
  Handle *handle = static_cast<Handle *>(malloc(sizeof(Handle)));
  // CHECK-NOTES: :[[@LINE-1]]:42: warning: what 'malloc' makes here is lost if LibTorch throws while 'handle' alone owns it; hold it in an object that frees it [tensorscope-raw-handle-leak]
  handle->dims = 1;
  for (int i = 0; i < count; ++i)
    n *= 2;
  Data *data = new Data();
  data->tensor = torch::ones({n});
  // CHECK-NOTES: :[[@LINE-1]]:18: note: lost where this throws
  handle->data = data;
  return handle;
}
Tensor *madeBefore(const Tensor &x) {
  auto *copy = new Tensor(x);
  // CHECK-NOTES: :[[@LINE-1]]:16: warning: what 'new' makes here is lost if LibTorch throws while 'copy' alone owns it; {{.*}} [tensorscope-raw-handle-leak]
  *copy = x.matmul(x);
  // CHECK-NOTES: :[[@LINE-1]]:13: note: lost where this throws
  return copy;
}
double freedAfterwards(const Tensor &x) {
  auto *copy = new Tensor(x);
  // CHECK-NOTES: :[[@LINE-1]]:16: warning: what 'new' makes here is lost {{.*}} [tensorscope-raw-handle-leak]
  double total = torch::sum(x + *copy).item<double>();
  // CHECK-NOTES: :[[@LINE-1]]:31: note: lost where this throws
  delete copy;
  return total;
}
Tensor onABuffer(int64_t n) {
  float *raw = new float[n];
  // CHECK-NOTES: :[[@LINE-1]]:16: warning: what 'new' makes here is lost {{.*}} [tensorscope-raw-handle-leak]
  Tensor t = torch::from_blob(raw, {n}).clone();
  // CHECK-NOTES: :[[@LINE-1]]:14: note: lost where this throws
  delete[] raw;
  return t;
}

//===- Not reported --------------------------------------------------------===//

Tensor takenByWhatThrows(int64_t n) {
  float *raw = new float[n];
  return torch::from_blob(raw, {n}, [](void *p) { delete[] static_cast<float *>(p); });
}
Tensor *atOnce(int64_t n) { return new Tensor(torch::ones({n})); }
Tensor *madeLast(int64_t n) {
  Tensor t = torch::ones({n});
  auto *copy = new Tensor(t);
  return copy;
}
Tensor *owned(int64_t n) {
  auto copy = std::make_unique<Tensor>();
  *copy = torch::ones({n});
  return copy.release();
}
Tensor ownedFromTheStart(int64_t n) {
  auto *raw = new Tensor();
  std::unique_ptr<Tensor> owner(raw);
  *raw = torch::ones({n});
  return *owner;
}
int caught(int64_t n, Tensor **out) {
  Tensor *copy = nullptr;
  try {
    copy = new Tensor();
    *copy = torch::ones({n});
    *out = copy;
    return 0;
  } catch (...) {
    delete copy;
    return -1;
  }
}
Tensor *endsTheProgram(int64_t n) noexcept {
  auto *copy = new Tensor();
  *copy = torch::ones({n});
  return copy;
}
int64_t asksAlone(const Tensor &x) {
  auto *copy = new Tensor(x);
  int64_t n = copy->numel() + copy->size(0);
  delete copy;
  return n;
}
int main() {
  auto *copy = new Tensor();
  *copy = torch::ones({2});
  delete copy;
}
