// SPDX-License-Identifier: Apache-2.0
//
// What summaries say of autograd's graphs: whether a result or a member has
// one, by itself or if what the caller gave has.
#include "AnalyzedCode.h"

#include <gtest/gtest.h>

namespace tensorscope::test {
namespace {

const GradientStore &resultOf(const AnalyzedCode &C, const std::string &Name) {
  static const GradientStore None;
  const Summary *S = C.summary(Name);
  EXPECT_TRUE(S && S->Gradients.Result.size() == 1);
  return S && S->Gradients.Result.size() == 1 ? S->Gradients.Result[0] : None;
}

TEST(GradientSummaryTest, AnOperatorsResultHasAGraphIfItsArgumentsHave) {
  AnalyzedCode C("Tensor f(const Tensor &a, const Tensor &b) { return a + b; }");
  EXPECT_EQ(resultOf(C, "f").Derived.size(), 2u);
  EXPECT_FALSE(resultOf(C, "f").HasGraph);
  EXPECT_FALSE(resultOf(C, "f").HasPlain);
}

TEST(GradientSummaryTest, ALeafGivesAGraphInAnyCase) {
  AnalyzedCode C(R"cpp(
    Tensor f(const Tensor &a) {
      auto leaf = ones(3);
      leaf.requires_grad_();
      return a + leaf;
    })cpp");
  EXPECT_TRUE(resultOf(C, "f").HasGraph);
}

TEST(GradientSummaryTest, AGuardHoldsForItsBlock) {
  AnalyzedCode C(R"cpp(
    Tensor inside(const Tensor &a) { c10::NoGradGuard guard; return a + a; }
    Tensor after(const Tensor &a) { { c10::NoGradGuard guard; } return a + a; }
    Tensor passed(const Tensor &a) { c10::NoGradGuard guard; return a; })cpp");
  EXPECT_TRUE(resultOf(C, "inside").HasPlain);
  EXPECT_TRUE(resultOf(C, "inside").Derived.empty());
  EXPECT_EQ(resultOf(C, "after").Derived.size(), 1u);
  EXPECT_EQ(resultOf(C, "passed").Passed.size(), 1u);
}

TEST(GradientSummaryTest, DetachedTensorsHaveNoGraph) {
  AnalyzedCode C("Tensor f(const Tensor &a) { return (a + a).detach(); }");
  EXPECT_TRUE(resultOf(C, "f").HasPlain);
  EXPECT_TRUE(resultOf(C, "f").Derived.empty());
}

TEST(GradientSummaryTest, AMemberIsComputedFromItselfAndTheArgument) {
  AnalyzedCode C(R"cpp(
    struct Meter { Tensor sum; };
    void add(Meter &meter, const Tensor &v) { meter.sum = meter.sum + v; })cpp");
  const Summary *S = C.summary("add");
  ASSERT_TRUE(S && S->Gradients.Stores.size() == 1);
  EXPECT_EQ(S->Gradients.Stores[0].Derived.size(), 2u);
  EXPECT_TRUE(S->Gradients.Stores[0].Passed.empty());
}

TEST(GradientSummaryTest, BackwardOfWhatIsComputedReachesTheArgument) {
  AnalyzedCode C(R"cpp(
    void walked(const Tensor &a) { (a + a).backward(); }
    void cut(const Tensor &a) { (a.detach() + a.detach()).backward(); })cpp");
  ASSERT_TRUE(C.summary("walked") && C.summary("cut"));
  EXPECT_EQ(C.summary("walked")->Gradients.Backward.size(), 1u);
  EXPECT_TRUE(C.summary("cut")->Gradients.Backward.empty());
}

} // namespace
} // namespace tensorscope::test
