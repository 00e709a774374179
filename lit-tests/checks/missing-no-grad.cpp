// SPDX-License-Identifier: Apache-2.0
// Finds evaluation that records graphs which nothing walks back.
// RUN: %check_tidy %s tensorscope-missing-no-grad %t
#include <torch/torch.h>
#include <torch/script.h>
#include <thread>
#include <future>
#include <vector>
struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  NetImpl() { fc = register_module("fc", torch::nn::Linear(4, 2)); }
  torch::Tensor forward(torch::Tensor x) { return torch::relu(fc->forward(x)); }
};
TORCH_MODULE(Net);
torch::Tensor batch();
void log_value(double v);
// The loop of a test.
double test(Net net, int n) {
  net->eval();
  double correct = 0;
  for (int i = 0; i < n; ++i) {
    auto out = net->forward(batch());
    // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: 'net' is evaluated with gradients on: each forward records a graph that nothing walks back; open a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
    correct += out.argmax(1).eq(batch()).sum().item<double>();
  }
  return correct;
}
// Its caller says that it is evaluation.
static double evaluate(Net &model, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += model(batch()).mean().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: 'model' is evaluated with gradients on: each forward records a graph that nothing walks back; open a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
  return s;
}
void run(Net net) {
  net->eval();
  log_value(evaluate(net, 100));
}
// A scripted module, in a function that is called in a loop.
struct Detector {
  torch::jit::Module module;
  Detector() { module = torch::jit::load("m.pt"); module.eval(); }
  int detect(torch::Tensor x) {
    auto out = module.forward({x}).toTensor();
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 'module' is evaluated with gradients on: each forward records a graph that nothing walks back; open a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
    return out.argmax(1).item<int>();
  }
};
void frames(int n) {
  Detector d;
  while (n--) log_value(d.detect(batch()));
}
// A scripted module.
void script(int n) {
  auto m = torch::jit::load("m.pt");
  m.eval();
  for (int i = 0; i < n; ++i) {
    std::vector<c10::IValue> inputs;
    inputs.push_back(batch());
    auto out = m.forward(inputs).toTensor();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'm' is evaluated with gradients on: each forward records a graph that nothing walks back; open a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
    log_value(out.sum().item<double>());
  }
}
// The guard is of another thread.
void worker(Net net, int n) {
  torch::NoGradGuard guard;
  auto f = std::async(std::launch::async, [&] {
    for (int i = 0; i < n; ++i) log_value(net->forward(batch()).mean().item<double>());
    // CHECK-MESSAGES: :[[@LINE-1]]:48: warning: the guard of the function that starts this thread does not cover it: 'net' records a graph here; open a 'torch::NoGradGuard' in the thread [tensorscope-missing-no-grad]
  });
  f.wait();
}
// The same, by name.
static void work(Net net, int n) { for (int i = 0; i < n; ++i) log_value(net->forward(batch()).mean().item<double>()); }
// CHECK-MESSAGES: :[[@LINE-1]]:79: warning: the guard of the function that starts this thread does not cover it: 'net' records a graph here; open a 'torch::NoGradGuard' in the thread [tensorscope-missing-no-grad]
void named(Net net, int n) {
  torch::NoGradGuard guard;
  std::thread t(work, net, n);
  t.join();
}
// False negative: nothing says that it is evaluation.
void sampled(Net net, int n) {
  for (int i = 0; i < n; ++i)
    log_value(net->forward(batch()).mean().item<double>());
}
// The results are given back, and nothing in this file walks graphs.
std::vector<torch::Tensor> predictions(Net net, int n) {
  std::vector<torch::Tensor> all;
  net->eval();
  for (int i = 0; i < n; ++i)
    all.push_back(net->forward(batch()));
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: 'net' is evaluated with gradients on: each forward records a graph that nothing walks back; open a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
  return all;
}
// A guard in the function, in the loop, in every caller: right.
double guarded(Net net, int n) {
  net->eval();
  torch::NoGradGuard no_grad;
  double s = 0;
  for (int i = 0; i < n; ++i)
    s += net->forward(batch()).mean().item<double>();
  return s;
}
static double helper(Net &net, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i)
    s += net->forward(batch()).mean().item<double>();
  return s;
}
double guardedCaller(Net net) {
  net->eval();
  torch::NoGradGuard no_grad;
  return helper(net, 100);
}
void inferenceMode(Net net, int n) {
  net->eval();
  for (int i = 0; i < n; ++i) {
    c10::InferenceMode guard;
    log_value(net->forward(batch()).mean().item<double>());
  }
}
// One forward: not worth a word.
void single(Net net) {
  net->eval();
  log_value(net->forward(batch()).mean().item<double>());
}
// It is trained again.
void trained(Net net, int n) {
  net->eval();
  net->train();
  for (int i = 0; i < n; ++i)
    log_value(net->forward(batch()).mean().item<double>());
}
// The threads of a parallel loop have the mode of their caller.
void parallel(Net net) {
  net->eval();
  torch::NoGradGuard no_grad;
  at::parallel_for(0, 100, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      log_value(net->forward(batch()).mean().item<double>());
  });
}
