// SPDX-License-Identifier: Apache-2.0
// After release: every use of every alias is a UseAfterRelease that says what was released, by what, and where.
#include "scope_test.h"

namespace tensorscope_test {
namespace {

using namespace torch;
using testing::Test;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string here(int line) {
  return "release_test.cpp:" + std::to_string(line);
}

struct Use {
  const char* name;
  std::function<void(Tensor&)> body;
};

const std::vector<Use>& uses_of_the_handle() {
  static const std::vector<Use> uses = {
      {"sum", [](Tensor& x) { (void)x.sum(); }},
      {"view", [](Tensor& x) { (void)x.view({12}); }},
      {"reshape", [](Tensor& x) { (void)x.reshape({12}); }},
      {"index", [](Tensor& x) { (void)x[0]; }},
      {"narrow", [](Tensor& x) { (void)x.narrow(0, 0, 1); }},
      {"transpose", [](Tensor& x) { (void)x.t(); }},
      {"detach", [](Tensor& x) { (void)x.detach(); }},
      {"clone", [](Tensor& x) { (void)x.clone(); }},
      {"to", [](Tensor& x) { (void)x.to(kDouble); }},
      {"contiguous", [](Tensor& x) { (void)x.t().contiguous(); }},
      {"arithmetic left", [](Tensor& x) { (void)(x + 1); }},
      {"arithmetic right", [](Tensor& x) { (void)(1 - x); }},
      {"matmul", [](Tensor& x) { (void)torch::matmul(torch::ones({4, 3}), x); }},
      {"comparison", [](Tensor& x) { (void)torch::equal(x, torch::ones({3, 4})); }},
      {"cat", [](Tensor& x) { (void)torch::cat({torch::ones({3, 4}), x}); }},
      {"item", [](Tensor& x) { (void)x.item<float>(); }},
      {"data_ptr", [](Tensor& x) { (void)x.data_ptr(); }},
      {"typed data_ptr", [](Tensor& x) { (void)x.data_ptr<float>(); }},
      {"const_data_ptr", [](Tensor& x) { (void)x.const_data_ptr<float>(); }},
      {"mutable_data_ptr", [](Tensor& x) { (void)x.mutable_data_ptr<float>(); }},
      {"accessor", [](Tensor& x) { (void)x.accessor<float, 2>(); }},
      {"printing", [](Tensor& x) { std::ostringstream() << x; }},
      {"saving", [](Tensor& x) { std::ostringstream out; torch::save(x, out); }},
      {"out=", [](Tensor& x) { torch::add_out(x, torch::ones({3, 4}), torch::ones({3, 4})); }},
      {"copy_ from", [](Tensor& x) { torch::zeros({3, 4}).copy_(x); }},
      {"copy_ to", [](Tensor& x) { x.copy_(torch::zeros({3, 4})); }},
      {"fill_", [](Tensor& x) { x.fill_(1); }},
      {"in place", [](Tensor& x) { x.add_(1); }},
      {"resize_", [](Tensor& x) { x.resize_({100}); }},
      {"index_put_", [](Tensor& x) { x.index_put_({0}, 1); }},
      {"zeros_like and add", [](Tensor& x) { (void)(torch::zeros({3, 4}) + x); }},
  };
  return uses;
}

void expect_all_uses_fail(Tensor& x, const std::vector<std::string>& parts) {
  for (const auto& use : uses_of_the_handle()) {
    SCOPED_TRACE(use.name);
    const auto text = use_after_release([&] { use.body(x); });
    for (const auto& part : parts)
      EXPECT_TRUE(contains(text, part)) << "'" << part << "' is not in: " << text;
  }
}

TEST(ReleaseTest, EveryUseOfTheHandleIsAnError) {
  auto x = torch::ones({3, 4});
  const int line = __LINE__ + 1;
  tensorscope::release(x);
  expect_all_uses_fail(x, {"release", here(line)});
}

TEST(ReleaseTest, EveryUseOfACopyOfTheHandleIsAnError) {
  auto x = torch::ones({3, 4});
  std::map<std::string, Tensor> map{{"x", x}};
  const int line = __LINE__ + 1;
  tensorscope::release(x);
  expect_all_uses_fail(map["x"], {"release", here(line)});
}

TEST(ReleaseTest, EveryUseOfWhatAScopesEndReleasedIsAnError) {
  Tensor x;
  const int line = __LINE__ + 1;
  with_torch([&] { x = torch::ones({3, 4}); });
  expect_all_uses_fail(x, {"scope", here(line)});
}

TEST(ReleaseTest, EveryUseOfWhatASessionsEndReleasedIsAnError) {
  tensorscope::start_session();
  auto x = torch::ones({3, 4});
  tensorscope::stop_session();
  expect_all_uses_fail(x, {"session", "release_test.cpp:"});
}

TEST(ReleaseTest, TheTextNamesWhatWasReleased) {
  auto x = torch::ones({3, 4}, kDouble);
  tensorscope::release(x);
  const auto text = use_after_release([&] { value(x); });
  EXPECT_TRUE(contains(text, "[3, 4]")) << text;
  EXPECT_TRUE(contains(text, "ouble") || contains(text, "float64")) << text;
  Tensor escaped;
  with_torch([&] { escaped = torch::randn({5, 7}); });
  const auto of_scope = use_after_release([&] { value(escaped); });
  EXPECT_TRUE(contains(of_scope, "[5, 7]")) << of_scope;
  EXPECT_TRUE(contains(of_scope, "randn")) << of_scope;
  EXPECT_TRUE(contains(of_scope, "retain")) << of_scope;
}

TEST(ReleaseTest, DataOfViewsAndDetachedHandlesIsAnError) {
  auto x = torch::ones({3, 4});
  std::vector<Tensor> aliases = {x.view({12}), x[1], x.t(), x.detach(), x.view({2, 6}).narrow(0, 0, 1), x.data()};
  tensorscope::release(x);
  for (auto& alias : aliases) {
    EXPECT_FALSE(tensorscope::alive(alias));
    use_after_release([&] { value(alias); });
    use_after_release([&] { (void)alias.data_ptr<float>(); });
    use_after_release([&] { (void)(alias * 2); });
    use_after_release([&] { alias.fill_(1); });
    use_after_release([&] { std::ostringstream() << alias; });
  }
}

TEST(ReleaseTest, ViewsAndDetachedHandlesSeenInAScopeFailOnMetadataToo) {
  Scope scope;
  auto x = torch::ones({3, 4});
  auto view = x.view({12}), detached = x.detach();
  tensorscope::release(x);
  use_after_release([&] { (void)view.view({3, 4}); });
  use_after_release([&] { (void)detached.view({12}); });
}

TEST(ReleaseTest, ReleasingAViewReleasesTheWholeStorage) {
  auto x = torch::ones({3, 4});
  tensorscope::release(x[0]);
  EXPECT_FALSE(tensorscope::alive(x));
  use_after_release([&] { value(x); });
}

TEST(ReleaseTest, BackwardThroughAReleasedTensorIsAnError) {
  auto w = torch::ones({3}, requires_grad());
  auto x = torch::full({3}, 2.0);
  auto loss = (w * x).sum();
  const int line = __LINE__ + 1;
  tensorscope::release(x);
  const auto text = use_after_release([&] { loss.backward(); });
  EXPECT_TRUE(contains(text, here(line))) << text;
}

TEST(ReleaseTest, DefinedStaysTrueAndAliveTellsTheTruth) {
  auto x = torch::ones({3}), copy = x, apart = torch::ones({3});
  EXPECT_TRUE(tensorscope::alive(x));
  tensorscope::release(x);
  EXPECT_TRUE(x.defined());
  EXPECT_FALSE(tensorscope::alive(x));
  EXPECT_FALSE(tensorscope::alive(copy));
  EXPECT_FALSE(tensorscope::alive(std::vector<Tensor>{apart, copy}));
  EXPECT_TRUE(tensorscope::alive(apart));
  EXPECT_FALSE(tensorscope::alive(Tensor()));
}

TEST(ReleaseTest, TwiceIsOnceAndTheFirstPlaceIsNamed) {
  auto x = torch::ones({3, 4}), copy = x;
  const auto released = tensorscope::stats().total().released;
  const int line = __LINE__ + 1;
  tensorscope::release(x);
  tensorscope::release(x);
  tensorscope::release(copy);
  EXPECT_EQ(tensorscope::stats().total().released, released + 1);
  EXPECT_TRUE(contains(use_after_release([&] { value(x); }), here(line)));
}

TEST(ReleaseTest, UndefinedAndEmptyValuesAreReleasedWithoutError) {
  Tensor undefined;
  tensorscope::release(undefined);
  tensorscope::release(std::vector<Tensor>{});
  auto empty = torch::empty({0});
  tensorscope::release(empty);
  EXPECT_FALSE(tensorscope::alive(empty));
}

TEST(ReleaseTest, MemoryGoesAtOnce) {
  MemoryWitness witness;
  auto x = torch::ones({512, 513});
  auto view = x.view({-1});
  EXPECT_EQ(witness.bytes(), 512 * 513 * 4);
  tensorscope::release(x);
  EXPECT_EQ(witness.bytes(), 0);
}

TEST(ReleaseTest, AStorageWhoseFirstHandleIsGoneCanBeReleased) {
  Scope scope;
  Tensor alias;
  {
    auto x = torch::ones({3});
    alias = x.detach();
  }
  tensorscope::release(alias);
  use_after_release([&] { value(alias); });
}

TEST(ReleaseTest, AHandleThatIsAssignedAgainIsFine) {
  auto x = torch::ones({3});
  tensorscope::release(x);
  x = torch::full({3}, 2.0);
  EXPECT_EQ(value(x), 6);
}

TEST(ReleaseTest, ReleaseInsideAScopeLeavesItsEndInPeace) {
  auto older = torch::ones({3});
  Tensor inside;
  auto result = with_torch([&] {
    inside = torch::ones({5});
    tensorscope::release(inside);
    tensorscope::release(older);
    EXPECT_FALSE(tensorscope::alive(inside));
    return torch::ones({7});
  });
  EXPECT_FALSE(tensorscope::alive(older));
  EXPECT_EQ(value(result), 7);
}

TEST(ReleaseTest, ARetainedTensorCanStillBeReleased) {
  Tensor x;
  with_torch([&] { x = tensorscope::retain(torch::ones({3})); });
  EXPECT_EQ(value(x), 3);
  tensorscope::release(x);
  use_after_release([&] { value(x); });
}

TEST(ReleaseTest, AModuleIsReleasedWithItsParameters) {
  nn::Sequential net(nn::Linear(3, 4), nn::BatchNorm1d(4));
  auto weight = net->parameters()[0];
  tensorscope::release(net);
  EXPECT_FALSE(tensorscope::alive(net));
  use_after_release([&] { value(weight); });
  use_after_release([&] { net->forward(torch::ones({2, 3})); });
}

TEST(ReleaseTest, ReleaseWhileAnotherThreadReadsIsAnErrorThere) {
  for (int repeat = 0; repeat < 40; ++repeat) {
    auto x = torch::ones({1 << 20});
    std::atomic<int> reads{0};
    bool was_told = false;
    std::thread reader([x, &reads, &was_told] {
      try {
        for (;;) {
          const auto sum = value(x);
          if (sum != 1 << 20)
            ADD_FAILURE() << "read freed memory: " << sum;
          ++reads;
        }
      } catch (const UseAfterRelease&) {
        was_told = true;
      }
    });
    while (reads < 2 + repeat % 3)
      std::this_thread::yield();
    tensorscope::release(x);
    reader.join();
    EXPECT_TRUE(was_told);
  }
}

TEST(ReleaseTest, AScopesEndWhileAnotherThreadReadsIsAnErrorThere) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::atomic<int> reads{0};
    std::atomic<bool> was_told{false};
    std::thread reader;
    with_torch([&] {
      auto x = torch::ones({1 << 19});
      reader = std::thread([x, &reads, &was_told] {
        try {
          for (;;) {
            EXPECT_EQ(value(x), 1 << 19);
            ++reads;
          }
        } catch (const UseAfterRelease&) {
          was_told = true;
        }
      });
      while (reads < 2)
        std::this_thread::yield();
    });
    reader.join();
    EXPECT_TRUE(was_told);
  }
}

TEST(ReleaseTest, TheErrorIsAC10Error) {
  auto x = torch::ones({3});
  tensorscope::release(x);
  try {
    value(x);
    FAIL() << "no error";
  } catch (const c10::Error& error) {
    EXPECT_TRUE(tensorscope::is_use_after_release(error));
  }
  try {
    (void)torch::ones({2}).view({3});
    FAIL() << "no error";
  } catch (const c10::Error& error) {
    EXPECT_FALSE(tensorscope::is_use_after_release(error));
  }
}

} // namespace
} // namespace tensorscope_test
