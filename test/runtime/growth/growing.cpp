// SPDX-License-Identifier: Apache-2.0
// Programs that keep more and more in variables of main, where nothing is left when the report is made. The first argument
// says which.
#include <tensorscope/tensorscope.h>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace nn = torch::nn;

static at::Tensor forward(nn::Linear& net, int rows = 8) { return net->forward(torch::rand({rows, 16})).tanh(); }

/// Predictions, each with the graph that made it; no backward pass runs.
static void keep_predictions() {
  nn::Linear net(16, 4);
  std::vector<at::Tensor> answers;
  for (int i = 0; i < 40; ++i) {
    answers.push_back(forward(net));
  }
}

/// What backward() needed is gone when the loss is added: the nodes of the graph stay.
static void add_losses_up() {
  nn::Linear net(16, 4);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  auto total = torch::zeros({});
  for (int step = 0; step < 40; ++step) {
    optimizer.zero_grad();
    auto loss = forward(net).pow(2).mean();
    loss.backward();
    optimizer.step();
    total = total + loss;
  }
}

/// The same in place, and with what each backward() would need.
static void add_in_place() {
  nn::Linear net(16, 4);
  auto total = torch::zeros({});
  for (int i = 0; i < 40; ++i) {
    total += forward(net).sum();
  }
}

/// The state of one part of a text goes into the next with its history.
static void carry_state() {
  nn::Linear cell(16, 16);
  auto state = torch::zeros({2, 16});
  for (int part = 0; part < 30; ++part) {
    state = torch::tanh(cell->forward(torch::rand({2, 16})) + state);
    state.sum().backward({}, /*retain_graph=*/true);
    cell->zero_grad();
  }
}

/// Nothing grows for a long while.
static void begin_late() {
  nn::Linear net(16, 4);
  std::deque<at::Tensor> bad;
  for (int step = 0; step < 400; ++step) {
    auto loss = forward(net).sum();
    loss.backward();
    if (step > 300) {
      bad.push_back(loss * 2);
    }
  }
}

/// Two lists in one loop: the numbers are no leak.
static void keep_losses_and_numbers() {
  nn::Linear net(16, 4);
  std::vector<at::Tensor> losses;
  std::vector<at::Tensor> numbers;
  for (int step = 0; step < 40; ++step) {
    auto loss = forward(net).sum();
    loss.backward();
    numbers.push_back(loss.detach() * 3);
    losses.push_back(loss + 1);
  }
}

static void work_in_a_thread() {
  std::thread([] { keep_predictions(); }).join();
}

/// One call for each step.
__attribute__((noinline)) static void descend(nn::Linear& net, const at::Tensor& sum, int depth) {
  if (depth > 0) {
    auto next = sum + forward(net).sum();
    descend(net, next, depth - 1);
  }
}

static void recurse() {
  nn::Linear net(16, 4);
  descend(net, torch::zeros({}), 120);
}

/// Each is of another length.
static void keep_texts() {
  nn::Linear net(16, 4);
  std::map<int, at::Tensor> by_number;
  for (int i = 0; i < 60; ++i) {
    by_number[i] = forward(net, 3 + (i * 7) % 11);
  }
}

/// One column of each picture is kept, and all of the picture with it.
static void keep_columns() {
  std::vector<at::Tensor> columns;
  for (int i = 0; i < 30; ++i) {
    auto picture = torch::rand({64, 48});
    columns.push_back(picture.narrow(1, 0, 2));
  }
}

struct Statistics {
  std::vector<at::Tensor> parts;
  void reload(const at::Tensor& saved) { parts.push_back(saved.clone()); }
};

/// The list is not cleared before it is filled again.
static void reload_statistics() {
  Statistics statistics;
  const auto saved = torch::rand({13, 7});
  for (int i = 0; i < 30; ++i) {
    statistics.reload(saved);
  }
}

/// Most of what there is, in the end.
static void keep_results_for_ever() {
  std::vector<at::Tensor> results;
  for (int i = 0; i < 400; ++i) {
    results.push_back(torch::rand({128, 128}) * i);
  }
}

/// Scopes whose results are kept with their graphs.
static void keep_results_of_scopes() {
  nn::Linear net(16, 4);
  std::vector<at::Tensor> losses;
  const auto loss_of_step = [&]() __attribute__((noinline)) { return forward(net).sum(); };
  for (int step = 0; step < 40; ++step) {
    losses.push_back(tensorscope::with_torch(loss_of_step));
  }
}

/// A way out that forgets the session.
static int measure(int rows) {
  tensorscope::start_session();
  auto batch = torch::rand({rows, 4});
  if (batch.size(0) > 10) {
    return 1;
  }
  tensorscope::stop_session();
  return 0;
}

static void forget_sessions() {
  for (int i = 0; i < 4; ++i) {
    measure(12);
  }
  measure(5);
}

int main(int, char** argv) {
  const std::map<std::string, std::function<void()>> ways{
      {"predictions", keep_predictions}, {"losses", add_losses_up},    {"in_place", add_in_place},
      {"state", carry_state},            {"late", begin_late},         {"two", keep_losses_and_numbers},
      {"thread", work_in_a_thread},      {"recursion", recurse},       {"texts", keep_texts},
      {"columns", keep_columns},         {"reload", reload_statistics}, {"results", keep_results_for_ever},
      {"scopes", keep_results_of_scopes}, {"sessions", forget_sessions}};
  ways.at(argv[1])();
}

// PREDICTIONS:      GROWTH: {{[0-9]+}} tensors piled up, each with the graph that made it
// PREDICTIONS-NEXT: made by aten::tanh Float [8, 4] on cpu
// PREDICTIONS-NEXT: #0 forward
// PREDICTIONS-NEXT: #1 keep_predictions{{.*}} {{.*}}growing.cpp:
// PREDICTIONS:      growth: +{{[0-9.]+}} bytes per iteration over {{[0-9]+}} iterations
// PREDICTIONS:      aten::rand Float [8, 16] on cpu
// PREDICTIONS:      keep loss.item() or detach(), or run under torch::NoGradGuard
// PREDICTIONS-NOT:  GROWTH:
// PREDICTIONS:      SUMMARY: tensorscope: 0 bytes leaked in 0 tensors; growth at 1 place

// LOSSES:      GROWTH: a tensor carries its graph from iteration to iteration, and the graph is never let go
// LOSSES-NEXT: made by aten::add Float [] on cpu
// LOSSES-NEXT: #0 add_losses_up{{.*}} {{.*}}growing.cpp:
// LOSSES:      add loss.item() or loss.detach() up
// LOSSES-NOT:  GROWTH:
// LOSSES:      SUMMARY: tensorscope: 0 bytes leaked in 0 tensors; growth at 1 place

// IN_PLACE:      GROWTH: a tensor carries its graph
// IN_PLACE-NEXT: made by aten::add_ Float [] on cpu
// IN_PLACE-NEXT: #0 add_in_place{{.*}} {{.*}}growing.cpp:
// IN_PLACE-NEXT: #1 main
// IN_PLACE-NEXT: growth: +640 bytes per iteration over {{[0-9]+}} iterations
// IN_PLACE-NOT:  GROWTH:

// STATE:      GROWTH: a tensor carries its graph
// STATE-NEXT: made by aten::tanh Float [2, 16] on cpu
// STATE-NEXT: #0 carry_state{{.*}} {{.*}}growing.cpp:
// STATE-NOT:  GROWTH:

// LATE:      GROWTH: {{[0-9]+}} tensors piled up, each with the graph that made it
// LATE-NEXT: made by aten::mul Float [] on cpu
// LATE-NEXT: #0 begin_late{{.*}} {{.*}}growing.cpp:
// LATE-NOT:  GROWTH:

// TWO:      GROWTH: {{[0-9]+}} tensors piled up, each with the graph that made it
// TWO-NEXT: made by aten::add Float [] on cpu
// TWO-NEXT: #0 keep_losses_and_numbers{{.*}} {{.*}}growing.cpp:
// TWO-NOT:  GROWTH:

// THREAD:      GROWTH: {{[0-9]+}} tensors piled up, each with the graph that made it
// THREAD:      keep_predictions{{.*}} {{.*}}growing.cpp:
// THREAD-NOT:  GROWTH:

// RECURSION:      GROWTH: a tensor carries its graph
// RECURSION-NEXT: made by aten::add Float [] on cpu
// RECURSION-NEXT: #0 descend{{.*}}growing.cpp:

// TEXTS:      GROWTH: {{[0-9]+}} tensors piled up, each with the graph that made it
// TEXTS:      keep_texts{{.*}} {{.*}}growing.cpp:
// TEXTS-NOT:  GROWTH:

// COLUMNS:      GROWTH: {{[0-9]+}} small views piled up; each keeps a whole storage alive
// COLUMNS-NEXT: made by aten::narrow Float [64, 2] on cpu
// COLUMNS-NEXT: #0 keep_columns{{.*}} {{.*}}growing.cpp:
// COLUMNS:      growth: +12.0 KiB per iteration over
// COLUMNS:      they keep {{[0-9]+}} bytes
// COLUMNS-NEXT: aten::rand Float [64, 48] on cpu
// COLUMNS:      clone() the part that is kept
// COLUMNS-NOT:  GROWTH:

// RELOAD:      GROWTH: {{[0-9]+}} bytes in {{[0-9]+}} copies with the same content piled up
// RELOAD-NEXT: made by aten::clone Float [13, 7] on cpu
// RELOAD-NEXT: #0 {{.*}}reload{{.*}} {{.*}}growing.cpp:
// RELOAD:      growth: +364 bytes per iteration over
// RELOAD-NOT:  GROWTH:

// RESULTS:      GROWTH: {{[0-9]+}} bytes in {{[0-9]+}} tensors piled up while the program worked
// RESULTS-NEXT: made by aten::mul Float [128, 128] on cpu
// RESULTS-NEXT: #0 keep_results_for_ever{{.*}} {{.*}}growing.cpp:
// RESULTS:      growth: +64.0 KiB per iteration over
// RESULTS-NOT:  GROWTH:

// SCOPES:      GROWTH: {{[0-9]+}} tensors piled up, each with the graph that made it
// SCOPES-NEXT: made by aten::sum Float [] on cpu
// SCOPES-NEXT: #0 {{.*}}operator(){{.*}} {{.*}}growing.cpp:
// SCOPES:      keep_results_of_scopes{{.*}} {{.*}}growing.cpp:
// SCOPES-NOT:  GROWTH:

// SESSIONS:      OPEN SESSION: started at {{.*}}growing.cpp:{{[0-9]+}} on thread 0 and not stopped: 4 times the same line
// SESSIONS-NEXT: call stop_session() on every way out
// SESSIONS:      SUMMARY: tensorscope: 0 bytes leaked in 0 tensors; 1 session left open

// WARMUP-NOT: {{.}}
