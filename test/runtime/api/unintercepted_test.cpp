// SPDX-License-Identifier: Apache-2.0
// A program whose link keeps LibTorch's calls from being intercepted: scopes own too little rather than too much.
#include "torch_test.h"

#include <tensorscope/tensorscope.h>

namespace {

using tensorscope::with_torch;

TEST(UninterceptedTest, OneLineSaysSoAndNamesTheRemedy) {
  testing::internal::CaptureStderr();
  with_torch([] {});
  with_torch([] {});
  const auto said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("tensorscope: health: LibTorch's calls can't be intercepted"), std::string::npos) << said;
  EXPECT_NE(said.find("tensorscope::runtime"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST(UninterceptedTest, WhatLibTorchKeepsIsNeverReleased) {
  torch::nn::Linear net(3, 2);
  torch::optim::Adam optimizer(net->parameters());
  auto assigned = torch::ones({3}, torch::requires_grad());
  auto replaced = torch::zeros({3});
  for (int step = 0; step < 3; ++step) {
    with_torch([&] {
      optimizer.zero_grad();
      net->forward(torch::ones({4, 3})).pow(2).sum().backward();
      optimizer.step();
      assigned.mutable_grad() = torch::ones({3}) * 2;
      replaced.set_data(torch::ones({3}) * 3);
    });
  }
  EXPECT_TRUE(std::isfinite(net->weight.grad().sum().item<double>()));
  EXPECT_EQ(assigned.grad().sum().item<double>(), 6);
  EXPECT_EQ(replaced.sum().item<double>(), 9);
  with_torch([&] { net->to(torch::kDouble); });
  EXPECT_EQ(net->forward(torch::ones({1, 3}, torch::kDouble)).scalar_type(), torch::kDouble);
}

TEST(UninterceptedTest, MemoryStaysFlat) {
  const auto live = [] { return tensorscope::stats().total().live; };
  std::uint64_t after_ten = 0;
  for (int step = 0; step < 200; ++step) {
    with_torch([&] { return torch::ones({64}).exp().sum().item<float>(); });
    if (step == 10) {
      after_ten = live();
    }
  }
  EXPECT_EQ(live(), after_ten);
}

TEST(UninterceptedTest, WhatEscapesIsLeftAliveAndCounted) {
  const auto before = tensorscope::stats().total();
  torch::Tensor escaped;
  with_torch([&] { escaped = torch::ones({5}); });
  EXPECT_EQ(escaped.sum().item<double>(), 5);
  const auto after = tensorscope::stats().total();
  EXPECT_EQ(after.escaped, before.escaped + 1);
  EXPECT_EQ(after.released, before.released);
}

TEST(UninterceptedTest, AnExplicitReleaseStillGivesAClearError) {
  auto tensor = torch::ones({5});
  auto view = tensor.view({5, 1});
  tensorscope::release(tensor);
  EXPECT_THROW(tensor.sum(), tensorscope::UseAfterRelease);
  try {
    view.sum();
    FAIL() << "no error";
  } catch (const c10::Error& error) {
    EXPECT_TRUE(tensorscope::is_use_after_release(error)) << error.what();
    EXPECT_NE(error.msg().find("unintercepted_test.cpp"), std::string::npos);
  }
}

TEST(UninterceptedTest, AnotherErrorIsNoUseAfterRelease) {
  try {
    torch::ones({2}).view({3});
    FAIL() << "no error";
  } catch (const c10::Error& error) {
    EXPECT_FALSE(tensorscope::is_use_after_release(error));
  }
}

} // namespace
