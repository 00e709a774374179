// SPDX-License-Identifier: Apache-2.0
//
// What the table says of operators that everybody knows, by their C++ names.
#include "model/ModelSet.h"
#include "model/OperatorTable.h"

#include <gtest/gtest.h>

namespace tensorscope {
namespace {

/// `alias(this) writes(this) no-graph(0)`.
std::string roleOf(llvm::StringRef Name, unsigned Parameters) {
  static constexpr std::pair<ResultKind, const char *> Words[] = {
      {ResultKind::None, "none"},
      {ResultKind::New, "new"},
      {ResultKind::Alias, "alias"},
      {ResultKind::MaybeAlias, "maybe-alias"}};
  auto Argument = [](int Arg) {
    return "(" + (Arg == ThisArg ? "this" : std::to_string(Arg)) + ")";
  };
  std::optional<FunctionModel> M = operatorModel(Name, Parameters);
  if (!M)
    return "";
  std::string Text;
  for (const auto &[Kind, Word] : Words)
    if (Kind == M->Result)
      Text = Word;
  if (M->Result == ResultKind::Alias || M->Result == ResultKind::MaybeAlias)
    Text += Argument(M->ResultArg);
  for (const Effect &E : M->Effects)
    Text += (E.Kind == EffectKind::Write ? " writes" : " ?") + Argument(E.Arg);
  for (unsigned I = 0; I < 4; ++I)
    if (!M->mayCarryGraph(I))
      Text += " no-graph(" + std::to_string(I) + ")";
  return Text;
}

TEST(OperatorTableTest, ViewsAliasWhatTheyLookAt) {
  EXPECT_EQ(roleOf("at::Tensor::view", 1), "alias(this)");
  EXPECT_EQ(roleOf("at::Tensor::select", 2), "alias(this)");
  EXPECT_EQ(roleOf("at::TensorBase::unsqueeze", 1), "alias(this)");
  EXPECT_EQ(roleOf("at::Tensor::unbind", 1), "alias(this)");
  EXPECT_EQ(roleOf("at::permute", 2), "alias(0)");
  EXPECT_EQ(roleOf("torch::transpose", 3), "alias(0)");
  EXPECT_EQ(roleOf("at::split_with_sizes", 3), "alias(0)");
}

TEST(OperatorTableTest, WhatMayBeAViewOrACopyIsNotSure) {
  EXPECT_EQ(roleOf("at::Tensor::reshape", 1), "maybe-alias(this)");
  EXPECT_EQ(roleOf("at::Tensor::contiguous", 1), "maybe-alias(this)");
  EXPECT_EQ(roleOf("at::Tensor::to", 4), "maybe-alias(this)");
  EXPECT_EQ(roleOf("at::flatten", 3), "maybe-alias(0)");
  EXPECT_EQ(roleOf("at::dropout", 3), "maybe-alias(0)");
}

TEST(OperatorTableTest, WorkInPlaceWritesAndGivesItsObjectBack) {
  EXPECT_EQ(roleOf("at::Tensor::add_", 2), "alias(this) writes(this)");
  EXPECT_EQ(roleOf("at::Tensor::zero_", 0), "alias(this) writes(this)");
  EXPECT_EQ(roleOf("at::Tensor::copy_", 2), "alias(this) writes(this)");
  EXPECT_EQ(roleOf("at::Tensor::index_put_", 3), "alias(this) writes(this)");
  EXPECT_EQ(roleOf("at::Tensor::set_", 1), "alias(this) writes(this)");
  EXPECT_EQ(roleOf("at::relu_", 1), "alias(0) writes(0)");
  EXPECT_EQ(roleOf("at::_foreach_mul_", 2), "none writes(0)");
}

TEST(OperatorTableTest, OutFunctionsWriteWhereTheirOverloadHasIt) {
  EXPECT_EQ(roleOf("at::add_out", 4), "alias(0) writes(0) no-graph(0)");
  EXPECT_EQ(roleOf("at::add_outf", 4), "alias(3) writes(3) no-graph(0)");
  EXPECT_EQ(roleOf("at::max_out", 3), "alias(0) writes(0) no-graph(0)");
  EXPECT_EQ(roleOf("at::max_outf", 3), "alias(2) writes(2) no-graph(0)");
  EXPECT_EQ(roleOf("at::max_out", 5),
            "none writes(0) writes(1) no-graph(0) no-graph(1)");
  EXPECT_EQ(roleOf("at::max_outf", 5),
            "none writes(3) writes(4) no-graph(0) no-graph(1)");
}

TEST(OperatorTableTest, OthersMakeNewTensors) {
  EXPECT_EQ(roleOf("at::Tensor::matmul", 1), "new");
  EXPECT_EQ(roleOf("at::Tensor::clone", 1), "new");
  EXPECT_EQ(roleOf("at::cat", 2), "new");
  EXPECT_EQ(roleOf("at::cross_entropy_loss", 5), "new");
  EXPECT_EQ(roleOf("torch::linalg::det", 1), "new");
  EXPECT_EQ(roleOf("torch::fft::rfft", 4), "new");
  EXPECT_EQ(roleOf("at::Tensor::item", 0), "none");
}

TEST(OperatorTableTest, WhatNoGradientFlowsThroughKeepsNoGraph) {
  EXPECT_EQ(roleOf("at::Tensor::argmax", 2), "new no-graph(0)");
  EXPECT_EQ(roleOf("at::Tensor::eq", 1), "new no-graph(0)");
  EXPECT_EQ(roleOf("at::nonzero", 1), "new no-graph(0)");
  EXPECT_EQ(roleOf("at::zeros_like", 3), "new no-graph(0)");
  EXPECT_EQ(roleOf("torch::randn", 2), "new no-graph(0)");
  EXPECT_EQ(roleOf("at::Tensor::max", 0), "new");
  EXPECT_EQ(roleOf("at::Tensor::max", 2), "new no-graph(1)");
  EXPECT_EQ(roleOf("at::Tensor::topk", 4), "new no-graph(1)");
}

TEST(OperatorTableTest, OtherNamesAreNone) {
  EXPECT_EQ(roleOf("at::no_such_operator", 1), "");
  EXPECT_EQ(roleOf("at::native::add", 3), "");
  EXPECT_EQ(roleOf("torch::nn::Module::to", 1), "");
  EXPECT_EQ(roleOf("mine::add", 2), "");
  EXPECT_EQ(roleOf("at::Tensor::relu_out", 2), "");
}

// The model files keep only what schemas do not say.
TEST(OperatorTableTest, ModelFilesSayWhatSchemasDoNot) {
  ModelSet Models = ModelSet::builtin();
  EXPECT_EQ(Models.function("at::Tensor::view"), nullptr);
  EXPECT_EQ(Models.function("at::Tensor::narrow")->Result, ResultKind::Alias);
  EXPECT_EQ(roleOf("at::Tensor::narrow", 3), "maybe-alias(this)");
  EXPECT_FALSE(Models.function("at::Tensor::detach")->mayCarryGraph());
}

} // namespace
} // namespace tensorscope
