// SPDX-License-Identifier: Apache-2.0
// Tensors of static storage that may be on a device.
// RUN: %check_tidy %s tensorscope-static-device-tensor %t
#include <torch/torch.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using torch::Tensor;
bool available();

//===- Initializers --------------------------------------------------------===//

static torch::Device pick() { return available() ? torch::kCUDA : torch::kCPU; }
static torch::Device alwaysCpu() { return torch::Device(torch::kCPU); }
static const torch::Device chosen = available() ? torch::kCUDA : torch::kCPU;

static Tensor table = torch::arange(4096, torch::TensorOptions().device(pick()));
// CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'table' may be on a device, and is destroyed when the program ends, perhaps after the device's driver; free it before that, or hold it by a pointer that is never deleted [tensorscope-static-device-tensor]
Tensor moved = torch::ones({4}).cuda();
// CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'moved' may be on a device, {{.*}} [tensorscope-static-device-tensor]
const Tensor named = torch::ones({4}, chosen) + 1;
// CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'named' may be on a device, {{.*}} [tensorscope-static-device-tensor]
thread_local Tensor perThread = torch::ones({4}).to(torch::kCUDA);
// CHECK-MESSAGES: :[[@LINE-1]]:21: warning: 'perThread' may be on a device, and is destroyed when its thread ends, {{.*}} [tensorscope-static-device-tensor]
static std::vector<Tensor> several{torch::ones({4}), torch::ones({4}, torch::kCUDA)};
// CHECK-MESSAGES: :[[@LINE-1]]:28: warning: 'several' may be on a device, {{.*}} [tensorscope-static-device-tensor]
struct Holder {
  static Tensor member;
};
Tensor Holder::member = torch::zeros({4}, torch::device(torch::kCUDA));
// CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'member' may be on a device, {{.*}} [tensorscope-static-device-tensor]
Tensor &local(torch::Device device) {
  static Tensor cached = torch::ones({4}, device);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'cached' may be on a device, {{.*}} [tensorscope-static-device-tensor]
  return cached;
}
const auto options = torch::TensorOptions().device(torch::kCUDA);
static Tensor ofOptions = torch::ones({4}, options);
// CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'ofOptions' may be on a device, {{.*}} [tensorscope-static-device-tensor]

static Tensor plain = torch::ones({4});
static Tensor onTheHost = torch::ones({4}, torch::kCPU);
static Tensor backAgain = torch::ones({4}, torch::kCUDA).cpu();
static Tensor toTheHost = torch::ones({4}).to(torch::kCPU);
static Tensor backOnTheHost = torch::ones({4}, torch::kCUDA).to(torch::kCPU);
static Tensor backByOptions =
    torch::ones({4}, torch::kCUDA).to(torch::TensorOptions().device(torch::kCPU).dtype(torch::kDouble));
static Tensor alsoHost = torch::ones({4}, torch::TensorOptions().device(alwaysCpu()).dtype(torch::kLong));
static Tensor otherType = torch::ones({4}, torch::kLong).to(torch::kFloat);
static Tensor ofANumber = torch::full({4}, torch::ones({4}).cuda().sum().item<float>());
static auto *leaked = new Tensor(torch::ones({4}, torch::kCUDA));
static auto &leakedToo = *new Tensor(torch::ones({4}, torch::kCUDA));
static torch::Device device = torch::kCUDA;
static int64_t count = torch::ones({4}, torch::kCUDA).numel();
Tensor &onPurpose() {
  static auto *t = new Tensor(torch::arange(4096, torch::TensorOptions().device(pick())));
  return *t;
}
Tensor ordinary(torch::Device where) {
  Tensor t = torch::ones({4}, where);
  return t;
}
// False negative: where that is, is not known.
static Tensor likeAnother = torch::ones_like(plain).to(plain.device());

//===- Assignments ---------------------------------------------------------===//

static Tensor weights;
static std::map<std::string, Tensor> cache;
static std::vector<Tensor> list;
static std::optional<Tensor> perhaps;
static torch::nn::Linear net(4, 4);
void fill(torch::Device where, const Tensor &x) {
  weights = x.to(where);
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'weights' may be on a device, {{.*}} [tensorscope-static-device-tensor]
  cache["x"] = x.cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'cache' may be on a device, {{.*}} [tensorscope-static-device-tensor]
  list.push_back(torch::ones({4}, where));
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'list' may be on a device, {{.*}} [tensorscope-static-device-tensor]
  perhaps = x.cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'perhaps' may be on a device, {{.*}} [tensorscope-static-device-tensor]
  net->to(where);
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'net' may be on a device, {{.*}} [tensorscope-static-device-tensor]
}
static Tensor freed;
static std::vector<Tensor> emptied;
void begin(torch::Device where) {
  freed = torch::ones({4}, where);
  emptied.push_back(freed);
}
void end() {
  freed = Tensor();
  emptied.clear();
}
static Tensor host;
void onHost(const Tensor &x) { host = x.cpu(); }
