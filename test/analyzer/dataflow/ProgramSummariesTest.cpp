// SPDX-License-Identifier: Apache-2.0
//
// Summaries that leave their translation unit: written, read, refused, linked.
#include "dataflow/ProgramSummaries.h"

#include <gtest/gtest.h>

namespace tensorscope {
namespace {

PortableSummary named(std::string Usr) {
  PortableSummary S;
  S.Usr = std::move(Usr);
  S.Signature = S.Usr + "()";
  return S;
}

PortableSummary releasing(std::string Usr, std::string Of = "0") {
  PortableSummary S = named(std::move(Usr));
  S.Released.push_back({std::move(Of), {{"free.cpp", 7, 3, ""}}});
  return S;
}

PortableSummary forwarding(std::string Usr, std::string To, bool IsAlways) {
  PortableSummary S = named(std::move(Usr));
  S.Kept.push_back("0");
  S.Forwards.push_back({To, "0", "0", IsAlways, {"pass.cpp", 5, 3, To}});
  return S;
}

ProgramSummaries linked(std::vector<PortableSummary> Functions) {
  ProgramSummaries Program;
  for (PortableSummary &S : Functions) {
    SummaryFile File;
    File.Functions.push_back(std::move(S));
    Program.add(File);
  }
  Program.link();
  return Program;
}

std::string refusal(llvm::StringRef Text) {
  llvm::Expected<SummaryFile> File = readSummaryFile(Text, "s.json");
  return File ? "" : llvm::toString(File.takeError());
}

TEST(SummaryFileTest, EachFieldComesBack) {
  SummaryFile File;
  PortableSummary S = releasing("c:@F@f#", "this/.pixels|Frame|c:@S@Frame@FI@pixels*");
  S.MaybeReleased = {"1"};
  S.Retained = {"2"};
  S.Kept = {"3/[]"};
  S.Used = {"4/#1"};
  S.Stores.push_back({"global|cache|c:@cache", true, {{1, "0", 2, true, true}}});
  S.Result.push_back({"result", false, {{2, "", 1, false, false}}});
  S.Forwards.push_back({"c:@F@g#", "0", "1", true, {"a.cpp", 1, 2, "g"}});
  S.Reference = "0";
  S.Sessions = 3;
  S.MayEndScope = S.WorksInLoop = S.CollectsGarbage = S.MakesInside = true;
  File.Functions.push_back(S);
  File.Unknown.push_back({"c:@F@h#", "h()", 5, {"a.cpp", 9, 1, ""}});
  File.Conflicting.push_back("c:@F@i#");
  std::string Text = writeSummaryFile(File);
  llvm::Expected<SummaryFile> Back = readSummaryFile(Text, "s.json");
  ASSERT_TRUE(static_cast<bool>(Back)) << llvm::toString(Back.takeError());
  EXPECT_EQ(writeSummaryFile(*Back), Text);
  const PortableSummary &R = Back->Functions.front();
  EXPECT_EQ(R.Released.front().Of, S.Released.front().Of);
  EXPECT_EQ(R.Released.front().How.front().Line, 7u);
  EXPECT_EQ(R.Stores.front().Sources.front().From, "0");
  EXPECT_TRUE(R.Stores.front().Sources.front().IsRetained);
  EXPECT_EQ(R.Forwards.front().Theirs, "1");
  EXPECT_EQ(R.Sessions, 3u);
  EXPECT_TRUE(R.MakesInside && R.CollectsGarbage && R.WorksInLoop &&
              R.MayEndScope);
  EXPECT_EQ(Back->Unknown.front().Calls, 5u);
}

TEST(SummaryFileTest, WhatIsNotUnderstoodIsRefusedInOneLine) {
  EXPECT_NE(refusal("{").find("s.json: "), std::string::npos);
  EXPECT_EQ(refusal("{}"), "s.json: this tool reads version 1");
  EXPECT_EQ(refusal(R"({"version": 1, "extra": 1})"),
            "s.json: unknown field 'extra'");
  EXPECT_EQ(refusal(R"({"version": 1, "functions": [{"hash": "0", "summary": {}}]})"),
            "s.json: a function is not what its hash says: the file was changed");
  EXPECT_EQ(refusal(R"({"version": 1, "unknown": [{"kalls": 3}]})"),
            "s.json: unknown field 'kalls'");
}

TEST(ProgramSummariesTest, WhatIsHandedOnIsSettledAcrossFunctions) {
  ProgramSummaries P = linked({forwarding("a", "b", true),
                               forwarding("b", "c", true), releasing("c")});
  const PortableSummary *A = P.find("a");
  ASSERT_EQ(A->Released.size(), 1u);
  EXPECT_EQ(A->Released[0].How.size(), 3u);
  EXPECT_EQ(A->Released[0].How[0].Through, "b");
  EXPECT_EQ(A->Released[0].How[2].File, "free.cpp");
  EXPECT_TRUE(A->Kept.empty());
}

TEST(ProgramSummariesTest, HandedOnOnSomePathsIsReleasedOnSome) {
  ProgramSummaries P = linked({forwarding("a", "b", true),
                               forwarding("b", "c", false), releasing("c")});
  EXPECT_TRUE(P.find("b")->Released.empty());
  EXPECT_EQ(P.find("b")->MaybeReleased, std::vector<std::string>{"0"});
  EXPECT_EQ(P.find("a")->MaybeReleased, std::vector<std::string>{"0"});
}

TEST(ProgramSummariesTest, OnlyTheArgumentThatIsHandedOnCounts) {
  ProgramSummaries P = linked({forwarding("a", "c", true), releasing("c", "1")});
  EXPECT_TRUE(P.find("a")->Released.empty());
  ProgramSummaries Ten = linked({forwarding("a", "c", true), releasing("c", "01")});
  EXPECT_TRUE(Ten.find("a")->Released.empty());
}

TEST(ProgramSummariesTest, AMemberOfWhatIsHandedOnIsTheCallersToo) {
  ProgramSummaries P =
      linked({forwarding("a", "c", true), releasing("c", "0/.x|S|u*")});
  ASSERT_EQ(P.find("a")->Released.size(), 1u);
  EXPECT_EQ(P.find("a")->Released[0].Of, "0/.x|S|u*");
}

TEST(ProgramSummariesTest, RecursionEnds) {
  PortableSummary Deeper = forwarding("a", "b", true);
  Deeper.Forwards[0].Own = "0/.next|S|u";
  PortableSummary Back = forwarding("b", "a", true);
  Back.Released.push_back({"0", {}});
  ProgramSummaries P = linked({Deeper, Back});
  EXPECT_FALSE(P.find("a")->Released.empty());
}

TEST(ProgramSummariesTest, TwoBodiesOfOneNameAreNone) {
  ProgramSummaries P =
      linked({releasing("c"), named("c"), forwarding("a", "c", true)});
  EXPECT_EQ(P.find("c"), nullptr);
  EXPECT_TRUE(P.find("a")->Released.empty());
  EXPECT_EQ(P.file().Conflicting, std::vector<std::string>{"c"});
  EXPECT_NE(linked({releasing("c"), releasing("c")}).find("c"), nullptr);
}

TEST(ProgramSummariesTest, MissingIsMostCalledFirst) {
  ProgramSummaries P;
  SummaryFile File;
  File.Functions.push_back(named("known"));
  File.Unknown = {{"a", "a()", 1, {}}, {"b", "b()", 2, {}}, {"known", "", 9, {}}};
  P.add(File);
  File.Functions.clear();
  File.Unknown = {{"a", "a()", 3, {}}};
  P.add(File);
  P.link();
  std::vector<UnknownCallee> Missing = P.missing();
  ASSERT_EQ(Missing.size(), 2u);
  EXPECT_EQ(Missing[0].Usr, "a");
  EXPECT_EQ(Missing[0].Calls, 4u);
}

} // namespace
} // namespace tensorscope
