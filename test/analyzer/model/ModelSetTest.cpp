// SPDX-License-Identifier: Apache-2.0
//
// Model files: what their rows mean, and what is said of mistakes in them.
#include "model/ModelSet.h"

#include <gtest/gtest.h>

namespace tensorscope {
namespace {

std::string errorOf(llvm::StringRef Yaml) {
  ModelSet Set;
  return llvm::toString(Set.add(Yaml, "own.yml"));
}

TEST(ModelSetTest, BuiltinFilesAreRead) {
  ModelSet Set = ModelSet::builtin();
  ASSERT_TRUE(Set.function("tensorscope::release"));
  EXPECT_EQ(Set.function("tensorscope::release")->Effects[0].Kind,
            EffectKind::Release);
  EXPECT_EQ(Set.type("at::Tensor"), TypeRole::Handle);
  EXPECT_EQ(Set.type("std::string"), TypeRole::None);
  EXPECT_EQ(Set.function("mine::unheard_of"), nullptr);
}

TEST(ModelSetTest, PatternsMatchAndExactNamesWin) {
  ModelSet Set;
  ASSERT_FALSE(Set.add(R"(
version: 1
functions:
  - {names: ["my::Box::put"], effects: [insert(this)]}
  - {names: ["my::*::{put,take}", "my::Box::operator*"], result: element(this)}
)", "own.yml"));
  EXPECT_EQ(Set.function("my::Box::put")->Result, ResultKind::None);
  EXPECT_EQ(Set.function("my::Bag::put")->Result, ResultKind::Element);
  EXPECT_EQ(Set.function("my::Box::operator*")->ResultArg, ThisArg);
  EXPECT_EQ(Set.function("my::Box::operator->"), nullptr);
}

TEST(ModelSetTest, RowsOfAutogradStandApart) {
  ModelSet Set;
  ASSERT_FALSE(Set.add(R"(
version: 1
gradients:
  - {names: ["my::{count,argmax}"], is: none}
  - {names: ["my::count"], is: operator}
)", "own.yml"));
  EXPECT_EQ(Set.gradients("my::argmax"), GradientRole::None);
  EXPECT_EQ(Set.gradients("my::count"), GradientRole::Operator);
  EXPECT_EQ(Set.gradients("my::other"), GradientRole::Other);
  EXPECT_EQ(Set.function("my::count"), nullptr);
  EXPECT_NE(errorOf("version: 1\ngradients:\n  - {names: [a], is: nome}\n")
                .find("did you mean 'none'"),
            std::string::npos);
}

TEST(ModelSetTest, BuiltinRowsKnowOperatorsWithoutADerivative) {
  ModelSet Set = ModelSet::builtin();
  EXPECT_EQ(Set.gradients("at::Tensor::argmax"), GradientRole::None);
  EXPECT_EQ(Set.gradients("at::operator=="), GradientRole::None);
  EXPECT_EQ(Set.gradients("at::operator*"), GradientRole::Other);
  EXPECT_EQ(Set.gradients("torch::nn::LinearImpl"), GradientRole::Parameters);
  EXPECT_EQ(Set.gradients("torch::nn::ReLUImpl"), GradientRole::Other);
}

TEST(ModelSetTest, SaysWhatAFunctionIsToStreams) {
  ModelSet Set;
  ASSERT_FALSE(Set.add(R"(
version: 1
streams:
  - {names: ["my::side"], is: fresh-stream}
  - {names: ["my::upload"], is: copy(1)}
)", "own.yml"));
  EXPECT_EQ(Set.streams("my::side").Role, StreamRole::Fresh);
  EXPECT_EQ(Set.streams("my::upload").Role, StreamRole::Copy);
  EXPECT_EQ(Set.streams("my::upload").Arg, 1);
  EXPECT_EQ(Set.streams("my::other").Role, StreamRole::Other);
  EXPECT_NE(errorOf("version: 1\nstreams:\n  - {names: [a], is: recrod}\n")
                .find("did you mean 'record'"),
            std::string::npos);
}

TEST(ModelSetTest, BuiltinRowsKnowWhoWaitsForWhichStream) {
  ModelSet Set = ModelSet::builtin();
  EXPECT_EQ(Set.streams("c10::cuda::getStreamFromPool").Role,
            StreamRole::Fresh);
  EXPECT_EQ(Set.streams("at::cuda::CUDAStreamGuard").Role, StreamRole::Guard);
  EXPECT_EQ(Set.streams("cudaStreamSynchronize").Role,
            StreamRole::WaitForStream);
  EXPECT_EQ(Set.streams("cudaMemcpy").Role, StreamRole::MayWait);
  EXPECT_EQ(Set.streams("at::Tensor::matmul").Role, StreamRole::Other);
}

TEST(ModelSetTest, LaterRowsWin) {
  ModelSet Set = ModelSet::builtin();
  ASSERT_FALSE(Set.add("version: 1\n"
                       "functions:\n"
                       "  - {names: [\"tensorscope::release\"], "
                       "effects: [retain(0)]}\n",
                       "own.yml"));
  EXPECT_EQ(Set.function("tensorscope::release")->Effects[0].Kind,
            EffectKind::Retain);
}

TEST(ModelSetTest, ARowForOneOverloadWins) {
  ModelSet Set;
  ASSERT_FALSE(Set.add(R"(
version: 1
functions:
  - {names: ["my::best"], result: new}
  - {names: ["my::best"], parameters: 3, effects: [write(0)], no-graph: [1]}
)", "own.yml"));
  EXPECT_EQ(Set.function("my::best", 2)->Result, ResultKind::New);
  const FunctionModel *OfThree = Set.function("my::best", 3);
  EXPECT_EQ(OfThree->Result, ResultKind::None);
  EXPECT_EQ(OfThree->Effects[0].Kind, EffectKind::Write);
  EXPECT_TRUE(OfThree->mayCarryGraph(0));
  EXPECT_FALSE(OfThree->mayCarryGraph(1));
  EXPECT_NE(errorOf("version: 1\nfunctions:\n"
                    "  - {names: [\"my::*\"], parameters: 1}\n")
                .find("takes names without wildcards"),
            std::string::npos);
}

TEST(ModelSetTest, MistakesNameFileAndLine) {
  EXPECT_EQ(errorOf("version: 1\n"
                    "functions:\n"
                    "  - {names: [f], effects: [realease(0)]}\n"),
            "own.yml:3: unknown word in a model row: 'realease'; did you mean "
            "'release'?");
  EXPECT_EQ(errorOf("version: 1\n"
                    "types:\n"
                    "  - {name: T, is: handel}\n"),
            "own.yml:3: unknown role of a type 'handel'; did you mean "
            "'handle'?");
  EXPECT_EQ(errorOf("version: 1\n"
                    "functions:\n"
                    "  - {names: [f], effects: [release(x)]}\n"),
            "own.yml:3: an argument is a number, 'this', 'result' or 'last'");
  EXPECT_EQ(errorOf("version: 2\n"), "own.yml:1: this tool reads version 1");
  EXPECT_EQ(errorOf("version: 1\nfunktions: []\n"),
            "own.yml:2: unknown key 'funktions'; did you mean 'functions'?");
}

TEST(ModelSetTest, RowsOfMemoryStandBesideThoseOfFunctions) {
  ModelSet Set = ModelSet::builtin();
  ASSERT_FALSE(Set.add(R"(
version: 1
memory-types:
  - {name: "my::Buffer", is: owner}
functions:
  - {names: ["my::wrap"], result: new}
memory:
  - {names: ["my::wrap"], does: [wraps(1)]}
  - {names: ["my::Buffer::*"], does: [points-into(this)]}
)", "own.yml"));
  EXPECT_EQ(Set.memoryRole("my::Buffer"), MemoryRole::Owner);
  EXPECT_EQ(Set.memoryRole("std::vector"), MemoryRole::Owner);
  EXPECT_EQ(Set.memoryRole("my::Other"), MemoryRole::None);
  ASSERT_TRUE(Set.memory("my::wrap"));
  EXPECT_EQ(Set.memory("my::wrap")->front().Kind, MemoryKind::Wraps);
  EXPECT_EQ(Set.memory("my::wrap")->front().Arg, 1);
  EXPECT_EQ(Set.function("my::wrap")->Result, ResultKind::New);
  EXPECT_EQ(Set.memory("my::Buffer::raw")->front().Arg, ThisArg);
  EXPECT_EQ(Set.memory("my::unheard_of"), nullptr);
}

TEST(ModelSetTest, MistakesInRowsOfMemoryAreNamed) {
  EXPECT_EQ(errorOf("version: 1\n"
                    "memory:\n"
                    "  - {names: [f], does: [wrap(0)]}\n"),
            "own.yml:3: unknown word in a row of 'memory': 'wrap'; did you "
            "mean 'wraps'?");
  EXPECT_EQ(errorOf("version: 1\n"
                    "memory:\n"
                    "  - {names: [f], does: [wraps(x)]}\n"),
            "own.yml:3: an argument is a number or 'this'");
  EXPECT_EQ(errorOf("version: 1\n"
                    "memory-types:\n"
                    "  - {name: T, is: ownr}\n"),
            "own.yml:3: unknown role of a memory type 'ownr'; did you mean "
            "'owner'?");
}

} // namespace
} // namespace tensorscope
