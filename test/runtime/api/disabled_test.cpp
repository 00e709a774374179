// SPDX-License-Identifier: Apache-2.0
// With TENSORSCOPE_DISABLED the same program compiles, links without the library, and nothing is released.
#include "torch_test.h"

#define TENSORSCOPE_DISABLED
#include <tensorscope/tensorscope.h>

namespace {

TEST(DisabledTest, WithTorchIsTheCallOfItsBody) {
  torch::Tensor escaped;
  const auto result = tensorscope::with_torch([&] {
    escaped = torch::ones({3});
    return escaped * 2;
  });
  EXPECT_EQ(result.sum().item<float>(), 6);
  EXPECT_EQ(escaped.sum().item<float>(), 3);
  int ran = 0;
  tensorscope::with_torch([&] { ++ran; });
  EXPECT_EQ(ran, 1);
}

TEST(DisabledTest, AScopeIsNothing) {
  torch::Tensor escaped;
  {
    tensorscope::Scope scope;
    escaped = scope.retain(torch::ones({3}));
    scope.close();
  }
  EXPECT_EQ(escaped.sum().item<float>(), 3);
}

TEST(DisabledTest, CallsGiveTheirArgumentBack) {
  auto tensor = torch::ones({3});
  EXPECT_TRUE(tensorscope::retain(tensor).is_same(tensor));
  EXPECT_TRUE(tensorscope::rescue_pointers(tensor).is_same(tensor));
  EXPECT_TRUE(tensorscope::promote(tensor).is_same(tensor));
  EXPECT_TRUE(tensorscope::track(tensor).is_same(tensor));
  EXPECT_TRUE(tensorscope::ignore(tensor).is_same(tensor));
  torch::nn::Linear module(2, 2);
  tensorscope::adopt(module);
  tensorscope::release(tensor);
  EXPECT_TRUE(tensorscope::alive(tensor));
  EXPECT_EQ(tensor.sum().item<float>(), 3);
  tensorscope::drop(tensor);
  EXPECT_FALSE(tensor.defined());
}

TEST(DisabledTest, SessionsAndFiguresAreEmpty) {
  tensorscope::start_session();
  const auto tensor = torch::ones({3});
  tensorscope::stop_session();
  { tensorscope::Session session; }
  EXPECT_EQ(tensor.sum().item<float>(), 3);
  EXPECT_TRUE(tensorscope::stats().threads.empty());
  EXPECT_TRUE(tensorscope::gc().empty());
  EXPECT_TRUE(tensorscope::check_leaks().storages.empty());
  EXPECT_TRUE(tensorscope::expect_no_leaks([] {}));
  EXPECT_EQ(tensorscope::options().level, tensorscope::Level::off);
}

} // namespace
