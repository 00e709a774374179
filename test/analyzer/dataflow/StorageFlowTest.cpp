// SPDX-License-Identifier: Apache-2.0
//
// What the dataflow knows of handles and storages at points of small programs.
#include "AnalyzedCode.h"

#include <gtest/gtest.h>

namespace tensorscope::test {
namespace {

using Lives = std::set<std::string>;

TEST(StorageFlowTest, AliasViewAndCopyOfAHandle) {
  AnalyzedCode C(R"cpp(
    void f() {
      auto x = ones(7);
      auto alias = x;
      auto view = x.view(7);
      auto copy = x.sum();
      release(x);
      point("end");
    })cpp");
  EXPECT_TRUE(C.share("x", "alias", "end"));
  EXPECT_TRUE(C.share("x", "view", "end"));
  EXPECT_FALSE(C.share("x", "copy", "end"));
  EXPECT_EQ(C.lives("view", "end"), Lives{"released"});
  EXPECT_EQ(C.lives("copy", "end"), Lives{"live"});
}

TEST(StorageFlowTest, ReleaseOnOneBranchLeavesTwoStates) {
  AnalyzedCode C(R"cpp(
    void f(bool done) {
      auto x = ones(7);
      if (done) release(x);
      point("joined");
      if (!done) point("not done");
    })cpp");
  EXPECT_EQ(C.lives("x", "joined"), (Lives{"live", "released"}));
  EXPECT_EQ(C.lives("x", "not done"), Lives{"live"});
}

TEST(StorageFlowTest, GuardIsForgottenWhenItIsWritten) {
  AnalyzedCode C(R"cpp(
    bool other();
    void f(bool done) {
      auto x = ones(7);
      if (done) release(x);
      done = other();
      if (!done) point("asked again");
    })cpp");
  EXPECT_EQ(C.lives("x", "asked again"), (Lives{"live", "released"}));
}

TEST(StorageFlowTest, FlagThatIsSetWithTheReleaseAnswersForIt) {
  AnalyzedCode C(R"cpp(
    void f(bool done) {
      auto x = ones(7);
      bool released = false;
      if (done) { release(x); released = true; }
      if (!released) point("kept");
      if (released) point("gone");
    })cpp");
  EXPECT_EQ(C.lives("x", "kept"), Lives{"live"});
  EXPECT_EQ(C.lives("x", "gone"), Lives{"released"});
}

TEST(StorageFlowTest, DefinedStaysTrueAfterAReleaseButNotAfterAReset) {
  AnalyzedCode C(R"cpp(
    void f(bool done) {
      auto x = ones(7);
      if (done) { release(x); x.reset(); }
      if (x.defined()) point("defined");
      auto y = ones(7);
      release(y);
      if (y.defined()) point("released");
    })cpp");
  EXPECT_EQ(C.lives("x", "defined"), Lives{"live"});
  EXPECT_EQ(C.lives("y", "released"), Lives{"released"});
}

TEST(StorageFlowTest, AliveGuardsAUse) {
  AnalyzedCode C(R"cpp(
    void f(bool done) {
      auto x = ones(7);
      if (done) release(x);
      if (alive(x)) point("alive");
    })cpp");
  EXPECT_EQ(C.lives("x", "alive"), Lives{"live"});
}

TEST(StorageFlowTest, ScopeEndsWhatItOwnsButNotItsResult) {
  AnalyzedCode C(R"cpp(
    void f(const Tensor &older) {
      Tensor kept, lost, result, outer;
      result = with_torch([&] {
        lost = older + older;
        kept = retain(older.sum());
        outer = older;
        point("inside");
        return older + lost;
      });
      point("after");
    })cpp");
  EXPECT_EQ(C.openScopes("inside"), std::set<size_t>{1});
  EXPECT_EQ(C.openScopes("after"), std::set<size_t>{0});
  EXPECT_EQ(C.lives("lost", "inside"), Lives{"live"});
  EXPECT_EQ(C.lives("lost", "after"), Lives{"ended"});
  EXPECT_EQ(C.lives("kept", "after"), Lives{"live"});
  EXPECT_EQ(C.lives("outer", "after"), Lives{"live"});
  EXPECT_EQ(C.lives("result", "after"), Lives{"live"});
}

TEST(StorageFlowTest, GuardObjectEndsWithItsBlock) {
  AnalyzedCode C(R"cpp(
    void f() {
      Tensor x;
      { Scope scope; x = ones(3); point("inside"); }
      point("after");
    })cpp");
  EXPECT_EQ(C.openScopes("inside"), std::set<size_t>{1});
  EXPECT_EQ(C.lives("x", "after"), Lives{"ended"});
}

TEST(StorageFlowTest, SessionEndsAtTheStopAndAtTheNextStart) {
  AnalyzedCode C(R"cpp(
    void f() {
      start_session();
      auto x = ones(3);
      start_session();
      point("second");
      auto y = ones(5);
      stop_session();
      point("stopped");
      stop_session();
    })cpp");
  EXPECT_EQ(C.lives("x", "second"), Lives{"ended"});
  EXPECT_EQ(C.openScopes("second"), std::set<size_t>{1});
  EXPECT_EQ(C.lives("y", "stopped"), Lives{"ended"});
  EXPECT_EQ(C.openScopes("stopped"), std::set<size_t>{0});
}

TEST(StorageFlowTest, AssignmentThroughATemporaryCopiesIntoTheTensor) {
  AnalyzedCode C(R"cpp(
    void f(Tensor older) {
      auto x = ones(3);
      older[0] = x;
      static_cast<Tensor &&>(older) = x;
      release(x);
      point("end");
    })cpp");
  EXPECT_EQ(C.lives("older", "end"), Lives{"live"});
}

TEST(StorageFlowTest, CreationOfAnEarlierIterationIsAnotherStorage) {
  AnalyzedCode C(R"cpp(
    void f(int n) {
      Tensor previous;
      for (int i = 0; i < n; ++i) {
        auto x = ones(3);
        point("made");
        release(x);
        previous = x;
      }
    })cpp");
  EXPECT_EQ(C.lives("x", "made"), Lives{"live"});
  EXPECT_EQ(C.lives("previous", "made"), (Lives{"nothing", "released"}));
}

TEST(StorageFlowTest, UnknownFunctionThatTakesAReferenceMayRefillIt) {
  AnalyzedCode C(R"cpp(
    void refill(Tensor &);
    void f() {
      auto x = ones(3);
      release(x);
      refill(x);
      point("end");
    })cpp");
  EXPECT_EQ(C.lives("x", "end"), Lives{"unseen"});
}

TEST(StorageFlowTest, ContiguousIsTheSameStorageOrANewOne) {
  AnalyzedCode C(R"cpp(
    void f() {
      auto x = ones(3);
      auto y = x.contiguous();
      release(x);
      point("end");
    })cpp");
  EXPECT_EQ(C.lives("y", "end"), Lives{"mixed"});
}

TEST(StorageFlowTest, ManyBranchesEndWithAFewStates) {
  std::string Code = "void f(int n) { auto x = ones(3);\n";
  for (int I = 0; I < 5; ++I)
    Code += "Tensor t" + std::to_string(I) + "; if (n == " +
            std::to_string(I) + ") t" + std::to_string(I) + " = ones(3);\n";
  Code += "if (n == 77) release(x);\npoint(\"end\"); }";
  AnalyzedCode C(Code);
  EXPECT_LE(C.states("end"), 8u);
  EXPECT_EQ(C.statistics().FunctionsAnalyzed, 1u);
}

TEST(StorageFlowTest, FunctionOverItsBudgetIsCounted) {
  AnalyzerOptions Options;
  Options.StepLimit = 10;
  AnalyzedCode C("void f() { auto x = ones(3); x = ones(4); x = ones(5); }",
                 Options);
  EXPECT_EQ(C.statistics().NotAnalyzed, std::vector<std::string>{"f()"});
  EXPECT_EQ(C.statistics().FunctionsAnalyzed, 0u);
}

TEST(StorageFlowTest, AVariableStandsForItsCondition) {
  AnalyzedCode C(R"cpp(
    void f(int n, bool k) {
      auto x = ones(3);
      const bool both = n > 3 && k;
      if (both)
        release(x);
      if (n <= 3)
        point("small");
      if (n > 3 && k)
        point("both");
    })cpp");
  EXPECT_EQ(C.lives("x", "small"), Lives{"live"});
  EXPECT_EQ(C.lives("x", "both"), Lives{"released"});
}

TEST(StorageFlowTest, AReferenceNamesTheOneThatWasChosen) {
  AnalyzedCode C(R"cpp(
    void f(bool k) {
      auto a = ones(3), b = ones(3);
      Tensor &r = k ? a : b;
      release(r);
      if (k)
        point("first");
      r = ones(3);
      point("rewritten");
    })cpp");
  EXPECT_EQ(C.lives("a", "first"), Lives{"released"});
  EXPECT_EQ(C.lives("b", "first"), Lives{"live"});
  EXPECT_EQ(C.lives("r", "rewritten"), Lives{"live"});
  EXPECT_EQ(C.lives("a", "rewritten"), Lives{"unseen"});
}

} // namespace
} // namespace tensorscope::test
