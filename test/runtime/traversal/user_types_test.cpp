// SPDX-License-Identifier: Apache-2.0
// What is reached through a user's own types: plain aggregates, recursive ones, and the two ways out.
#include "reached.h"

#include <variant>

namespace tensorscope_test {
namespace {

using at::Tensor;

Tensor t(double n) {
  return torch::full({7}, n);
}

struct Attention {
  Tensor weights;
  int heads = 0;
};
struct Output {
  Tensor prediction;
  std::vector<Attention> attention;
  std::map<std::string, Attention> by_name;
  std::unique_ptr<Attention> first;
  std::function<Tensor()> later;
  std::string text;
  std::optional<Tensor> extra;
  std::variant<int, Tensor> either;
  c10::IValue any;
  torch::nn::Linear head{nullptr};
};

TEST(UserTypesTest, FieldsOfAggregatesAreReachedAtAnyDepth) {
  Output o{t(1), {{t(2), 4}, {t(3), 8}}, {}, std::make_unique<Attention>(), {}, "x", t(4), t(5), t(6)};
  o.by_name["a"] = {t(7), 1};
  o.first->weights = t(8);
  auto captured = t(9);
  o.later = [captured] { return captured; };
  o.head = torch::nn::Linear(2, 2);
  EXPECT_EQ(reached(o),
            these(o.prediction, o.attention[0].weights, o.attention[1].weights, o.by_name["a"].weights,
                  o.first->weights, *o.extra, std::get<Tensor>(o.either), o.any.toTensor(),
                  o.head->weight, o.head->bias));
}

struct Empty {};
struct Text {
  std::string name;
  std::vector<double> values;
};
TEST(UserTypesTest, AggregatesWithoutTensorsReachNothing) {
  EXPECT_EQ(visits(Empty{}), 0);
  EXPECT_EQ(visits(Text{"a", {1, 2}}), 0);
}

struct MoveOnly {
  std::unique_ptr<Tensor> a;
  Tensor b;
};
TEST(UserTypesTest, MoveOnlyAggregatesAreReached) {
  MoveOnly m{std::make_unique<Tensor>(t(1)), t(2)};
  EXPECT_EQ(reached(m), these(*m.a, m.b));
}

struct Node {
  Tensor value;
  std::vector<Node> children;
  std::unique_ptr<Node> next;
  std::shared_ptr<Node> other;
};

TEST(UserTypesTest, RecursiveTypesEnd) {
  Node root{t(1), {}, std::make_unique<Node>(), nullptr};
  root.children.push_back(Node{t(2), {}, nullptr, nullptr});
  root.next->value = t(3);
  EXPECT_EQ(reached(root), these(root.value, root.children[0].value, root.next->value));
}

TEST(UserTypesTest, SharedCyclesEndAndAreEnteredOnce) {
  auto a = std::make_shared<Node>(), b = std::make_shared<Node>();
  a->value = t(1);
  b->value = t(2);
  a->other = b;
  b->other = a;
  EXPECT_EQ(reached(a), these(a->value, b->value));
  EXPECT_EQ(visits(std::vector<std::shared_ptr<Node>>{a, b, a, b}), 2);
  b->other = nullptr;
}

struct Inner {
  Tensor value;
};
struct Outer {
  Inner inner;
  Tensor second;
};
TEST(UserTypesTest, AMemberWithItsOwnersAddressIsNoSecondVisit) {
  auto owner = std::make_shared<Outer>(Outer{{t(1)}, t(2)});
  std::shared_ptr<Inner> member(owner, &owner->inner);
  EXPECT_EQ(reached(std::make_pair(member, owner)), these(owner->inner.value, owner->second));
}

} // namespace

/// Opaque: private members, and a function that says what they are.
class Cache {
 public:
  Cache(Tensor key, Tensor value) : key_(std::move(key)), values_{std::move(value)} {}

 private:
  Tensor key_;
  std::vector<Tensor> values_;
  int size_ = 1;

  template <class Visitor>
  friend void tensorscope_members(Visitor& visitor, const Cache& cache) {
    visitor(cache.key_, cache.values_, cache.size_);
  }
};

/// A module that keeps one tensor unregistered.
struct Remembering : torch::nn::Module {
  Tensor weight = register_parameter("weight", t(1)), last = t(2);
};
template <class Visitor>
void tensorscope_members(Visitor& visitor, const Remembering& module) {
  visitor(module.last);
}

/// An optimizer with state of its own.
class Momentum : public torch::optim::Optimizer {
 public:
  explicit Momentum(std::vector<Tensor> parameters)
      : Optimizer(std::move(parameters), std::make_unique<torch::optim::SGDOptions>(0.1)) {}
  Tensor step(LossClosure) override { return {}; }
  Tensor velocity = t(3);

  template <class Visitor>
  friend void tensorscope_members(Visitor& visitor, const Momentum& optimizer) {
    visitor(optimizer.velocity);
  }
};

class Tokenizer {
 public:
  explicit Tokenizer(Tensor t) : hidden_(std::move(t)) {}

 private:
  Tensor hidden_;
};

} // namespace tensorscope_test
template <>
struct tensorscope::holds_no_tensor<tensorscope_test::Tokenizer> : std::true_type {};

namespace tensorscope_test {
namespace {

TEST(UserTypesTest, TheCustomisationFunctionSaysWhatIsReached) {
  auto a = t(1), b = t(2);
  EXPECT_EQ(reached(Cache(a, b)), these(a, b));
  EXPECT_EQ(reached(std::vector<Cache>{Cache(a, b)}), these(a, b));
  EXPECT_EQ(reached(std::make_shared<Cache>(a, b)), these(a, b));
}

TEST(UserTypesTest, TheCustomisationOfAModuleComesOnTopOfItsParameters) {
  auto module = std::make_shared<Remembering>();
  EXPECT_EQ(reached(*module), these(module->weight, module->last));
  Momentum optimizer({module->weight});
  EXPECT_EQ(reached(optimizer), these(module->weight, optimizer.velocity));
}

TEST(UserTypesTest, TheTraitSaysThatNothingIsReached) {
  EXPECT_EQ(visits(Tokenizer(t(1))), 0);
  EXPECT_EQ(visits(std::vector<std::unique_ptr<Tokenizer>>(2)), 0);
}

} // namespace
} // namespace tensorscope_test
