// SPDX-License-Identifier: Apache-2.0
// The cases that Clorch and JavaCPP test their scopes with, in C++.
#include "scope_test.h"

namespace tensorscope_test {
namespace {

TEST(ClorchCasesTest, TheResultIsKeptAndWhatElseIsHeldIsReleased) {
  Tensor a_outside;
  auto product = with_torch([&] {
    auto a = torch::ones({10, 7}), b = torch::ones({7, 3});
    a_outside = a;
    return torch::matmul(a, b);
  });
  EXPECT_EQ(value(product), 10 * 3 * 7);
  use_after_release([&] { value(a_outside); });
}

TEST(ClorchCasesTest, MapsAndCollectionsAreKeptAsAWhole) {
  auto result = with_torch([&] {
    auto x = torch::arange(6.0);
    return std::map<std::string, std::vector<Tensor>>{{"prediction", {x * 2}}, {"attention", {x + 1, x.view({2, 3})}}};
  });
  EXPECT_EQ(value(result["prediction"][0]), 30);
  EXPECT_EQ(value(result["attention"][0]), 21);
  EXPECT_EQ(value(result["attention"][1]), 15);
}

TEST(ClorchCasesTest, RetainKeepsATensorAcrossItsScope) {
  std::optional<Tensor> saved;
  with_torch([&] {
    auto x = torch::full({5}, 3.0);
    tensorscope::retain(x);
    saved = x;
  });
  EXPECT_EQ(value(*saved), 15);
}

TEST(ClorchCasesTest, RescuePointersIsRetain) {
  Tensor saved = torch::zeros({1});
  with_torch([&] { saved = tensorscope::rescue_pointers(torch::full({5}, 2.0)); });
  EXPECT_EQ(value(saved), 10);
}

TEST(ClorchCasesTest, RetainReachesIntoCollections) {
  std::map<std::string, std::vector<Tensor>> cache;
  Tensor other;
  with_torch([&] {
    cache["layers"] = {torch::ones({3}), torch::ones({5})};
    other = torch::ones({7});
    tensorscope::retain(cache);
    tensorscope::retain(cache);
  });
  EXPECT_EQ(value(cache["layers"][0]) + value(cache["layers"][1]), 8);
  use_after_release([&] { value(other); });
}

TEST(ClorchCasesTest, ReleaseGoesThroughNestedCollections) {
  using Nested = std::map<std::string, std::vector<std::map<int, std::optional<Tensor>>>>;
  auto a = torch::ones({3}), b = torch::ones({5}), c = torch::ones({7}), apart = torch::ones({11});
  Nested nested{{"x", {{{1, a}, {2, std::nullopt}}, {{3, b}}}}, {"y", {{{4, c.view({7, 1})}}}}};
  tensorscope::release(nested);
  for (auto* released : {&a, &b, &c}) {
    EXPECT_TRUE(released->defined());
    EXPECT_FALSE(tensorscope::alive(*released));
    use_after_release([&] { value(*released); });
  }
  EXPECT_EQ(value(apart), 11);
}

TEST(ClorchCasesTest, SessionsMayBeStartedAndStoppedAnyNumberOfTimes) {
  tensorscope::stop_session();
  tensorscope::start_session();
  auto first = torch::ones({3});
  tensorscope::start_session();
  use_after_release([&] { value(first); });
  auto second = torch::ones({3});
  EXPECT_EQ(value(second), 3);
  tensorscope::stop_session();
  use_after_release([&] { value(second); });
  tensorscope::stop_session();
  EXPECT_EQ(value(torch::ones({3})), 3);
}

TEST(ClorchCasesTest, AThousandAllocationsKeepMemoryFlat) {
  MemoryWitness witness;
  std::vector<Tensor> hoard; // holds them all: only the scopes can free them
  const auto step = [&](int i) {
    with_torch([&] {
      hoard.push_back(torch::ones({257, 129}) * i);
      return hoard.back().sum().item<float>();
    });
  };
  for (int i = 0; i < 10; ++i)
    step(i);
  const auto before = witness.bytes();
  const auto storages_before = live_storages();
  const auto heap_before = heap_bytes();
  for (int i = 0; i < 1000; ++i)
    step(i);
  EXPECT_EQ(witness.bytes(), before);
  EXPECT_EQ(live_storages(), storages_before);
  const auto one_tensor = 257 * 129 * sizeof(float);
  EXPECT_LT(heap_bytes(), heap_before + 20 * one_tensor) << "a thousand would be 1000 times " << one_tensor;
}

TEST(ClorchCasesTest, ThreadsHaveScopesOfTheirOwn) {
  Tensor made_by_worker, made_by_main;
  with_torch([&] {
    made_by_main = torch::ones({3});
    std::thread worker([&] {
      made_by_worker = torch::ones({5}); // no scope is open on this thread
      with_torch([&] { EXPECT_EQ(value(made_by_main), 3); });
      EXPECT_EQ(value(made_by_main), 3) << "the worker's scope does not own it";
    });
    worker.join();
  });
  EXPECT_EQ(value(made_by_worker), 5);
  use_after_release([&] { value(made_by_main); });
}

TEST(ClorchCasesTest, AScopeThatReturnsNothingReleasesAll) {
  Tensor inside;
  with_torch([&] {
    inside = torch::ones({4});
    (void)inside.sum().item<float>();
  });
  EXPECT_FALSE(tensorscope::alive(inside));
}

// JavaCPP: pointers made outside, made inside, attached, detached, and freed by hand.
TEST(ClorchCasesTest, AScopeTakesAttachedTensorsAndLeavesDetachedOnes) {
  auto outside = torch::ones({3}), freed = torch::ones({5}), attached = torch::ones({7});
  Tensor inside, detached;
  {
    Scope scope;
    inside = torch::ones({11});
    detached = torch::ones({13});
    tensorscope::track(attached);
    scope.retain(detached);
    tensorscope::release(freed);
    EXPECT_FALSE(tensorscope::alive(freed));
    EXPECT_EQ(value(attached) + value(inside), 18);
  }
  EXPECT_EQ(value(outside), 3);
  EXPECT_EQ(value(detached), 13);
  EXPECT_FALSE(tensorscope::alive(attached));
  EXPECT_FALSE(tensorscope::alive(inside));
}

TEST(ClorchCasesTest, NestedScopesReleaseTheirOwn) {
  Tensor outer, inner;
  {
    Scope around;
    outer = torch::ones({3});
    {
      Scope within;
      inner = torch::ones({5});
    }
    EXPECT_FALSE(tensorscope::alive(inner));
    EXPECT_EQ(value(outer), 3);
  }
  EXPECT_FALSE(tensorscope::alive(outer));
}

TEST(ClorchCasesTest, GcReleasesNothingThatIsReachable) {
  auto outside = torch::ones({3});
  with_torch([&] {
    auto inside = torch::ones({5});
    const auto report = tensorscope::gc();
    ASSERT_FALSE(report.empty());
    EXPECT_GE(report.front().live, 2u);
    EXPECT_GE(report.front().bytes, 8 * sizeof(float));
    EXPECT_EQ(value(inside), 5);
  });
  EXPECT_EQ(value(outside), 3);
}

} // namespace
} // namespace tensorscope_test
