// SPDX-License-Identifier: Apache-2.0
// Raw pointers that own tensors: lost, freed twice, used after they were freed.
// RUN: %check_tidy %s tensorscope-raw-handle-leak %t
#include <ATen/DLConvertor.h>
#include <torch/csrc/inductor/aoti_runtime/utils.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using torch::Tensor;
double sumOf(const Tensor &x);
bool check(const Tensor &x);
void log(const char *text);

//===- AOTInductor's handles -----------------------------------------------===//

double neverDeleted(AtenTensorHandle x) {
  AtenTensorHandle copy = nullptr;
  if (aoti_torch_clone(x, &copy))
    // CHECK-NOTES: :[[@LINE-1]]:7: warning: what 'aoti_torch_clone' makes here for 'copy' is never freed; free it on every path, or hold it in an object that does [tensorscope-raw-handle-leak]
    return -1;
  return reinterpret_cast<Tensor *>(copy)->sum().item<double>();
  // CHECK-NOTES: :[[@LINE-1]]:3: note: lost here
}
int earlyReturn(AtenTensorHandle x) {
  AtenTensorHandle copy = nullptr;
  AOTITorchError error = aoti_torch_clone(x, &copy);
  // CHECK-NOTES: :[[@LINE-1]]:26: warning: what 'aoti_torch_clone' makes here for 'copy' is not freed on every path; free it on every path, or hold it in an object that does [tensorscope-raw-handle-leak]
  if (error != AOTI_TORCH_SUCCESS)
    return -1;
  int64_t n = 0;
  if (aoti_torch_get_numel(copy, &n) != AOTI_TORCH_SUCCESS)
    return -1;
    // CHECK-NOTES: :[[@LINE-1]]:5: note: lost here
  aoti_torch_delete_tensor_object(copy);
  return int(n);
}
int setAgain(AtenTensorHandle x, AtenTensorHandle y) {
  AtenTensorHandle copy = nullptr;
  aoti_torch_clone(x, &copy);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: what 'aoti_torch_clone' makes here for 'copy' is never freed; {{.*}} [tensorscope-raw-handle-leak]
  aoti_torch_clone(y, &copy);
  // CHECK-NOTES: :[[@LINE-1]]:3: note: the last pointer to it is set here
  aoti_torch_delete_tensor_object(copy);
  return 0;
}
void eachIteration(AtenTensorHandle x, int n) {
  for (int i = 0; i < n; ++i) {
    AtenTensorHandle copy = nullptr;
    aoti_torch_clone(x, &copy);
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: what 'aoti_torch_clone' makes here for 'copy' is never freed; {{.*}} [tensorscope-raw-handle-leak]
    aoti_torch_zero_(copy);
  }
}
// CHECK-NOTES: :[[@LINE-1]]:1: note: lost here
void twice(AtenTensorHandle x) {
  AtenTensorHandle copy = nullptr;
  if (aoti_torch_clone(x, &copy))
    return;
  AtenTensorHandle outs[2] = {copy, copy};
  aoti_torch_delete_tensor_object(outs[0]);
  aoti_torch_delete_tensor_object(outs[1]);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: 'outs[1]' is freed here for the second time; free each handle once, and set it to null where another path may do it again [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-3]]:3: note: freed here, through 'aoti_torch_delete_tensor_object'
}
void usedLate(AtenTensorHandle x) {
  AtenTensorHandle copy = nullptr;
  aoti_torch_clone(x, &copy);
  aoti_torch_delete_tensor_object(copy);
  aoti_torch_zero_(copy);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: 'copy' is used after what it points to was freed [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-3]]:3: note: freed here, through 'aoti_torch_delete_tensor_object'
}

//===- new and delete ------------------------------------------------------===//

int newTensor(const Tensor &x) {
  auto *row = new Tensor(x[0].clone());
  // CHECK-NOTES: :[[@LINE-1]]:15: warning: what 'new' makes here for 'row' is not freed on every path; delete it, or hold it in a 'std::unique_ptr' [tensorscope-raw-handle-leak]
  if (!check(*row))
    return -1;
    // CHECK-NOTES: :[[@LINE-1]]:5: note: lost here
  delete row;
  return 0;
}
int thrown(const Tensor &x) {
  auto *row = new Tensor(x[0].clone());
  // CHECK-NOTES: :[[@LINE-1]]:15: warning: what 'new' makes here for 'row' is not freed on every path; {{.*}} [tensorscope-raw-handle-leak]
  if (row->numel() == 0)
    throw std::runtime_error("empty");
    // CHECK-NOTES: :[[@LINE-1]]:5: note: thrown here
  delete row;
  return 0;
}
int caught(const Tensor &x, const Tensor &y) {
  try {
    auto *row = new Tensor(x[0].clone());
    // CHECK-NOTES: :[[@LINE-1]]:17: warning: what 'new' makes here for 'row' is not freed on every path; {{.*}} [tensorscope-raw-handle-leak]
    double total = row->matmul(y).sum().item<double>();
    delete row;
    return int(total);
  } catch (const std::exception &) {
    return -1;
    // CHECK-NOTES: :[[@LINE-1]]:5: note: lost here
  }
}
void arrays(const Tensor &x) {
  Tensor *rows = new Tensor[4];
  rows[0] = x;
  delete rows;
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: 'rows' was made by 'new[]' and is not freed by 'delete[]' [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-4]]:18: note: made here
}
double throughAReference(const Tensor &x) {
  Tensor *copy = new Tensor(x.clone());
  // CHECK-NOTES: :[[@LINE-1]]:18: warning: what 'new' makes here for 'copy' is never freed; {{.*}} [tensorscope-raw-handle-leak]
  Tensor &name = *copy;
  return name.sum().item<double>();
  // CHECK-NOTES: :[[@LINE-1]]:3: note: lost here
}
double usedThroughAReference(const Tensor &x) {
  Tensor *copy = new Tensor(x.clone());
  Tensor &name = *copy;
  delete copy;
  return name.sum().item<double>();
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: 'name' is used after what it points to was freed [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-3]]:3: note: freed here
}
int moduleOfTheirs() {
  auto *net = new torch::nn::LinearImpl(4, 4);
  // CHECK-NOTES: :[[@LINE-1]]:15: warning: what 'new' makes here for 'net' is never freed; {{.*}} [tensorscope-raw-handle-leak]
  return int(net->forward(torch::ones({4})).numel());
  // CHECK-NOTES: :[[@LINE-1]]:3: note: lost here
}

void optimizerOfEachEpoch(const std::vector<Tensor> &params) {
  for (int i = 0; i < 3; ++i) {
    auto *optimizer = new torch::optim::Adam(params);
    // CHECK-NOTES: :[[@LINE-1]]:23: warning: what 'new' makes here for 'optimizer' is never freed; {{.*}} [tensorscope-raw-handle-leak]
    optimizer->step();
  }
}
// CHECK-NOTES: :[[@LINE-1]]:1: note: lost here

//===- Freed on one way, and then on all of them ---------------------------===//

void twiceOnOneWay(const Tensor &x) {
  auto *copy = new Tensor(x.clone());
  if (!check(*copy))
    delete copy;
  delete copy;
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: 'copy' is freed here for the second time; {{.*}} [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-3]]:5: note: freed here
}
double usedLateOnOneWay(const Tensor &x) {
  auto *copy = new Tensor(x.clone());
  if (!check(*copy)) {
    log("bad");
    delete copy;
  }
  double total = copy->sum().item<double>();
  // CHECK-NOTES: :[[@LINE-1]]:24: warning: 'copy' is used after what it points to was freed [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-4]]:5: note: freed here
  return total;
}

//===- Two owners ----------------------------------------------------------===//

Tensor importedAndFreed(const Tensor &t) {
  DLManagedTensor *d = at::toDLPack(t);
  Tensor same = at::fromDLPack(d);
  d->deleter(d);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: 'd' is freed here, and an object that it was given to frees it, too; let one alone own it [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-3]]:17: note: freed here
  return same;
}
void importedTwice(const Tensor &t) {
  DLManagedTensor *d = at::toDLPack(t);
  Tensor one = at::fromDLPack(d);
  Tensor two = at::fromDLPack(d);
  // CHECK-NOTES: :[[@LINE-1]]:16: warning: 'd' is given here to an object that frees it, and is freed elsewhere, too; let one alone own it [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-3]]:16: note: freed here
}
void ownedByTwoPointers(const Tensor &x) {
  auto *copy = new Tensor(x.clone());
  std::unique_ptr<Tensor> one(copy);
  std::shared_ptr<Tensor> two(copy);
  // CHECK-NOTES: :[[@LINE-1]]:27: warning: 'copy' is given here to an object that frees it, {{.*}} [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-3]]:27: note: freed here
}
void ownedAndDeleted(AtenTensorHandle x) {
  AtenTensorHandle copy = nullptr;
  if (aoti_torch_clone(x, &copy))
    return;
  torch::aot_inductor::RAIIAtenTensorHandle owner(copy);
  aoti_torch_delete_tensor_object(copy);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: 'copy' is freed here, and an object that it was given to frees it, too; {{.*}} [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-3]]:45: note: freed here
}

//===- References counted by hand, DLPack ----------------------------------===//

float deletedInAnotherWay(const Tensor &t) {
  DLManagedTensor *d = at::toDLPack(t);
  float first = static_cast<float *>(d->dl_tensor.data)[0];
  delete d;
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: 'd' was made by 'toDLPack' and is not freed by 'delete' or 'free'; give it back to what made it [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-4]]:24: note: made here
  return first;
}

static int64_t peek(const c10::TensorImpl *p) { return p->numel(); }
int64_t released(Tensor t) {
  c10::TensorImpl *raw = t.unsafeReleaseTensorImpl();
  // CHECK-NOTES: :[[@LINE-1]]:28: warning: what 'unsafeReleaseTensorImpl' makes here for 'raw' is never freed; {{.*}} [tensorscope-raw-handle-leak]
  return peek(raw);
  // CHECK-NOTES: :[[@LINE-1]]:3: note: lost here
}
int64_t lookedInto(Tensor t) {
  c10::TensorImpl *raw = t.unsafeReleaseTensorImpl();
  // CHECK-NOTES: :[[@LINE-1]]:28: warning: what 'unsafeReleaseTensorImpl' makes here for 'raw' is not freed on every path; {{.*}} [tensorscope-raw-handle-leak]
  if (raw->numel() > 3)
    return 0;
    // CHECK-NOTES: :[[@LINE-1]]:5: note: lost here
  t = Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim(raw));
  return t.numel();
}
void discarded(c10::intrusive_ptr<c10::TensorImpl> p) {
  p.release();
  // CHECK-NOTES: :[[@LINE-1]]:5: warning: what 'release' makes here is never freed; {{.*}} [tensorscope-raw-handle-leak]
}
// CHECK-NOTES: :[[@LINE-1]]:1: note: lost here
float exported(const Tensor &t) {
  DLManagedTensor *d = at::toDLPack(t);
  // CHECK-NOTES: :[[@LINE-1]]:24: warning: what 'toDLPack' makes here for 'd' is never freed; {{.*}} [tensorscope-raw-handle-leak]
  return static_cast<float *>(d->dl_tensor.data)[0];
  // CHECK-NOTES: :[[@LINE-1]]:3: note: lost here
}

//===- Wrappers with a body ------------------------------------------------===//

extern "C" void *t_row(void *t, int64_t i) { return new Tensor(static_cast<Tensor *>(t)->select(0, i).clone()); }
extern "C" double t_sum(void *t) { return static_cast<Tensor *>(t)->sum().item<double>(); }
extern "C" void t_free(void *t) { delete static_cast<Tensor *>(t); }
extern "C" int t_copy(void *t, void **out) {
  if (!t)
    return 1;
  *out = new Tensor(static_cast<Tensor *>(t)->clone());
  return 0;
}

double dropped(Tensor &table) {
  double total = 0;
  for (int64_t i = 0; i < table.size(0); ++i)
    total += t_sum(t_row(&table, i));
    // CHECK-NOTES: :[[@LINE-1]]:20: warning: what 't_row' makes here is never freed; {{.*}} [tensorscope-raw-handle-leak]
  return total;
  // CHECK-NOTES: :[[@LINE-1]]:3: note: lost here
}
double setByACallee(Tensor &x) {
  void *copy = nullptr;
  t_copy(&x, &copy);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: what 't_copy' makes here for 'copy' is never freed; {{.*}} [tensorscope-raw-handle-leak]
  return t_sum(copy);
  // CHECK-NOTES: :[[@LINE-1]]:3: note: lost here
}
double freedTwiceByCallees(Tensor &x) {
  void *row = t_row(&x, 0);
  double total = t_sum(row);
  t_free(row);
  t_free(row);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: 'row' is freed here for the second time; {{.*}} [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-3]]:3: note: freed here, through 't_free'
  return total;
}

//===- Memory beneath a tensor ---------------------------------------------===//

static float *grab(int64_t n) {
  float *p = static_cast<float *>(std::malloc(n * sizeof(float)));
  for (int64_t i = 0; i < n; ++i)
    p[i] = 1.0f;
  return p;
}
Tensor withoutDeleter(int64_t n) {
  float *raw = grab(n);
  return torch::from_blob(raw, {n}, torch::kFloat);
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: nobody frees the memory 'raw', which this tensor refers to; give 'from_blob' a deleter that does, or clone the tensor and free the memory [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-3]]:16: note: made here
  // CHECK-NOTES: :[[@LINE-3]]:3: note: lost here
}
Tensor onAnArray(int64_t n) {
  float *raw = new float[n];
  Tensor t = torch::from_blob(raw, {n});
  // CHECK-NOTES: :[[@LINE-1]]:14: warning: nobody frees the memory 'raw', {{.*}} [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-3]]:16: note: made here
  return t.clone();
  // CHECK-NOTES: :[[@LINE-1]]:3: note: lost here
}

// It was filled by functions that keep no pointer.
Tensor readFromAFile(std::ifstream &file, std::FILE *other, int64_t length) {
  float *weights = (float *)malloc(length);
  file.read(reinterpret_cast<char *>(weights), length);
  fread(weights + 2, 4, 1, other);
  std::memcpy(weights, weights + 1, 4);
  std::fill(weights + 1, weights + 2, 0.0f);
  Tensor t = torch::from_blob(weights, {length / 4});
  // CHECK-NOTES: :[[@LINE-1]]:14: warning: nobody frees the memory 'weights', {{.*}} [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-7]]:29: note: made here
  return t * 2;
  // CHECK-NOTES: :[[@LINE-1]]:3: note: lost here
}
Tensor copiedInto(const std::vector<float> &from) {
  float *buffer = static_cast<float *>(std::calloc(from.size(), sizeof(float)));
  std::copy(from.begin(), from.end(), buffer);
  float *second = buffer + 1;
  second[0] = 1;
  return torch::from_blob(buffer, {int64_t(from.size())}).sum();
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: nobody frees the memory 'buffer', {{.*}} [tensorscope-raw-handle-leak]
  // CHECK-NOTES: :[[@LINE-6]]:40: note: made here
  // CHECK-NOTES: :[[@LINE-3]]:3: note: lost here
}

// A text that a name is made of.
void nameIt(const std::string &name, const Tensor &x);
void named(int index, const Tensor &x) {
  char *key = new char[16];
  // CHECK-NOTES: :[[@LINE-1]]:15: warning: what 'new' makes here for 'key' is never freed; delete it, or hold it in a 'std::unique_ptr' [tensorscope-raw-handle-leak]
  std::sprintf(key, "layer_%d", index);
  nameIt(key, x);
}
// CHECK-NOTES: :[[@LINE-1]]:1: note: lost here

//===- Contexts of autograd functions ---------------------------------------===//

struct Rasterize : torch::autograd::Function<Rasterize> {
  static Tensor forward(torch::autograd::AutogradContext *ctx, Tensor x) {
    auto *pixels = new std::vector<Tensor>(4);
    ctx->saved_data["pixels"] = reinterpret_cast<int64_t>(pixels);
    // CHECK-NOTES: :[[@LINE-1]]:31: warning: what this pointer points to is freed in 'backward' alone: a forward pass without one leaks it, and two free it twice; save an object that owns it [tensorscope-raw-handle-leak]
    // CHECK-NOTES: :[[@LINE+5]]:5: note: freed here
    return x * 2;
  }
  static Tensor backward(torch::autograd::AutogradContext *ctx, Tensor g) {
    auto *pixels = reinterpret_cast<std::vector<Tensor> *>(ctx->saved_data["pixels"].toInt());
    delete pixels;
    return g;
  }
};
// Somebody else's, who lives longer.
struct Engine;
struct ByEngine : torch::autograd::Function<ByEngine> {
  static Tensor forward(torch::autograd::AutogradContext *ctx, Tensor x, Engine *engine) {
    ctx->saved_data["engine"] = reinterpret_cast<int64_t>(engine);
    return x * 2;
  }
  static Tensor backward(torch::autograd::AutogradContext *ctx, Tensor g) {
    auto *engine = reinterpret_cast<Engine *>(ctx->saved_data["engine"].toInt());
    return engine ? g : -g;
  }
};

//===- The program's main --------------------------------------------------===//

int main() {
  // One object until the program ends: the system takes it back.
  auto *net = new torch::nn::LinearImpl(4, 4);
  for (int i = 0; i < 50; ++i) {
    auto *x = new Tensor(torch::ones({4}));
    // CHECK-NOTES: :[[@LINE-1]]:15: warning: what 'new' makes here for 'x' is never freed; {{.*}} [tensorscope-raw-handle-leak]
    log(check(net->forward(*x)) ? "good" : "bad");
  }
  return 0;
  // CHECK-NOTES: :[[@LINE-1]]:3: note: lost here
}
