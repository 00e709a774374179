// SPDX-License-Identifier: Apache-2.0
// A function's static variable that is first reached inside a scope lives as long as the program.
#include "scope_test.h"

#include <memory>

namespace tensorscope_test {
namespace {

const Tensor& mask() {
  static const Tensor tensor = torch::ones({3}) * 2;
  return tensor;
}

TEST(StaticVariablesTest, OneThatIsFirstReachedInAScopeOutlivesIt) {
  EXPECT_EQ(with_torch([] { return value(mask()); }), 6);
  EXPECT_EQ(value(mask()), 6);
  EXPECT_EQ(with_torch([] { return value(mask()); }), 6);
}

TEST(StaticVariablesTest, TheScopeOwnsWhatIsMadeBeforeAndAfter) {
  Tensor before, after;
  with_torch([&] {
    before = torch::ones({3});
    static const Tensor table = torch::arange(4);
    after = torch::ones({3}) + table.sum();
  });
  use_after_release([&] { value(before); });
  use_after_release([&] { value(after); });
}

const Tensor& outer_table() {
  static const Tensor tensor = [] {
    static const Tensor inner = torch::ones({5});
    return inner + mask().sum();
  }();
  return tensor;
}

TEST(StaticVariablesTest, OneInsideAnother) {
  Tensor escaped;
  with_torch([&] {
    outer_table();
    escaped = torch::ones({3});
  });
  EXPECT_EQ(value(outer_table()), 35);
  use_after_release([&] { value(escaped); });
}

const Tensor& fails_at_first(bool fail) {
  static const Tensor tensor = [&] {
    auto made = torch::ones({2});
    if (fail)
      throw std::runtime_error("initialiser");
    return made;
  }();
  return tensor;
}

TEST(StaticVariablesTest, AnInitialiserThatThrowsIsOver) {
  Tensor escaped;
  with_torch([&] {
    EXPECT_THROW(fails_at_first(true), std::runtime_error);
    escaped = torch::ones({3});
    fails_at_first(false);
  });
  use_after_release([&] { value(escaped); });
  EXPECT_EQ(value(fails_at_first(false)), 2);
}

TEST(StaticVariablesTest, AScopeInAnInitialiserOwnsWhatIsMadeInIt) {
  static Tensor escaped;
  Tensor of_outer;
  with_torch([&] {
    static const Tensor table = with_torch([] {
      escaped = torch::ones({3});
      return escaped * 2;
    });
    EXPECT_EQ(value(table), 6);
    of_outer = torch::ones({3});
  });
  use_after_release([&] { value(escaped); });
  use_after_release([&] { value(of_outer); });
}

TEST(StaticVariablesTest, AScopeThatAnInitialiserLeavesOpenEndsLater) {
  Tensor inner, outer;
  with_torch([&] {
    static std::unique_ptr<Scope> scope = std::make_unique<Scope>();
    inner = torch::ones({3});
    scope.reset();
    outer = torch::ones({3});
  });
  use_after_release([&] { value(inner); });
  use_after_release([&] { value(outer); });
}

TEST(StaticVariablesTest, AScopeThatAnInitialiserClosesLeavesTheOneAround) {
  Tensor inner, outer;
  with_torch([&] {
    auto scope = std::make_unique<Scope>();
    static const bool closed = [&] {
      scope->close();
      return true;
    }();
    EXPECT_TRUE(closed);
    outer = torch::ones({3});
  });
  use_after_release([&] { value(outer); });
}

TEST(StaticVariablesTest, ThreadsThatReachOneTogetherShareIt) {
  struct Shared {
    static const Tensor& table() {
      static const Tensor tensor = [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return torch::ones({100});
      }();
      return tensor;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      Tensor escaped;
      for (int step = 0; step < 3; ++step) {
        with_torch([&] { escaped = Shared::table() + 1; });
        use_after_release([&] { value(escaped); });
      }
    });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(value(Shared::table()), 100);
}

TEST(StaticVariablesTest, OneThatIsReachedInASessionOutlivesIt) {
  struct Table {
    static const Tensor& get() {
      static const Tensor tensor = torch::ones({7});
      return tensor;
    }
  };
  tensorscope::start_session();
  Table::get();
  tensorscope::stop_session();
  EXPECT_EQ(value(Table::get()), 7);
}

} // namespace
} // namespace tensorscope_test
