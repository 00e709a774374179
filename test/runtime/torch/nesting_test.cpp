// SPDX-License-Identifier: Apache-2.0
// Nesting, results at depth, promotion, misuse: who owns what when scopes are in scopes.
#include "scope_test.h"

namespace tensorscope_test {
namespace {

using namespace torch;
using tensorscope::UsageError;

TEST(NestingTest, TheResultOfAnInnerScopeLeavesAllScopes) {
  Tensor result;
  with_torch([&] { result = with_torch([] { return torch::ones({3}); }); });
  EXPECT_EQ(value(result), 3);
}

TEST(NestingTest, ATensorOfTheOuterScopeThatAnInnerOneReturnsStaysWithTheOuter) {
  Tensor outer;
  with_torch([&] {
    outer = torch::ones({3});
    auto returned = with_torch([&] { return outer; });
    EXPECT_EQ(value(returned), 3);
  });
  use_after_release([&] { value(outer); });
}

TEST(NestingTest, ATensorOfTheOuterScopeRetainedInAnInnerOneLeavesBoth) {
  Tensor outer;
  with_torch([&] {
    outer = torch::ones({3});
    with_torch([&] { tensorscope::retain(outer); });
  });
  EXPECT_EQ(value(outer), 3);
}

TEST(NestingTest, AnInnerScopeReleasesItsOwnOnly) {
  with_torch([&] {
    auto outer = torch::ones({3});
    Tensor inner;
    with_torch([&] {
      inner = torch::ones({5});
      outer.add_(1);
    });
    use_after_release([&] { value(inner); });
    EXPECT_EQ(value(outer), 6);
  });
}

TEST(NestingTest, APromotedTensorBelongsToTheScopeAround) {
  Tensor promoted;
  with_torch([&] {
    with_torch([&] { promoted = tensorscope::promote(torch::ones({3})); });
    EXPECT_EQ(value(promoted), 3);
  });
  use_after_release([&] { value(promoted); });
}

TEST(NestingTest, PromotedByTheOutermostScopeIsRetained) {
  Tensor promoted;
  with_torch([&] { promoted = tensorscope::promote(torch::ones({3})); });
  EXPECT_EQ(value(promoted), 3);
}

TEST(NestingTest, PromotedToASessionLivesAsLongAsTheSession) {
  Tensor promoted;
  tensorscope::start_session();
  with_torch([&] { promoted = tensorscope::promote(torch::ones({3})); });
  EXPECT_EQ(value(promoted), 3);
  tensorscope::stop_session();
  use_after_release([&] { value(promoted); });
}

TEST(NestingTest, DropGivesUpOneHandle) {
  auto x = torch::ones({3}), copy = x;
  tensorscope::drop(x);
  EXPECT_FALSE(x.defined());
  EXPECT_EQ(value(copy), 3);
  MemoryWitness witness;
  auto large = torch::ones({1000});
  tensorscope::drop(large);
  EXPECT_EQ(witness.bytes(), 0);
}

TEST(NestingTest, IgnoredTensorsAreNoScopes) {
  Tensor ignored;
  with_torch([&] { ignored = tensorscope::ignore(torch::ones({3})); });
  EXPECT_EQ(value(ignored), 3);
}

TEST(NestingTest, RetainGivesItsArgumentBack) {
  auto x = torch::ones({3});
  EXPECT_EQ(&tensorscope::retain(x), &x);
  auto list = tensorscope::retain(std::vector<Tensor>{x, x});
  EXPECT_EQ(list.size(), 2u);
  const auto constant = x;
  static_assert(!std::is_reference_v<decltype(tensorscope::retain(constant))>);
}

// --- results ------------------------------------------------------------------

struct Attention {
  Tensor weights;
  int heads = 0;
};
struct Output {
  Tensor prediction;
  std::vector<Attention> attention;
};

TEST(NestingTest, ResultsAreKeptAtAnyDepth) {
  std::vector<Tensor> temporaries;
  auto result = with_torch([&] {
    auto x = torch::arange(6.0);
    temporaries = {x.exp(), x.sin()};
    return std::make_tuple(Output{x + 1, {{x.view({2, 3}), 4}}}, std::optional<Tensor>(x * 2),
                           std::variant<int, Tensor>(x * 3), nn::Linear(2, 2), c10::IValue(x * 4),
                           std::make_unique<Tensor>(x * 5), 7, std::string("text"));
  });
  const auto& [output, optional, variant, linear, ivalue, pointer, number, text] = result;
  EXPECT_EQ(value(output.prediction), 21);
  EXPECT_EQ(value(output.attention[0].weights), 15);
  EXPECT_EQ(value(*optional) + value(std::get<Tensor>(variant)), 75);
  EXPECT_NO_THROW(value(linear->weight));
  EXPECT_EQ(value(ivalue.toTensor()) + value(*pointer), 135);
  EXPECT_EQ(number, 7);
  for (auto& temporary : temporaries)
    use_after_release([&] { value(temporary); });
}

TEST(NestingTest, ResultsComeBackByValue) {
  auto older = torch::ones({3});
  auto returned = with_torch([&]() -> Tensor& { return older; });
  static_assert(std::is_same_v<decltype(returned), Tensor>);
  EXPECT_NE(&returned, &older);
  EXPECT_EQ(value(returned), 3);
  EXPECT_EQ(with_torch([] { return std::make_unique<int>(5); }).operator*(), 5);
}

TEST(NestingTest, WhatALambdaInTheResultCarriesOutIsReleased) {
  auto later = with_torch([] {
    auto x = torch::ones({3});
    return std::function<double()>([x] { return value(x); });
  });
  use_after_release([&] { later(); });
}

// --- exceptions and misuse --------------------------------------------------------

TEST(NestingTest, AThrowingBodyClosesItsScopeAndKeepsNothing) {
  Tensor escaped;
  EXPECT_THROW(with_torch([&]() -> Tensor {
                 escaped = torch::ones({3});
                 throw std::runtime_error("body");
               }),
               std::runtime_error);
  use_after_release([&] { value(escaped); });
  auto after = torch::ones({3}); // no scope is left open
  with_torch([] {});
  EXPECT_EQ(value(after), 3);
}

TEST(NestingTest, AnOperatorThatThrowsLeavesTheScopeInOrder) {
  Tensor before, after;
  with_torch([&] {
    before = torch::ones({3});
    EXPECT_THROW(torch::mm(torch::ones({2, 3}), torch::ones({2, 3})), c10::Error);
    after = torch::ones({5});
  });
  use_after_release([&] { value(before); });
  use_after_release([&] { value(after); });
}

TEST(NestingTest, AnExceptionThroughTwoScopesClosesBoth) {
  Tensor outer, inner, retained;
  EXPECT_THROW(with_torch([&] {
                 outer = torch::ones({3});
                 with_torch([&] {
                   inner = torch::ones({5});
                   retained = tensorscope::retain(torch::ones({7}));
                   throw 3;
                 });
               }),
               int);
  use_after_release([&] { value(outer); });
  use_after_release([&] { value(inner); });
  EXPECT_EQ(value(retained), 7);
}

TEST(NestingTest, AnOuterScopeCantBeClosedBeforeTheInnerOne) {
  Scope outer;
  auto x = torch::ones({3});
  {
    Scope inner;
    auto y = torch::ones({5});
    EXPECT_THROW(outer.close(), UsageError);
    EXPECT_EQ(value(x) + value(y), 8) << "nothing was changed";
  }
  outer.close();
  outer.close();
  use_after_release([&] { value(x); });
}

TEST(NestingTest, AScopeDestroyedOutOfOrderKeepsWhatItOwnsAndSaysSo) {
  auto outer = std::make_unique<Scope>();
  auto x = torch::ones({3});
  auto inner = std::make_unique<Scope>();
  auto y = torch::ones({5});
  testing::internal::CaptureStderr();
  outer.reset();
  inner.reset();
  const auto printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 1) << printed;
  EXPECT_NE(printed.find("tensorscope"), std::string::npos) << printed;
  EXPECT_EQ(value(x), 3);
  auto after = torch::ones({7}); // no scope is left open
  with_torch([] {});
  EXPECT_EQ(value(after), 7);
}

TEST(NestingTest, AScopeDestroyedOnAnotherThreadKeepsWhatItOwnsAndSaysSo) {
  testing::internal::CaptureStderr();
  Tensor x;
  std::thread([&] {
    auto scope = std::make_unique<Scope>();
    x = torch::ones({3});
    std::thread([scope = std::move(scope)]() mutable { scope.reset(); }).join();
  }).join();
  const auto printed = testing::internal::GetCapturedStderr();
  EXPECT_NE(printed.find("thread"), std::string::npos) << printed;
  EXPECT_EQ(value(x), 3);
}

TEST(NestingTest, ScopesNestDeeply) {
  std::vector<Tensor> made;
  std::function<void(int)> nest = [&](int depth) {
    with_torch([&] {
      made.push_back(torch::full({depth + 1}, 1.0));
      if (depth > 0)
        nest(depth - 1);
      EXPECT_EQ(value(made[100 - depth]), depth + 1);
    });
  };
  nest(100);
  for (auto& tensor : made)
    EXPECT_FALSE(tensorscope::alive(tensor));
}

TEST(NestingTest, ALongScopeHasAFlatPeak) {
  MemoryWitness witness;
  with_torch([&] {
    for (int i = 0; i < 100; ++i)
      (void)torch::ones({1000}).sum().item<float>();
    const auto storages = live_storages();
    const auto heap = heap_bytes();
    for (int i = 0; i < 100'000; ++i)
      (void)torch::ones({10});
    EXPECT_EQ(witness.bytes(), 0);
    EXPECT_EQ(live_storages(), storages);
    EXPECT_LT(heap_bytes(), heap + (1 << 20)) << "what the ledger keeps of dead tensors must be pruned";
  });
}

} // namespace
} // namespace tensorscope_test
