// SPDX-License-Identifier: Apache-2.0
// Handles that were given up inside of blocks that nothing leads to, cycles of references, and what only looks so. The
// first argument says which.
#include <ATen/DLConvertor.h>
#include <tensorscope/tensorscope.h>

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

static float first_of(const at::Tensor& tensor) { return *static_cast<const float*>(at::toDLPack(tensor)->dl_tensor.data); }

/// Exports that nobody deletes.
static void forget_exports() {
  for (int i = 0; i < 7; ++i) {
    (void)first_of(torch::rand({9, 11}));
  }
}

static at::Tensor* boxed(int rows) { return new at::Tensor(torch::rand({rows, 3})); }

/// Handles on the heap, as a C interface gives them.
static void forget_boxes() {
  for (int i = 0; i < 5; ++i) {
    (void)boxed(17)->size(0);
  }
}

struct Part {
  at::Tensor weight = torch::rand({4, 5});
  std::shared_ptr<Part> other;
};

/// Two objects that own each other.
static void make_pairs() {
  for (int i = 0; i < 3; ++i) {
    auto one = std::make_shared<Part>();
    one->other = std::make_shared<Part>();
    one->other->other = one;
  }
}

/// A gradient with a graph, which ends at the leaf that owns the gradient.
static void differentiate_twice() {
  for (int i = 0; i < 6; ++i) {
    auto weight = torch::rand({8, 8}, torch::requires_grad());
    (weight * weight).sum().backward({}, /*retain_graph=*/true, /*create_graph=*/true);
  }
}

struct Twice : torch::autograd::Function<Twice> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input) {
    auto output = input * 2;
    context->save_for_backward({output.view({-1})});
    return output;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*, torch::autograd::variable_list all) {
    return {all[0] * 2};
  }
};

/// A function that saves a view of its output: the output's graph keeps the output.
static void save_views_of_outputs() {
  for (int i = 0; i < 6; ++i) {
    (void)Twice::apply(torch::rand({8, 8}, torch::requires_grad())).numel();
  }
}

/// A hook that holds its own tensor.
static void hook_itself() {
  for (int i = 0; i < 4; ++i) {
    auto table = torch::rand({3, 9}, torch::requires_grad());
    auto activation = table.tanh();
    activation.register_hook([activation](const at::Tensor& gradient) { return gradient * activation.sign(); });
  }
}

static std::list<std::unique_ptr<at::Tensor>> boxes;
static std::map<std::string, std::shared_ptr<Part>> parts;

/// Handles that a static container leads to, over several steps.
static void keep_in_statics() {
  for (int i = 0; i < 7; ++i) {
    boxes.push_back(std::make_unique<at::Tensor>(torch::rand({2, 2})));
    auto& part = parts["part number " + std::to_string(i)];
    part = std::make_shared<Part>();
    part->other = std::make_shared<Part>();
    part->other->other = part;
  }
}

int main(int, char** argv) {
  const std::map<std::string, std::function<void()>> ways{
      {"exports", forget_exports},      {"boxes", forget_boxes}, {"pairs", make_pairs},
      {"twice", differentiate_twice},   {"views", save_views_of_outputs}, {"hooks", hook_itself},
      {"statics", keep_in_statics}};
  ways.at(argv[1])();
}
