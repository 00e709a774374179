// SPDX-License-Identifier: Apache-2.0
// Finds autograd graphs that are kept, and grow, in loops.
// RUN: %check_tidy %s tensorscope-graph-retention %t
#include <torch/torch.h>
#include <map>
#include <thread>
#include <vector>

struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  NetImpl() { fc = register_module("fc", torch::nn::Linear(4, 2)); }
  torch::Tensor forward(torch::Tensor x) { return torch::relu(fc->forward(x)); }
};
TORCH_MODULE(Net);
torch::Tensor batch();
void log_value(double v);

// The loss is added with its graph, though backward has run.
void sum(Net net, torch::optim::SGD &opt) {
  auto total = torch::zeros({});
  for (int i = 0; i < 100; ++i) {
    opt.zero_grad();
    auto loss = net->forward(batch()).mean();
    loss.backward();
    opt.step();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'total' keeps the autograd graph of every iteration; add a number ('item<float>()') or a detached tensor [tensorscope-graph-retention]
  }
  log_value(total.item<double>());
}
// The loss that is walked is not the one that is added, but of the same graph.
void scaled(Net net, int n) {
  auto total = torch::zeros({});
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    (loss / 4).backward();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'total' keeps the autograd graph of every iteration; add a number ('item<float>()') or a detached tensor [tensorscope-graph-retention]
  }
}
// The same, spelled out, and through a member function.
void sum_again(Net net, int n) {
  torch::Tensor total = torch::zeros({});
  torch::Tensor other = torch::zeros({});
  for (int i = 0; i < n; ++i) {
    auto loss = net(batch()).mean();
    loss.backward();
    total = total + loss / n;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'total' keeps the autograd graph of every iteration; add a number ('item<float>()') or a detached tensor [tensorscope-graph-retention]
    other.add_(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'other' keeps the autograd graph of every iteration; add a number ('item<float>()') or a detached tensor [tensorscope-graph-retention]
  }
  log_value(total.item<double>() + other.item<double>());
}
// False negative: in the first iteration it does not grow.
void startsEmpty(Net net, int n) {
  torch::Tensor total;
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    (loss / 4).backward();
    total = total.defined() ? total + loss : loss;
  }
}
// A member sums, in its own loop.
struct Trainer {
  Net net;
  torch::Tensor running = torch::zeros({});
  void epoch(int n) {
    for (int i = 0; i < n; ++i) {
      auto loss = net->forward(batch()).mean();
      loss.backward();
      running += loss;
      // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'running' keeps the autograd graph of every iteration; add a number ('item<float>()') or a detached tensor [tensorscope-graph-retention]
    }
  }
};
// Losses are collected.
void collect(Net net, int n) {
  std::vector<torch::Tensor> losses;
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    loss.backward();
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'losses' gets a tensor with its autograd graph in each iteration, and so keeps what was computed for it; 'detach()' it, or work under 'torch::NoGradGuard' [tensorscope-graph-retention]
  }
  log_value(torch::stack(losses).mean().item<double>());
}
// By a key of its own for each step.
void by_step(Net net, int n) {
  std::map<int, torch::Tensor> losses;
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    loss.backward();
    losses[i] = loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'losses' gets a tensor with its autograd graph in each iteration, and so keeps what was computed for it; 'detach()' it, or work under 'torch::NoGradGuard' [tensorscope-graph-retention]
  }
}
// Into a tensor.
void into_tensor(Net net, int n) {
  auto all = torch::zeros({100});
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    loss.backward();
    all[i] = loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'all' keeps the autograd graph of every iteration; add a number ('item<float>()') or a detached tensor [tensorscope-graph-retention]
  }
  log_value(all.mean().item<double>());
}
// A state that goes on from step to step.
void state(Net head, torch::nn::GRUCell cell, int n) {
  auto h = torch::zeros({4, 8});
  for (int i = 0; i < n; ++i) {
    h = cell->forward(batch(), h);
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: 'h' links the autograd graph of each iteration to all earlier ones, though backward runs in each; 'detach()' it [tensorscope-graph-retention]
    head->forward(h).mean().backward({}, /*retain_graph=*/true);
  }
}
// An object is given the loss.
struct Meter {
  torch::Tensor sum = torch::zeros({});
  std::vector<torch::Tensor> all;
  void add(const torch::Tensor &v) { sum = sum + v; }
  void note(const torch::Tensor &v) { all.push_back(v); }
};
void meters(Net net, int n) {
  Meter meter;
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    loss.backward();
    meter.add(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'meter.sum' keeps the autograd graph of every iteration, through 'add'; add a number ('item<float>()') or a detached tensor [tensorscope-graph-retention]
    meter.note(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'meter.all' gets a tensor with its autograd graph in each iteration, through 'note', and so keeps what was computed for it; 'detach()' it, or work under 'torch::NoGradGuard' [tensorscope-graph-retention]
  }
}
// A function trains and gives the loss back.
static torch::Tensor step(Net &net) {
  auto loss = net->forward(batch()).mean();
  loss.backward();
  return loss;
}
void through_step(Net net, int n) {
  auto total = torch::zeros({});
  for (int i = 0; i < n; ++i)
    total += step(net);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'total' keeps the autograd graph of every iteration; add a number ('item<float>()') or a detached tensor [tensorscope-graph-retention]
}
// A template.
template <typename Module> double train(Module &net, int n) {
  auto total = torch::zeros({});
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    loss.backward();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'total' keeps the autograd graph of every iteration; add a number ('item<float>()') or a detached tensor [tensorscope-graph-retention]
  }
  return total.template item<double>();
}
double instance(Net net) { return train(net, 20) ; }
// No module: a leaf.
void leaf(int n) {
  auto w = torch::rand({4}, torch::TensorOptions().requires_grad(true));
  auto total = torch::zeros({});
  for (int i = 0; i < n; ++i) {
    auto loss = (w * batch()).sum();
    loss.backward();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'total' keeps the autograd graph of every iteration; add a number ('item<float>()') or a detached tensor [tensorscope-graph-retention]
  }
}
// The gradients get a graph, which holds the leaves.
void create(Net net, int n) {
  for (int i = 0; i < n; ++i)
    net->forward(batch()).mean().backward({}, true, /*create_graph=*/true);
    // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: 'create_graph' gives gradients a graph that holds the tensors which hold the gradients, so neither is freed; use 'torch::autograd::grad', or reset the gradients in each iteration [tensorscope-graph-retention]
}
// Nothing walks the graph again.
void retain(Net net, torch::optim::SGD &opt, int n) {
  for (int i = 0; i < n; ++i) {
    opt.zero_grad();
    auto loss = net->forward(batch()).mean();
    loss.backward({}, /*retain_graph=*/true);
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'retain_graph' keeps the graph of 'loss', and nothing walks it again; leave it out [tensorscope-graph-retention]
    opt.step();
  }
}
// Behind a pointer.
struct Shared {
  std::shared_ptr<NetImpl> net;
  double run(int n) {
    torch::Tensor total = torch::zeros({1});
    for (int i = 0; i < n; ++i) {
      auto l = torch::mse_loss((*net).forward(batch()), batch());
      l.backward();
      total += l;
      // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'total' keeps the autograd graph of every iteration; add a number ('item<float>()') or a detached tensor [tensorscope-graph-retention]
    }
    return total.item<double>();
  }
};
// A running mean in a module.
struct CentredImpl : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  torch::Tensor mean;
  CentredImpl() {
    fc = register_module("fc", torch::nn::Linear(4, 4));
    mean = register_buffer("mean", torch::zeros({4}));
  }
  torch::Tensor forward(torch::Tensor x) {
    auto y = torch::tanh(fc->forward(x));
    mean = 0.9 * mean + 0.1 * y.mean();
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'mean' is computed from itself with its autograd graph, which grows in each call; 'detach()' it, or update it under 'torch::NoGradGuard' [tensorscope-graph-retention]
    return y - mean;
  }
};
TORCH_MODULE(Centred);
// A tuple goes on.
void tupleState(torch::nn::LSTM rnn) {
  auto state = std::make_tuple(torch::zeros({1, 4, 8}), torch::zeros({1, 4, 8}));
  for (int chunk = 0; chunk < 12; ++chunk) {
    auto [out, next] = rnn->forward(batch(), state);
    out.sum().backward({}, /*retain_graph=*/true);
    state = next;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'state' links the autograd graph of each iteration to all earlier ones, though backward runs in each; 'detach()' it [tensorscope-graph-retention]
  }
}
// Nobody walks it back, and nothing else runs it.
int main() {
  Net net;
  auto total = torch::zeros({});
  for (int i = 0; i < 1000; ++i)
    total = total + net->forward(batch()).mean();
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'total' keeps the autograd graph of every iteration; add a number ('item<float>()') or a detached tensor [tensorscope-graph-retention]
  log_value(total.item<double>());
}

// An assignment to 'std::move(x)' copies into the tensor that is there.
void lossOfHandles(torch::Tensor *loss, const torch::Tensor &a, const torch::Tensor &b) {
  std::move(*loss) = torch::mse_loss(a, b);
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: an assignment to 'std::move(*loss)' copies into the tensor that is there: its autograd graph grows each time; assign to it without 'std::move', or 'detach()' what is copied [tensorscope-graph-retention]
}
void lossByReference(torch::Tensor &loss, const torch::Tensor &a, const torch::Tensor &b) {
  std::move(loss) = torch::mse_loss(a, b);
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: an assignment to 'std::move(loss)' copies into {{.*}} [tensorscope-graph-retention]
}
void boundAnew(torch::Tensor *loss, const torch::Tensor &a, const torch::Tensor &b) {
  *loss = torch::mse_loss(a, b);
}
void copiedDetached(torch::Tensor *loss, const torch::Tensor &a, const torch::Tensor &b) {
  std::move(*loss) = torch::mse_loss(a, b).detach();
}
void copiedWithoutGradients(torch::Tensor *loss, const torch::Tensor &a, const torch::Tensor &b) {
  torch::NoGradGuard no_grad;
  std::move(*loss) = torch::mse_loss(a, b);
}
void copiedIntoOwn(const torch::Tensor &a, const torch::Tensor &b) {
  auto loss = torch::zeros({});
  std::move(loss) = torch::mse_loss(a, b);
  log_value(loss.item<double>());
}
torch::Tensor madeElsewhere();
void copiedAsItIs(torch::Tensor *out, const torch::Tensor &in) {
  std::move(*out) = in;
  std::move(*out) = in.to(torch::kFloat);
  std::move(*out) = madeElsewhere();
}
void copiedConstants(torch::Tensor *out) { std::move(*out) = torch::zeros({4}); }
