// SPDX-License-Identifier: Apache-2.0
// What piles up in a program without scopes, and what only looks so. The first argument says which.
#include <torch/torch.h>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace nn = torch::nn;

static std::vector<at::Tensor> losses;
static std::vector<at::Tensor> numbers;
static at::Tensor total = torch::zeros({});
static std::vector<at::Tensor> gradients;
static std::deque<at::Tensor> latest;
static std::vector<at::Tensor> data;
static nn::Sequential model;

static at::Tensor loss_of(nn::Linear& net) { return net->forward(torch::randn({8, 16})).tanh().sum(); }

/// `each` in a loop of 30 training steps.
static void train(const std::function<void(nn::Linear&, int)>& each) {
  nn::Linear net(16, 4);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  for (int step = 0; step < 30; ++step) {
    optimizer.zero_grad();
    loss_of(net).backward();
    optimizer.step();
    each(net, step);
  }
}

static void keep_losses() {
  train([](nn::Linear& net, int) { losses.push_back(loss_of(net)); });
}

static void keep_numbers() {
  train([](nn::Linear& net, int) { numbers.push_back(loss_of(net).detach() * 2); });
}

static void add_up() {
  train([](nn::Linear& net, int) { total = total + loss_of(net); });
}

static void keep_gradients() {
  auto table = torch::rand({9, 11}, torch::requires_grad());
  table.register_hook([](const at::Tensor& gradient) { gradients.push_back(gradient); });
  for (int step = 0; step < 30; ++step) {
    (table * table).sum().backward();
    table.mutable_grad().reset();
  }
}

static void keep_what_keeps_itself() {
  train([](nn::Linear& net, int) {
    auto activation = net->forward(torch::rand({3, 16})).tanh();
    activation.register_hook([activation](const at::Tensor& gradient) { return gradient * activation.sign(); });
  });
}

static void keep_the_latest() {
  train([](nn::Linear& net, int) {
    latest.push_back(loss_of(net).detach() * 2);
    if (latest.size() > 12) {
      latest.pop_front();
    }
  });
}

static void prepare() {
  for (int i = 0; i < 12; ++i) {
    model->push_back(nn::Linear(6, 6));
  }
  for (int i = 0; i < 20; ++i) {
    data.push_back((torch::rand({8, 6}) * 2 - 1).contiguous());
  }
  nn::Linear net(6, 1);
  torch::optim::Adam optimizer(model->parameters(), 0.01);
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (const auto& batch : data) {
      optimizer.zero_grad();
      net->forward(model->forward(batch)).pow(2).mean().backward();
      optimizer.step();
    }
  }
}

static void keep_for_a_while() {
  std::vector<at::Tensor> until_main_ends;
  train([&](nn::Linear& net, int) { until_main_ends.push_back(loss_of(net).detach() * 2); });
}

int main(int, char** argv) {
  const std::map<std::string, std::function<void()>> ways = {
      {"losses", keep_losses},       {"numbers", keep_numbers},         {"total", add_up},
      {"gradients", keep_gradients}, {"cycle", keep_what_keeps_itself}, {"latest", keep_the_latest},
      {"prepared", prepare},         {"while", keep_for_a_while},
  };
  ways.at(argv[1])();
}

// 30 losses of 4 bytes; each graph keeps an input of 8 * 16 and a tanh of 8 * 4 floats.
// LOSSES:      LEAK: 19320 bytes in 30 tensors that piled up while the program worked, in no scope
// LOSSES-NEXT: made by aten::sum Float [] on cpu
// LOSSES-NEXT: #0 loss_of{{.*}} {{.*}}piling.cpp:[[#@LINE-86]]:
// LOSSES:      keep_losses{{.*}} {{.*}}piling.cpp:
// LOSSES:      main {{.*}}piling.cpp:
// LOSSES:      its backward() keeps 19200 bytes in 60 tensors:
// LOSSES-NEXT: 15360 bytes in 30 tensors of aten::randn Float [8, 16] on cpu
// LOSSES:      3840 bytes in 30 tensors of aten::tanh Float [8, 4] on cpu
// LOSSES:      keep loss.item() or loss.detach(), not the loss itself, and no longer than it is used
// LOSSES:      SUMMARY: tensorscope: 19320 bytes leaked in 90 tensors;

// NUMBERS:      LEAK: 120 bytes in 30 tensors that piled up while the program worked, in no scope
// NUMBERS-NEXT: made by aten::mul Float [] on cpu
// NUMBERS-NEXT: piling.cpp:[[#@LINE-78]]:
// NUMBERS:      keep them no longer than they are used
// NUMBERS:      SUMMARY: tensorscope: 120 bytes leaked in 30 tensors;

// TOTAL:      LEAK: 19200 bytes in 60 tensors kept for the backward() of a tensor that lives on
// TOTAL-NEXT: made by aten::add Float [] on cpu
// TOTAL-NEXT: piling.cpp:[[#@LINE-80]]:
// TOTAL:      15360 bytes in 30 tensors of aten::randn Float [8, 16] on cpu
// TOTAL:      add loss.item() or loss.detach() up
// TOTAL:      SUMMARY: tensorscope: 19200 bytes leaked in 60 tensors;

// GRADIENTS:      LEAK: 11880 bytes in 30 tensors that piled up while the program worked, in no scope
// GRADIENTS:      keep_gradients{{.*}} {{.*}}piling.cpp:
// GRADIENTS:      SUMMARY: tensorscope: 11880 bytes leaked in 30 tensors;

// CYCLE:      LEAK: {{[0-9]+}} bytes in 30 tensors that nothing but a cycle leads to
// CYCLE-NEXT: made by aten::tanh Float [3, 4] on cpu
// CYCLE:      keep_what_keeps_itself{{.*}} {{.*}}piling.cpp:
