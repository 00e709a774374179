// SPDX-License-Identifier: Apache-2.0
//
// What summaries say of functions, and what callers make of them.
#include "AnalyzedCode.h"

#include <gtest/gtest.h>

namespace tensorscope::test {
namespace {

using Lives = std::set<std::string>;

TEST(SummaryTest, ReleaseOfAParameterReachesTheCaller) {
  AnalyzedCode C(R"cpp(
    void consume(Tensor t) { release(t); }
    void outer(const Tensor &t) { consume(t); }
    void f() {
      auto x = ones(3), y = ones(3);
      outer(x);
      point("end");
    })cpp");
  ASSERT_TRUE(C.summary("outer"));
  EXPECT_EQ(C.summary("outer")->Released.size(), 1u);
  EXPECT_EQ(C.lives("x", "end"), Lives{"released"});
  EXPECT_EQ(C.lives("y", "end"), Lives{"live"});
}

TEST(SummaryTest, ReleaseOnSomePathsOfACalleeIsNotKnownToTheCaller) {
  AnalyzedCode C(R"cpp(
    bool consume(const Tensor &t, bool now) { if (now) release(t); return now; }
    void f(bool now) {
      auto x = ones(3);
      consume(x, now);
      point("end");
    })cpp");
  EXPECT_EQ(C.lives("x", "end"), Lives{"unknown"});
}

TEST(SummaryTest, MethodReleasesAMemberAndAnotherRefillsIt) {
  AnalyzedCode C(R"cpp(
    struct State {
      Tensor hidden;
      void reset() { release(hidden); }
      void refill() { hidden = ones(3); }
    };
    void f() {
      State s{ones(3)};
      auto before = s.hidden;
      s.reset();
      point("reset");
      s.refill();
      point("refilled");
    })cpp");
  EXPECT_EQ(C.lives("s.hidden", "reset"), Lives{"released"});
  EXPECT_EQ(C.lives("before", "refilled"), Lives{"released"});
  EXPECT_EQ(C.lives("s.hidden", "refilled"), Lives{"live"});
}

TEST(SummaryTest, SessionsAreStartedStoppedReplacedOrUnclear) {
  AnalyzedCode C(R"cpp(
    void begin() { start_session(); }
    void end() { stop_session(); }
    void next() { end(); begin(); }
    void both() { begin(); end(); }
    void either(bool k) { if (k) begin(); }
    void maybeEnd(bool k) { if (k) end(); }
    struct Guard { Guard() { begin(); } ~Guard() { end(); } };
    void guarded() { Guard guard; }
    void f() {
      begin();
      point("open");
      next();
      point("again");
      end();
      point("closed");
    })cpp");
  auto Effect = [&](const char *Name) { return C.summary(Name)->Sessions; };
  EXPECT_EQ(Effect("begin"), SessionEffect::Starts);
  EXPECT_EQ(Effect("end"), SessionEffect::Stops);
  EXPECT_EQ(Effect("next"), SessionEffect::Replaces);
  EXPECT_EQ(Effect("both"), SessionEffect::None);
  EXPECT_EQ(Effect("either"), SessionEffect::Unclear);
  EXPECT_EQ(Effect("maybeEnd"), SessionEffect::Unclear);
  EXPECT_EQ(Effect("guarded"), SessionEffect::None);
  EXPECT_EQ(C.openScopes("open"), std::set<size_t>{1});
  EXPECT_EQ(C.openScopes("again"), std::set<size_t>{1});
  EXPECT_EQ(C.openScopes("closed"), std::set<size_t>{0});
}

TEST(SummaryTest, ResultIsNewOrTheArgumentOrAView) {
  AnalyzedCode C(R"cpp(
    Tensor make(const Tensor &t) { return t + t; }
    Tensor same(const Tensor &t) { return t; }
    Tensor part(const Tensor &t) { return t.view(3); }
    void f() {
      auto x = ones(3);
      auto made = make(x), alias = same(x), view = part(x);
      point("end");
    })cpp");
  EXPECT_FALSE(C.share("x", "made", "end"));
  EXPECT_TRUE(C.share("x", "alias", "end"));
  EXPECT_TRUE(C.share("x", "view", "end"));
}

TEST(SummaryTest, StoreIntoAGlobalIsSeenByTheCaller) {
  AnalyzedCode C(R"cpp(
    Tensor saved;
    void keep(const Tensor &t) { saved = t; }
    void f() {
      auto x = ones(3);
      keep(x);
      point("end");
      release(saved);
      point("released");
    })cpp");
  EXPECT_TRUE(C.share("x", "saved", "end"));
  EXPECT_EQ(C.lives("x", "released"), Lives{"released"});
}

TEST(SummaryTest, CreationsInAScopeOfTheCalleeAreNotItsCallersLoops) {
  AnalyzedCode C(R"cpp(
    void scoped(const Tensor &t) { with_torch([&] { (void)(t + t).sum(); }); }
    void unscoped(const Tensor &t) { (void)(t + t).sum(); }
    void f() {})cpp");
  EXPECT_FALSE(C.summary("scoped")->MakesInside);
  EXPECT_TRUE(C.summary("unscoped")->MakesInside);
}

TEST(SummaryTest, RecursionEndsAndIsUnknownInside) {
  AnalyzedCode C(R"cpp(
    Tensor down(const Tensor &t, int n) { return n ? down(t, n - 1) : t; }
    void f() {
      auto x = ones(3);
      auto y = down(x, 5);
      point("end");
    })cpp");
  EXPECT_EQ(C.lives("x", "end"), Lives{"live"});
}

TEST(SummaryTest, FunctionGivenALambdaIsWalkedInPlace) {
  AnalyzedCode C(R"cpp(
    template <class Body> auto timed(Body &&body) { return with_torch(body); }
    void f() {
      Tensor lost;
      auto x = timed([&] { lost = ones(3); point("inside"); return ones(5); });
      point("end");
    })cpp");
  EXPECT_EQ(C.openScopes("inside"), std::set<size_t>{1});
  EXPECT_EQ(C.lives("x", "end"), Lives{"live"});
  EXPECT_EQ(C.lives("lost", "end"), Lives{"ended"});
}

} // namespace
} // namespace tensorscope::test
