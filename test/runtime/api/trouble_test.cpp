// SPDX-License-Identifier: Apache-2.0
// Misuse and trouble: errors where an error can be thrown, one line and nothing worse where not.
#include "torch_test.h"

#include <tensorscope/tensorscope.h>

namespace {

using tensorscope::EnvironmentError;
using tensorscope::Scope;
using tensorscope::UsageError;
using tensorscope::UseAfterRelease;
using tensorscope::with_torch;
using torch::Tensor;

double value(const Tensor& tensor) {
  return tensor.sum().item<double>();
}

TEST(TroubleTest, AScopeWithAnotherInsideItCannotBeClosed) {
  Scope outer;
  {
    Scope inner;
    EXPECT_THROW(outer.close(), UsageError);
  }
  outer.close();
  outer.close();
}

TEST(TroubleTest, AScopeDestroyedOutOfOrderLeavesItsTensorsAlive) {
  testing::internal::CaptureStderr();
  auto outer = std::make_unique<Scope>();
  auto older = torch::ones({2});
  auto inner = std::make_unique<Scope>();
  auto younger = torch::ones({3});
  outer.reset();
  EXPECT_EQ(value(older), 2);
  inner.reset();
  EXPECT_EQ(value(older), 2);
  EXPECT_THROW(value(younger), UseAfterRelease);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("tensorscope: health: "), std::string::npos);
  Tensor escaped;
  with_torch([&] { escaped = torch::ones({2}); });
  EXPECT_THROW(value(escaped), UseAfterRelease);
}

TEST(TroubleTest, AScopeDestroyedOnAnotherThreadLeavesItsTensorsAlive) {
  testing::internal::CaptureStderr();
  auto scope = std::make_unique<Scope>();
  auto tensor = torch::ones({2});
  std::thread([&] { scope.reset(); }).join();
  EXPECT_EQ(value(tensor), 2);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("another thread"), std::string::npos);
  Tensor escaped;
  with_torch([&] { escaped = torch::ones({2}); });
  EXPECT_THROW(value(escaped), UseAfterRelease);
  EXPECT_EQ(value(tensor), 2);
}

TEST(TroubleTest, AThreadThatEndsInASessionLeavesItsTensorsAlive) {
  testing::internal::CaptureStderr();
  Tensor tensor;
  std::thread([&] {
    tensorscope::start_session();
    tensor = torch::ones({2});
  }).join();
  EXPECT_EQ(value(tensor), 2);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("a thread ended"), std::string::npos);
}

TEST(TroubleTest, ABodyThatThrowsClosesItsScope) {
  Tensor escaped;
  EXPECT_THROW(with_torch([&] {
                 escaped = torch::ones({2});
                 throw std::runtime_error("body");
               }),
               std::runtime_error);
  EXPECT_THROW(value(escaped), UseAfterRelease);
}

TEST(TroubleTest, SessionsRefuseToCrossScopes) {
  {
    Scope scope;
    EXPECT_THROW(tensorscope::start_session(), UsageError);
    tensorscope::stop_session();
  }
  tensorscope::start_session();
  auto tensor = torch::ones({2});
  {
    Scope scope;
    EXPECT_THROW(tensorscope::start_session(), UsageError);
    EXPECT_THROW(tensorscope::stop_session(), UsageError);
  }
  EXPECT_EQ(value(tensor), 2);
  tensorscope::stop_session();
  EXPECT_THROW(value(tensor), UseAfterRelease);
}

// Each runs in a process of its own, with the option that its name tells.
class EnvironmentTest : public testing::Test {};

TEST_F(EnvironmentTest, on_escape_keep) {
  EXPECT_THROW(with_torch([] {}), EnvironmentError);
  try {
    Scope scope;
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "TENSORSCOPE_OPTIONS: bad value 'keep' for 'on_escape': use release, report, throw");
  }
}

TEST_F(EnvironmentTest, level_on) {
  EXPECT_THROW(tensorscope::start_session(), EnvironmentError);
  EXPECT_THROW(tensorscope::options(), EnvironmentError);
}

TEST_F(EnvironmentTest, levle_off) {
  testing::internal::CaptureStderr();
  Tensor escaped;
  with_torch([&] { escaped = torch::ones({2}); });
  EXPECT_THROW(value(escaped), UseAfterRelease);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("unknown key 'levle' (did you mean 'level'?) is ignored"), std::string::npos);
}

} // namespace
