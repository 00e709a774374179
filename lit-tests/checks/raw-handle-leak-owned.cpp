// SPDX-License-Identifier: Apache-2.0
// Raw pointers that own tensors, in code that frees them, or may.
// RUN: %check_tidy %s tensorscope-raw-handle-leak %t --expect-clean
#include <ATen/DLConvertor.h>
#include <torch/csrc/inductor/aoti_runtime/utils.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/torch.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using torch::Tensor;
bool check(const Tensor &x);
bool failed(AOTITorchError error);
void adopt(AtenTensorHandle handle);
extern bool verbose;

#define GUARDED(call)                                                                                                  \
  if ((call) != AOTI_TORCH_SUCCESS)                                                                                    \
    return -1;

//===- Freed on every path -------------------------------------------------===//

int everyPath(AtenTensorHandle x) {
  AtenTensorHandle copy = nullptr;
  if (aoti_torch_clone(x, &copy))
    return -1;
  int64_t n = 0;
  if (aoti_torch_get_numel(copy, &n)) {
    aoti_torch_delete_tensor_object(copy);
    return -1;
  }
  aoti_torch_delete_tensor_object(copy);
  return int(n);
}
int byGoto(AtenTensorHandle x) {
  int result = -1;
  AtenTensorHandle a = nullptr, b = nullptr;
  if (aoti_torch_clone(x, &a) != AOTI_TORCH_SUCCESS)
    goto done;
  if (aoti_torch_clone(a, &b) != AOTI_TORCH_SUCCESS)
    goto done;
  result = 0;
done:
  if (b)
    aoti_torch_delete_tensor_object(b);
  if (a)
    aoti_torch_delete_tensor_object(a);
  return result;
}
int errorVariable(AtenTensorHandle x) {
  AtenTensorHandle copy;
  AOTITorchError err = aoti_torch_clone(x, &copy);
  if (err != AOTI_TORCH_SUCCESS)
    return err;
  err = aoti_torch_zero_(copy);
  aoti_torch_delete_tensor_object(copy);
  return err;
}
int boolVariable(AtenTensorHandle x) {
  AtenTensorHandle copy;
  const bool ok = aoti_torch_clone(x, &copy) == AOTI_TORCH_SUCCESS;
  if (!ok)
    return -1;
  return aoti_torch_delete_tensor_object(copy);
}
int byAMacro(AtenTensorHandle x) {
  AtenTensorHandle copy;
  GUARDED(aoti_torch_clone(x, &copy));
  return aoti_torch_delete_tensor_object(copy);
}
int askedByAFunction(AtenTensorHandle x) {
  AtenTensorHandle copy;
  if (failed(aoti_torch_clone(x, &copy)))
    return -1;
  AtenTensorHandle again;
  AOTITorchError err = aoti_torch_clone(x, &again);
  if (failed(err))
    return aoti_torch_delete_tensor_object(copy);
  aoti_torch_delete_tensor_object(again);
  return aoti_torch_delete_tensor_object(copy);
}
int switched(AtenTensorHandle x) {
  AtenTensorHandle copy;
  switch (aoti_torch_clone(x, &copy)) {
  case AOTI_TORCH_SUCCESS:
    break;
  default:
    return -1;
  }
  return aoti_torch_delete_tensor_object(copy);
}
int nullTells(AtenTensorHandle x) {
  AtenTensorHandle copy = nullptr;
  aoti_torch_clone(x, &copy);
  if (copy == nullptr)
    return -1;
  aoti_torch_delete_tensor_object(copy);
  return 0;
}
int itsOwnReference(AtenTensorHandle x) {
  AtenTensorHandle outs[2] = {nullptr, nullptr};
  if (aoti_torch_clone(x, &outs[0]))
    return -1;
  if (aoti_torch_new_tensor_handle(outs[0], &outs[1])) {
    aoti_torch_delete_tensor_object(outs[0]);
    return -1;
  }
  aoti_torch_delete_tensor_object(outs[0]);
  aoti_torch_delete_tensor_object(outs[1]);
  return 0;
}
void manyInALoop(AtenTensorHandle x, int n) {
  std::vector<AtenTensorHandle> handles(n);
  AtenTensorHandle fixed[4] = {};
  for (int i = 0; i < n; ++i)
    aoti_torch_clone(x, &handles[i]);
  for (int i = 0; i < 4; ++i)
    aoti_torch_clone(x, &fixed[i]);
  for (int i = 0; i < 4; ++i)
    aoti_torch_delete_tensor_object(fixed[i]);
  for (AtenTensorHandle h : handles)
    aoti_torch_delete_tensor_object(h);
}
void borrowed(AtenTensorHandle x) {
  void *data = nullptr;
  int64_t *sizes = nullptr;
  aoti_torch_get_data_ptr(x, &data);
  aoti_torch_get_sizes(x, &sizes);
}

//===- Somebody else's -----------------------------------------------------===//

struct Owner {
  explicit Owner(AtenTensorHandle h) : handle(h) {}
  ~Owner() { aoti_torch_delete_tensor_object(handle); }
  AtenTensorHandle handle;
};
struct Deleter {
  void operator()(AtenTensorHandle h) const { aoti_torch_delete_tensor_object(h); }
};
int inAnOwner(AtenTensorHandle x) {
  AtenTensorHandle copy;
  if (aoti_torch_clone(x, &copy))
    return -1;
  Owner owner(copy);
  int64_t n = 0;
  return aoti_torch_get_numel(owner.handle, &n) ? -1 : int(n);
}
std::unique_ptr<AtenTensorOpaque, Deleter> inAUniquePtr(AtenTensorHandle x) {
  AtenTensorHandle copy = nullptr;
  aoti_torch_clone(x, &copy);
  return std::unique_ptr<AtenTensorOpaque, Deleter>(copy);
}
AtenTensorHandle returned(AtenTensorHandle x) {
  AtenTensorHandle copy = nullptr;
  if (aoti_torch_clone(x, &copy))
    return nullptr;
  return copy;
}
int outParameter(AtenTensorHandle x, AtenTensorHandle *out) {
  AtenTensorHandle copy = nullptr;
  if (int error = aoti_torch_clone(x, &copy))
    return error;
  *out = copy;
  return 0;
}
int passedOn(AtenTensorHandle x, AtenTensorHandle *out) { return aoti_torch_clone(x, out); }
void adopted(AtenTensorHandle x) {
  AtenTensorHandle copy = nullptr;
  aoti_torch_clone(x, &copy);
  adopt(copy);
}
struct Cache {
  AtenTensorHandle member = nullptr;
  std::map<std::string, AtenTensorHandle> byName;
  void store(AtenTensorHandle x) {
    AtenTensorHandle copy = nullptr;
    aoti_torch_clone(x, &copy);
    member = copy;
    aoti_torch_clone(x, &byName["x"]);
  }
  void direct(AtenTensorHandle x) { aoti_torch_clone(x, &member); }
};
std::function<void()> inAClosure(AtenTensorHandle x) {
  AtenTensorHandle copy = nullptr;
  aoti_torch_clone(x, &copy);
  return [copy] { aoti_torch_delete_tensor_object(copy); };
}
void byScopeExit(AtenTensorHandle x) {
  AtenTensorHandle copy = nullptr;
  auto cleanUp = [&] {
    if (copy)
      aoti_torch_delete_tensor_object(copy);
  };
  aoti_torch_clone(x, &copy);
  aoti_torch_zero_(copy);
  cleanUp();
}
void onPurpose(Tensor t) { (void)t.unsafeReleaseTensorImpl(); }
Tensor reclaimed(Tensor t) {
  c10::TensorImpl *raw = t.unsafeReleaseTensorImpl();
  return Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim(raw));
}
int64_t asANumber(Tensor t) { return reinterpret_cast<int64_t>(t.unsafeReleaseTensorImpl()); }
Tensor imported(const Tensor &t) {
  DLManagedTensor *d = at::toDLPack(t);
  return at::fromDLPack(d);
}
float readAndFreed(const Tensor &t) {
  DLManagedTensor *d = at::toDLPack(t);
  float first = static_cast<float *>(d->dl_tensor.data)[0];
  if (d->deleter)
    d->deleter(d);
  return first;
}

//===- new -----------------------------------------------------------------===//

extern "C" Tensor *make(const Tensor *like) {
  try {
    return new Tensor(like->clone());
  } catch (...) {
    return nullptr;
  }
}
extern "C" void makeInto(Tensor **out) { *out = new Tensor(torch::ones({4})); }
extern "C" void fill(Tensor **outs, int n) {
  for (int i = 0; i < n; ++i)
    outs[i] = new Tensor(torch::ones({4}));
}
Tensor &leakedOnPurpose() {
  static auto *table = new Tensor(torch::ones({4}));
  static auto &other = *new Tensor(torch::ones({4}));
  (void)other;
  return *table;
}
Tensor *global = nullptr;
void toAGlobal() {
  if (!global)
    global = new Tensor(torch::ones({4}));
}
struct Node {
  Tensor value;
  Node *next = nullptr;
  Node *parent = nullptr;
  explicit Node(Node *p) : parent(p) {}
};
Node *list(int n) {
  Node *head = nullptr;
  for (int i = 0; i < n; ++i) {
    Node *node = new Node(nullptr);
    node->next = head;
    head = node;
  }
  return head;
}
void child(Node &parent) {
  auto *c = new Node(&parent);
  c->value = torch::ones({4});
}
struct Registered {
  Registered();
  Tensor value;
};
void registersItself() {
  auto *r = new Registered;
  r->value = torch::ones({4});
}
struct Counted : torch::nn::Module {
  void unref();
  Tensor value;
};
void freesItself() {
  auto *c = new Counted;
  // CHECK-MESSAGES-ADVICE: :[[@LINE-1]]:13: warning: {{.*}} is lost if LibTorch throws {{.*}}
  c->value = torch::ones({4});
  c->unref();
}
int onlyWhereMade(const Tensor &x, bool copy) {
  Tensor *own = nullptr;
  if (copy)
    own = new Tensor(x.clone());
  bool good = check(own ? *own : x);
  if (own)
    delete own;
  return good;
}
int byTheSameFlag(Tensor &x, bool copy) {
  Tensor *p = &x;
  if (copy)
    p = new Tensor(x.clone());
  bool good = check(*p);
  if (copy)
    delete p;
  return good;
}
int byAFlagOfItsOwn(Tensor &x) {
  Tensor *p = &x;
  bool owns = false;
  if (!x.is_contiguous()) {
    p = new Tensor(x.contiguous());
    owns = true;
  }
  bool good = check(*p);
  if (owns)
    delete p;
  return good;
}
// What decides is not understood, and may be what decided above.
int byAskingAgain(Tensor &x) {
  Tensor *p = x.is_contiguous() ? &x : new Tensor(x.contiguous());
  bool good = check(*p);
  if (p != &x)
    delete p;
  return good;
}
void best(const std::vector<Tensor> &xs) {
  Tensor *found = nullptr;
  for (const Tensor &x : xs) {
    Tensor *candidate = new Tensor(x.clone());
    if (!found || check(*candidate)) {
      delete found;
      found = candidate;
    } else {
      delete candidate;
    }
  }
  delete found;
}
void resetAfterDelete(const Tensor &x) {
  auto *p = new Tensor(x);
  delete p;
  p = nullptr;
  delete p;
  p = new Tensor(x.clone());
  delete p;
}
void onOneBranchEach(const Tensor &x) {
  auto *p = new Tensor(x);
  if (verbose) {
    delete p;
  } else {
    check(*p);
    delete p;
  }
}
void inAnException(const Tensor &x) {
  auto *p = new Tensor(x);
  try {
    check(p->matmul(x));
  } catch (...) {
    delete p;
    throw;
  }
  delete p;
}
void arraysOfTensors(const Tensor &x) {
  auto *rows = new Tensor[4];
  rows[0] = x;
  delete[] rows;
}
void swapped(const Tensor &x) {
  auto *a = new Tensor(x), *b = new Tensor(x.clone());
  std::swap(a, b);
  delete a;
  delete b;
}
void given(std::unique_ptr<Tensor> owner, std::vector<std::unique_ptr<Tensor>> &all) {
  Tensor *raw = owner.release();
  all.emplace_back(raw);
  all.push_back(std::unique_ptr<Tensor>(new Tensor(torch::ones({4}))));
  std::shared_ptr<Tensor> shared(new Tensor(torch::ones({4})), [](Tensor *t) { delete t; });
  owner.reset(new Tensor(torch::ones({4})));
}
// Who was given the object gives it up again, or does not free it.
void givenUpAgain(const Tensor &x, AtenTensorHandle h) {
  auto *copy = new Tensor(x.clone());
  std::unique_ptr<Tensor> owner(copy);
  check(*copy);
  (void)owner.release();
  delete copy;
  AtenTensorHandle other = nullptr;
  if (aoti_torch_clone(h, &other))
    return;
  torch::aot_inductor::RAIIAtenTensorHandle guard(other);
  aoti_torch_zero_(other);
  guard.release();
  aoti_torch_delete_tensor_object(other);
}
void notFreedByIt(const Tensor &x) {
  auto *copy = new Tensor(x.clone());
  auto keep = [](Tensor *) {};
  std::unique_ptr<Tensor, decltype(keep)> one(copy, keep);
  std::shared_ptr<Tensor> two(copy, [](Tensor *) {});
  delete copy;
}
Tensor importedOrFreed(const Tensor &x) {
  DLManagedTensor *d = at::toDLPack(x);
  try {
    return at::fromDLPack(d);
  } catch (...) {
    d->deleter(d);
    throw;
  }
}
void anOwnerForEach(const Tensor &x) {
  for (int i = 0; i < 3; ++i) {
    auto *copy = new Tensor(x.clone());
    std::unique_ptr<Tensor> owner(copy);
    check(*copy);
  }
}
double freedOnTheWayOut(const Tensor &x, bool fail) {
  auto *copy = new Tensor(x.clone());
  // CHECK-MESSAGES-ADVICE: :[[@LINE-1]]:16: warning: {{.*}} is lost if LibTorch throws {{.*}}
  if (fail) {
    delete copy;
    return 0;
  }
  double total = copy->sum().item<double>();
  delete copy;
  return total;
}
void freedAndMadeAgain(const Tensor &x) {
  auto *copy = new Tensor(x.clone());
  if (!check(*copy)) {
    delete copy;
    copy = new Tensor(x);
  }
  delete copy;
}
void placed(void *memory) {
  auto *t = new (memory) Tensor(torch::ones({4}));
  check(*t);
  t->~Tensor();
}
struct Holder {
  Tensor *tensor = nullptr;
  Holder() : tensor(new Tensor(torch::ones({4}))) {}
  ~Holder() { delete tensor; }
  void replace() {
    delete tensor;
    tensor = new Tensor(torch::ones({4}));
  }
};
Tensor conditional(const Tensor &x, bool copy) {
  Tensor *p = copy ? new Tensor(x.clone()) : nullptr;
  Tensor out = p ? *p : x;
  delete p;
  return out;
}
void checkedBeforehand(Tensor *p) {
  if (!p)
    return;
  delete p;
}
void callsIt(const Tensor &x) {
  auto *p = new Tensor(x);
  checkedBeforehand(p);
}

//===- Memory beneath a tensor ---------------------------------------------===//

Tensor withADeleter(int64_t n) {
  float *raw = static_cast<float *>(std::malloc(n * sizeof(float)));
  return torch::from_blob(raw, {n}, [](void *p) { std::free(p); }, torch::kFloat);
}
Tensor cloned(int64_t n) {
  float *raw = new float[n];
  // CHECK-MESSAGES-ADVICE: :[[@LINE-1]]:16: warning: {{.*}} is lost if LibTorch throws {{.*}}
  Tensor t = torch::from_blob(raw, {n}).clone();
  delete[] raw;
  return t;
}
Tensor inAVector(std::vector<float> &buffer, int64_t n) {
  return torch::from_blob(buffer.data(), {n});
}
// Read from a file, and somebody's afterwards.
struct Buffers {
  float *kept = nullptr;
  ~Buffers() { std::free(kept); }
};
void mayKeep(const float *memory);
Tensor freedAfterReading(std::ifstream &file, int64_t n) {
  float *raw = static_cast<float *>(std::malloc(n));
  // CHECK-MESSAGES-ADVICE: :[[@LINE-1]]:37: warning: {{.*}} is lost if LibTorch throws {{.*}}
  file.read(reinterpret_cast<char *>(raw), n);
  Tensor t = torch::from_blob(raw, {n}).clone();
  std::free(raw);
  return t;
}
Tensor ownedAfterReading(std::ifstream &file, int64_t n) {
  float *raw = new float[n];
  file.read(reinterpret_cast<char *>(raw), n);
  std::unique_ptr<float[]> owner(raw);
  return torch::from_blob(raw, {n}).clone();
}
Tensor storedAfterReading(std::ifstream &file, Buffers &buffers, int64_t n) {
  float *raw = static_cast<float *>(std::malloc(n));
  file.read(reinterpret_cast<char *>(raw), n);
  buffers.kept = raw;
  return torch::from_blob(raw, {n});
}
float *returnedAfterReading(std::ifstream &file, int64_t n, Tensor &out) {
  float *raw = static_cast<float *>(std::malloc(n));
  // CHECK-MESSAGES-ADVICE: :[[@LINE-1]]:37: warning: {{.*}} is lost if LibTorch throws {{.*}}
  file.read(reinterpret_cast<char *>(raw), n);
  out = torch::from_blob(raw, {n});
  return raw;
}
Tensor givenToWhom(std::ifstream &file, int64_t n) {
  float *raw = static_cast<float *>(std::malloc(n));
  file.read(reinterpret_cast<char *>(raw), n);
  mayKeep(raw + 1);
  return torch::from_blob(raw, {n});
}
Tensor deletedByTheTensor(std::ifstream &file, int64_t n) {
  float *raw = static_cast<float *>(std::malloc(n));
  file.read(reinterpret_cast<char *>(raw), n);
  return torch::from_blob(raw, {n}, [](void *p) { std::free(p); });
}
Tensor freedByItsAddress(int64_t n) {
  float *raw = static_cast<float *>(std::malloc(n));
  // CHECK-MESSAGES-ADVICE: :[[@LINE-1]]:37: warning: {{.*}} is lost if LibTorch throws {{.*}}
  Tensor t = torch::from_blob(raw, {n});
  Tensor copy = t.clone();
  std::free(t.data_ptr());
  return copy;
}
Tensor freedThroughACopy(int64_t n) {
  float *raw = new float[n];
  // CHECK-MESSAGES-ADVICE: :[[@LINE-1]]:16: warning: {{.*}} is lost if LibTorch throws {{.*}}
  char *text = reinterpret_cast<char *>(raw) + 0;
  Tensor copy = torch::from_blob(raw, {n}).clone();
  delete[] reinterpret_cast<float *>(text);
  return copy;
}
Tensor walkedOver(int64_t n) {
  float *raw = new float[n];
  for (float *p = raw; p != raw + n; ++p)
    *p = 1;
  Tensor copy = torch::from_blob(raw, {n}).clone();
  delete[] raw;
  return copy;
}
std::string textOf(std::ifstream &file, int64_t n) {
  char *text = new char[n];
  file.read(text, n);
  std::string copy(text, n);
  delete[] text;
  return copy;
}
std::vector<float *> pointersOf(int64_t n) {
  float *row = new float[n];
  std::vector<float *> rows(2, row);
  return rows;
}
std::vector<float *> listOfPointers(int64_t n) {
  float *row = new float[n];
  return {row, nullptr};
}
int noTensorAtAll(int64_t n) {
  char *text = static_cast<char *>(std::malloc(n));
  return text ? text[0] : 0;
}
