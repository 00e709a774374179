// SPDX-License-Identifier: Apache-2.0
// Behaviour under options other than the defaults. Each test runs in a process started with its option.
#include "scope_test.h"

namespace tensorscope_test {
namespace {

TEST(OptionsTest, on_escape_report_LeavesEscapesAliveAndNamesThem) {
  ASSERT_EQ(tensorscope::options().on_escape, tensorscope::OnEscape::report) << "start with TENSORSCOPE_OPTIONS";
  Tensor escaped;
  testing::internal::CaptureStderr();
  with_torch([&] { escaped = torch::ones({3, 5}); });
  const auto printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(value(escaped), 15);
  EXPECT_NE(printed.find("[3, 5]"), std::string::npos) << printed;
  EXPECT_NE(printed.find("options_test.cpp"), std::string::npos) << printed;
}

TEST(OptionsTest, on_escape_throw_ThrowsWhereItMay) {
  ASSERT_EQ(tensorscope::options().on_escape, tensorscope::OnEscape::throw_error) << "start with TENSORSCOPE_OPTIONS";
  Tensor escaped;
  EXPECT_THROW(with_torch([&] { escaped = torch::ones({3}); }), tensorscope::EscapeError);
  use_after_release([&] { value(escaped); });
  EXPECT_NO_THROW(with_torch([&] { return torch::ones({3}); }));
  EXPECT_NO_THROW({
    Scope scope;
    escaped = torch::ones({3});
  });
  EXPECT_THROW(with_torch([&] {
                 escaped = torch::ones({3});
                 throw std::runtime_error("body");
               }),
               std::runtime_error);
}

TEST(OptionsTest, level_off_PassesEverythingThrough) {
  ASSERT_EQ(tensorscope::options().level, tensorscope::Level::off) << "start with TENSORSCOPE_OPTIONS";
  Tensor escaped;
  auto result = with_torch([&] {
    escaped = torch::ones({3});
    return escaped + 1;
  });
  EXPECT_EQ(value(escaped) + value(result), 9);
  tensorscope::release(escaped);
  EXPECT_EQ(value(escaped), 3);
  EXPECT_TRUE(tensorscope::alive(escaped));
}

} // namespace
} // namespace tensorscope_test
