// SPDX-License-Identifier: Apache-2.0
// RUN: %check_tidy %s tensorscope-unscoped-loop %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using tensorscope::with_torch;

torch::Tensor model(const torch::Tensor &x);
bool more();
void log_value(double value);

//===- Kinds of loops -----------------------------------------------------===//

void countedLoop(torch::Tensor tokens, int length) {
  for (int i = 0; i < length; ++i) {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    auto next = model(tokens).argmax(-1, true);
    tokens = torch::cat({tokens, next}, 1);
  }
}
void whileLoop(torch::Tensor position, int draws) {
  int accepted = 0;
  while (accepted < draws) {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    auto proposal = position + torch::randn_like(position);
    if (proposal.norm().item<float>() < 3) {
      position = proposal;
      ++accepted;
    }
  }
}
// False negative.
float doLoop(const torch::Tensor &x) {
  float drawn = 0;
  do {
    drawn = torch::multinomial(x, 1).item<float>();
  } while (drawn < 0.5f);
  return drawn;
}
void rangeLoop(const std::vector<torch::Tensor> &xs) {
  for (const auto &x : xs) {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    log_value(torch::relu(x).sum().item<double>());
  }
}
void infiniteLoop(torch::Tensor x) {
  for (;;) {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    x = torch::tanh(x);
    if (!more())
      break;
  }
}
void unbracedBody(torch::Tensor x, int n) {
  for (int i = 0; i < n; ++i)
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    x = torch::tanh(x);
}
void keyed(const std::map<std::string, torch::Tensor> &xs) {
  for (const auto &[name, x] : xs) {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    log_value((x * 3).sum().item<double>());
  }
}
// False negative.
void dataLoader(const torch::Tensor &data) {
  auto loader = torch::data::make_data_loader(torch::data::datasets::TensorDataset(data), 32);
  for (auto &batch : *loader) {
    (void)batch;
    log_value(model(data).sum().item<double>());
  }
}
void algorithm(const std::vector<torch::Tensor> &xs) {
  float total = 0;
  std::for_each(xs.begin(), xs.end(), [&](const torch::Tensor &x) {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    total += torch::softmax(x, -1).sum().item<float>();
  });
}
// The innermost one that creates is the one that lacks the scope.
void nestedLoops(const torch::Tensor &x, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
      log_value((x * i * j).sum().item<double>());
  }
}
void inAWorker(const torch::Tensor &shard, int n) {
  std::thread worker([&] {
    for (int i = 0; i < n; ++i) {
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
      log_value(torch::relu(shard * i).sum().item<double>());
    }
  });
  worker.join();
}
struct Sampler {
  torch::Tensor state;
  void run(int n) {
    for (int i = 0; i < n; ++i) {
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
      auto next = torch::tanh(state);
      state = next;
    }
  }
};

//===- Through callees ----------------------------------------------------===//

static torch::Tensor smooth(const torch::Tensor &x) { return torch::softmax(x * 2, -1); }
static float scopedStep(const torch::Tensor &x) {
  return with_torch([&] { return smooth(x).max().item<float>(); });
}
void throughACallee(const std::vector<torch::Tensor> &xs) {
  for (const auto &x : xs) {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    auto y = smooth(x);
    if (y.max().item<float>() > 0.5)
      break;
  }
}
void scopeInTheCallee(const std::vector<torch::Tensor> &xs) {
  for (const auto &x : xs)
    log_value(scopedStep(x));
}
void localLambda(const torch::Tensor &x, int n) {
  auto step = [&](int i) { return (x * i).sum().item<float>(); };
  for (int i = 0; i < n; ++i)
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    log_value(step(i));
}

//===- With a scope -------------------------------------------------------===//

void scopePerStep(torch::Tensor tokens, int length) {
  for (int i = 0; i < length; ++i) {
    tokens = with_torch([&] {
      auto next = model(tokens).argmax(-1, true);
      return torch::cat({tokens, next}, 1);
    });
  }
}
void scopeObjectPerStep(const std::vector<torch::Tensor> &xs) {
  for (const auto &x : xs) {
    tensorscope::Scope scope;
    log_value(torch::relu(x).sum().item<double>());
  }
}
void loopInsideAScope(const torch::Tensor &x, int n) {
  with_torch([&] {
    for (int i = 0; i < n; ++i)
      log_value((x * i).sum().item<double>());
  });
}
void loopInsideASession(const torch::Tensor &x, int n) {
  tensorscope::Session session;
  for (int i = 0; i < n; ++i)
    log_value((x * i).sum().item<double>());
}
void loopInsideASessionOfFunctions(const torch::Tensor &x, int n) {
  tensorscope::start_session();
  for (int i = 0; i < n; ++i)
    log_value((x * i).sum().item<double>());
  tensorscope::stop_session();
}
// Every caller of it has a scope open.
static float innerLoop(const torch::Tensor &x, int n) {
  float best = 0;
  for (int i = 0; i < n; ++i)
    best = std::max(best, (x * i).max().item<float>());
  return best;
}
void callersHaveTheScope(const std::vector<torch::Tensor> &xs) {
  for (const auto &x : xs)
    with_torch([&] { return innerLoop(x, 8); });
}
// One caller of it has none.
static float otherLoop(const torch::Tensor &x, int n) {
  float best = 0;
  for (int i = 0; i < n; ++i)
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    best = std::max(best, (x * i).max().item<float>());
  return best;
}
void oneCallerHasNoScope(const torch::Tensor &x) {
  with_torch([&] { return otherLoop(x, 8); });
  log_value(otherLoop(x, 9));
}

//===- Loops that need none -----------------------------------------------===//

void fewKnownSteps(torch::Tensor x) {
  for (int layer = 0; layer < 4; ++layer)
    x = torch::relu(x + layer);
  log_value(x.sum().item<double>());
}
void initializerList(const torch::Tensor &x) {
  for (double scale : {0.5, 1.0, 2.0})
    log_value((x * scale).sum().item<double>());
}
std::vector<torch::Tensor> makeParameters(int n) {
  std::vector<torch::Tensor> list;
  for (int i = 0; i < n; ++i)
    list.push_back(torch::zeros({8, 8}, torch::requires_grad()));
  return list;
}
struct Stack : torch::nn::Module {
  std::vector<torch::nn::Linear> layers;
  explicit Stack(int n) {
    for (int i = 0; i < n; ++i)
      layers.push_back(register_module("layer" + std::to_string(i), torch::nn::Linear(13, 13)));
  }
};
// What is made out of nothing older, on the way to what is kept, is part of making it.
std::vector<torch::Tensor> makeScaledParameters(int n) {
  std::vector<torch::Tensor> list;
  for (int i = 0; i < n; ++i)
    list.push_back(torch::randn({8, 8}) * 0.1);
  return list;
}
// The list keeps the loss; what the model gave on the way to it is dropped, on a line of its own or not.
std::vector<torch::Tensor> keepsTheLossOnly(torch::nn::Linear &net, const std::vector<torch::Tensor> &xs,
                                            const torch::Tensor &target) {
  std::vector<torch::Tensor> history;
  for (const auto &x : xs) {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    auto loss = torch::nn::functional::mse_loss(net->forward(x), target);
    history.push_back(loss);
  }
  return history;
}
std::vector<torch::Tensor> keepsAll(torch::nn::Linear &net, const std::vector<torch::Tensor> &xs) {
  std::vector<torch::Tensor> outputs;
  for (const auto &x : xs)
    outputs.push_back(net->forward(x));
  return outputs;
}
// Whether a function of another file makes a tensor is not known, not even where it gives one out.
void anotherFile(const torch::Tensor &x, int n) {
  for (int i = 0; i < n; ++i)
    log_value(model(x).size(0));
}
// Looking through an iterator makes nothing, also where it gives out values.
void iterated(torch::nn::Module &module, const c10::List<torch::Tensor> &list) {
  for (const auto &item : module.named_parameters())
    log_value(static_cast<double>(item.key().size()));
  for (const torch::Tensor t : list)
    log_value(t.numel());
}
// Layers are made once, and a loop over them runs as often as the model has layers.
struct StackOfLayersImpl : torch::nn::Module {
  torch::nn::ModuleList layers;
  std::vector<torch::nn::Linear> heads;
  explicit StackOfLayersImpl(int n) {
    for (int i = 0; i < n; ++i)
      layers->push_back(torch::nn::Linear(13, 13));
  }
  torch::Tensor forward(torch::Tensor x) {
    for (auto &layer : *layers)
      x = torch::relu(std::dynamic_pointer_cast<torch::nn::LinearImpl>(layer)->forward(x));
    for (auto &head : heads)
      x = head->forward(x);
    // Every call of it, through the holder, has a scope open.
    for (size_t i = 0; i < heads.size(); ++i)
      x = heads[i]->forward(x);
    return x;
  }
};
TORCH_MODULE(StackOfLayers);
float useStackOfLayers(StackOfLayers &net, const torch::Tensor &x) {
  return with_torch([&] { return net(x).sum().item<float>(); });
}
void inPlaceWork(std::vector<torch::Tensor> &list, int n) {
  for (auto &t : list)
    t.zero_();
  for (int i = 0; i < n; ++i)
    list[0].add_(3);
}
void readsOnly(const std::vector<torch::Tensor> &list) {
  for (const auto &t : list)
    log_value(t.size(0) + t.numel());
}
void views(const torch::Tensor &x) {
  for (int64_t i = 0; i < x.size(0); ++i)
    log_value(x[i].item<double>());
}
void noTensors(std::vector<float> &values) {
  for (auto &v : values)
    v *= 2;
}
