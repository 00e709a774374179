// SPDX-License-Identifier: Apache-2.0
// Sessions: opened and closed by calls, one a thread.
#include "scope_test.h"

namespace tensorscope_test {
namespace {

using namespace torch;
using tensorscope::Session;
using tensorscope::start_session;
using tensorscope::stop_session;
using tensorscope::UsageError;

TEST(SessionTest, OwnsWhatIsMadeUntilItStops) {
  auto older = torch::ones({3});
  start_session();
  auto a = torch::ones({3}), kept = tensorscope::retain(torch::ones({5}));
  auto b = a + older;
  EXPECT_EQ(value(b), 6);
  stop_session();
  use_after_release([&] { value(a); });
  use_after_release([&] { value(b); });
  EXPECT_EQ(value(older) + value(kept), 8);
  EXPECT_EQ(value(torch::ones({3})), 3);
}

TEST(SessionTest, StoppingWithoutASessionHasNoEffect) {
  auto x = torch::ones({3});
  stop_session();
  stop_session();
  EXPECT_EQ(value(x), 3);
}

TEST(SessionTest, ASecondStartClosesTheFirst) {
  start_session();
  auto first = torch::ones({3});
  start_session();
  use_after_release([&] { value(first); });
  auto second = torch::ones({3});
  stop_session();
  use_after_release([&] { value(second); });
  auto after = torch::ones({3});
  stop_session();
  EXPECT_EQ(value(after), 3);
}

TEST(SessionTest, ScopesInsideASessionReleaseTheirOwn) {
  Session session;
  auto outer = torch::ones({3});
  Tensor inner;
  auto result = with_torch([&] {
    inner = torch::ones({5});
    return inner + 1;
  });
  use_after_release([&] { value(inner); });
  EXPECT_EQ(value(outer) + value(result), 13);
}

TEST(SessionTest, AScopesResultInsideASessionOutlivesTheSession) {
  Tensor result;
  {
    Session session;
    result = with_torch([] { return torch::ones({3}); });
  }
  EXPECT_EQ(value(result), 3);
}

TEST(SessionTest, StartingInsideAScopeIsAUsageError) {
  Tensor x;
  with_torch([&] {
    x = torch::ones({3});
    EXPECT_THROW(start_session(), UsageError);
    EXPECT_THROW(Session session, UsageError);
    EXPECT_EQ(value(x), 3) << "nothing was changed";
  });
  use_after_release([&] { value(x); });
}

TEST(SessionTest, StartingOrStoppingWithAScopeOpenInsideIsAUsageError) {
  Session session;
  auto x = torch::ones({3});
  with_torch([&] {
    EXPECT_THROW(start_session(), UsageError);
    EXPECT_THROW(stop_session(), UsageError);
  });
  EXPECT_EQ(value(x), 3) << "nothing was changed";
  stop_session();
  use_after_release([&] { value(x); });
}

TEST(SessionTest, TheErrorSaysWhatToDo) {
  with_torch([&] {
    try {
      start_session();
      FAIL() << "no error";
    } catch (const UsageError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("scope"), std::string::npos) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
  });
}

TEST(SessionTest, ASessionObjectClosesWhenItGoes) {
  Tensor x;
  {
    Session session;
    x = torch::ones({3});
  }
  use_after_release([&] { value(x); });
}

TEST(SessionTest, ASessionObjectThatWasReplacedLeavesTheNewOneAlone) {
  Tensor first, second;
  {
    Session session;
    first = torch::ones({3});
    start_session();
    second = torch::ones({3});
  }
  use_after_release([&] { value(first); });
  EXPECT_EQ(value(second), 3);
  stop_session();
  use_after_release([&] { value(second); });
}

TEST(SessionTest, EachThreadHasItsOwn) {
  start_session();
  auto mine = torch::ones({3});
  Tensor unowned, theirs;
  std::thread([&] {
    unowned = torch::ones({3});
    stop_session(); // there is none on this thread
    start_session();
    theirs = torch::ones({3});
    stop_session();
  }).join();
  EXPECT_EQ(value(mine) + value(unowned), 6);
  use_after_release([&] { value(theirs); });
  stop_session();
  use_after_release([&] { value(mine); });
  EXPECT_EQ(value(unowned), 3);
}

TEST(SessionTest, AThreadThatEndsWithItsSessionOpenLeavesItsTensorsAlive) {
  Tensor x;
  std::thread([&] {
    start_session();
    x = torch::ones({3});
  }).join();
  EXPECT_EQ(value(x), 3);
}

TEST(SessionTest, ALongSessionStaysBounded) {
  MemoryWitness witness;
  Session session;
  for (int i = 0; i < 100; ++i)
    (void)torch::ones({10});
  const auto storages = live_storages();
  const auto heap = heap_bytes();
  for (int i = 0; i < 200'000; ++i)
    (void)torch::ones({10});
  EXPECT_EQ(witness.bytes(), 0);
  EXPECT_EQ(live_storages(), storages);
  EXPECT_LT(heap_bytes(), heap + (1 << 20));
}

TEST(SessionTest, TrainingInASessionGivesTheSameBits) {
  std::vector<Tensor> results[2];
  for (bool in_session : {false, true}) {
    manual_seed(6);
    auto net = make_net();
    optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.01));
    if (in_session)
      start_session();
    for (int i = 0; i < 5; ++i) {
      optimizer.zero_grad();
      loss_of(net).backward();
      optimizer.step();
    }
    stop_session();
    results[in_session] = snapshot(*net);
  }
  EXPECT_TRUE(same_bits(results[0], results[1]));
}

TEST(SessionTest, ReleasesInALongSessionStayLinear) {
  Session session;
  std::vector<Tensor> views;
  double first = 0, last = 0;
  constexpr int third = 3000;
  for (int i = 0; i < 3 * third; ++i) {
    auto tensor = torch::ones({1});
    views.push_back(tensor.view({1, 1}));
    const auto start = thread_seconds();
    tensorscope::release(tensor);
    (i < third ? first : last) += i < third || i >= 2 * third ? thread_seconds() - start : 0;
  }
  EXPECT_LT(last, 3 * first) << "a search through all views would be five times slower";
  use_after_release([&] { views.front().view({-1}); });
}

TEST(SessionTest, RetainingOldTensorsInALongSessionStaysLinear) {
  Session session;
  std::vector<Tensor> held;
  double first = 0, last = 0;
  constexpr int third = 6000;
  for (int i = 0; i < 3 * third; ++i) {
    for (int j = 0; j < 2; ++j)
      held.push_back(torch::empty({1}));
    const auto start = thread_seconds();
    tensorscope::retain(held[i]);
    (i < third ? first : last) += i < third || i >= 2 * third ? thread_seconds() - start : 0;
  }
  EXPECT_LT(last, 3 * first);
}

} // namespace
} // namespace tensorscope_test
