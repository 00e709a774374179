// SPDX-License-Identifier: Apache-2.0
//
// The log against the rules of SARIF 2.1.0 that bear on what we write (the
// schema's required keys, closed sets, indices and bounds), and against the
// limits of GitHub's code scanning.
#include "TemporaryFolder.h"
#include "checks/Analyzer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "tool/Report.h"
#include "tool/SourceTexts.h"
#include "tool/Writers.h"

using namespace tensorscope;
namespace json = llvm::json;

namespace {

const json::Object &at(const json::Array *Items, size_t Index) {
  return *(*Items)[Index].getAsObject();
}

/// `error`, `warning`, `note` are the levels of section 3.27.10 that we use.
bool isLevel(llvm::StringRef Text) {
  return Text == "error" || Text == "warning" || Text == "note";
}

void checkMessage(const json::Object *Message) {
  ASSERT_TRUE(Message);
  EXPECT_TRUE(Message->getString("text"));
}

void checkPhysicalLocation(const json::Object &Location) {
  const json::Object *Physical = Location.getObject("physicalLocation");
  ASSERT_TRUE(Physical);
  const json::Object *Artifact = Physical->getObject("artifactLocation");
  ASSERT_TRUE(Artifact);
  llvm::StringRef Uri = *Artifact->getString("uri");
  EXPECT_FALSE(Uri.empty());
  EXPECT_FALSE(Uri.contains(' ')) << Uri.str();
  // Relative to a base, or absolute with a scheme.
  EXPECT_NE(Artifact->getString("uriBaseId").has_value(),
            Uri.starts_with("file:///"));
  if (const json::Object *Region = Physical->getObject("region")) {
    EXPECT_GE(*Region->getInteger("startLine"), 1);
    EXPECT_GE(Region->getInteger("startColumn").value_or(1), 1);
  }
}

void checkResult(const json::Object &Result, const json::Array &Rules) {
  checkMessage(Result.getObject("message"));
  EXPECT_TRUE(isLevel(*Result.getString("level")));
  auto Index = static_cast<size_t>(*Result.getInteger("ruleIndex"));
  ASSERT_LT(Index, Rules.size());
  EXPECT_EQ(Rules[Index].getAsObject()->getString("id"),
            Result.getString("ruleId"));
  ASSERT_FALSE(Result.getArray("locations")->empty());
  checkPhysicalLocation(at(Result.getArray("locations"), 0));
  EXPECT_TRUE(
      Result.getObject("partialFingerprints")->getString("tensorscope/v1"));
}

class SarifWriterTest : public testing::Test {
protected:
  SarifWriterTest() {
    A = Folder.write("sub folder/a.cpp", "f(); /* é */ use(x);\nend();\n");
    Result.Root = Folder.path();
    FileReport File;
    File.File = A;
    Result.Files = {File};
  }

  Finding &add(llvm::StringRef Rule, unsigned Level, unsigned Line = 1) {
    Finding F;
    F.Rule = Rule.str();
    F.Level = Level;
    F.At = {A, Line, 1};
    F.Message = "found";
    F.Fingerprint = "0f";
    Result.Findings.push_back(F);
    return Result.Findings.back();
  }

  const json::Object &run() {
    std::string Text;
    llvm::raw_string_ostream Out(Text);
    writeSarif(Out, Result, Sources);
    llvm::Expected<json::Value> Parsed = json::parse(Out.str());
    EXPECT_TRUE(bool(Parsed));
    Log = std::move(*Parsed);
    const json::Object &Root = *Log.getAsObject();
    EXPECT_EQ(Root.getString("version"), "2.1.0");
    EXPECT_TRUE(Root.getString("$schema"));
    EXPECT_EQ(Root.getArray("runs")->size(), 1u);
    return at(Root.getArray("runs"), 0);
  }

  TemporaryFolder Folder;
  std::string A;
  Report Result;
  SourceTexts Sources;
  json::Value Log = nullptr;
};

} // namespace

TEST_F(SarifWriterTest, EveryCheckIsARuleWithHelpAndLevel) {
  const json::Object &Driver = *run().getObject("tool")->getObject("driver");
  EXPECT_EQ(Driver.getString("name"), "tensorscope");
  const json::Array &Rules = *Driver.getArray("rules");
  ASSERT_EQ(Rules.size(), allChecks().size());
  for (const json::Value &Rule : Rules) {
    const json::Object &R = *Rule.getAsObject();
    EXPECT_TRUE(R.getString("id")->starts_with("tensorscope-"));
    for (const char *Key : {"shortDescription", "fullDescription", "help"})
      checkMessage(R.getObject(Key));
    EXPECT_TRUE(
        isLevel(*R.getObject("defaultConfiguration")->getString("level")));
  }
}

TEST_F(SarifWriterTest, ResultsAreWellFormed) {
  add("use-after-release", 0);
  add("unscoped-loop", 1);
  add("use-after-release", 2);
  const json::Object &Run = run();
  const json::Array &Rules =
      *Run.getObject("tool")->getObject("driver")->getArray("rules");
  const json::Array &Results = *Run.getArray("results");
  ASSERT_EQ(Results.size(), 3u);
  std::vector<std::string> Levels;
  for (const json::Value &R : Results) {
    checkResult(*R.getAsObject(), Rules);
    Levels.push_back(R.getAsObject()->getString("level")->str());
  }
  EXPECT_EQ(Levels, (std::vector<std::string>{"error", "warning", "note"}));
}

TEST_F(SarifWriterTest, NoFindingsIsAnEmptyListOfResults) {
  EXPECT_TRUE(run().getArray("results")->empty());
}

TEST_F(SarifWriterTest, PathsAreRelativeToTheRootAndEscaped) {
  add("use-after-release", 0);
  add("use-after-release", 0).At.File = "/elsewhere/b.cpp";
  const json::Object &Run = run();
  auto artifact = [&](size_t Index) {
    return at(at(Run.getArray("results"), Index).getArray("locations"), 0)
        .getObject("physicalLocation")
        ->getObject("artifactLocation");
  };
  EXPECT_EQ(artifact(0)->getString("uri"), "sub%20folder/a.cpp");
  EXPECT_EQ(artifact(0)->getString("uriBaseId"), "%SRCROOT%");
  EXPECT_EQ(artifact(1)->getString("uri"), "file:///elsewhere/b.cpp");
  EXPECT_EQ(Run.getObject("originalUriBaseIds")
                ->getObject("%SRCROOT%")
                ->getString("uri"),
            "file://" + Folder.path() + "/");
}

TEST_F(SarifWriterTest, ColumnsCountCharactersNotBytes) {
  add("use-after-release", 0).At.Column = 15; // the 'u', after a two-byte é
  const json::Object &Run = run();
  EXPECT_EQ(Run.getString("columnKind"), "unicodeCodePoints");
  EXPECT_EQ(at(at(Run.getArray("results"), 0).getArray("locations"), 0)
                .getObject("physicalLocation")
                ->getObject("region")
                ->getInteger("startColumn"),
            14);
}

TEST_F(SarifWriterTest, TheStoryIsACodeFlowThatEndsAtTheFinding) {
  Finding &F = add("use-after-release", 0);
  F.Steps = {{{A, 1, 1}, "released here"}, {{A, 2, 1}, "through this"}};
  const json::Object &R = at(run().getArray("results"), 0);
  const json::Array &Flow =
      *at(at(R.getArray("codeFlows"), 0).getArray("threadFlows"), 0)
           .getArray("locations");
  ASSERT_EQ(Flow.size(), 3u);
  for (const json::Value &Location : Flow) {
    checkPhysicalLocation(*Location.getAsObject()->getObject("location"));
    checkMessage(
        Location.getAsObject()->getObject("location")->getObject("message"));
  }
  EXPECT_EQ(Flow[2].getAsObject()->getObject("location")->getObject("message")
                ->getString("text"),
            "found");
  ASSERT_EQ(R.getArray("relatedLocations")->size(), 2u);
  EXPECT_EQ(at(R.getArray("relatedLocations"), 1).getInteger("id"), 1);
}

TEST_F(SarifWriterTest, AFixSaysWhatItReplaces) {
  add("use-after-release", 0).Fix = {{{A, 1, 1}, {A, 1, 2}, "g"}};
  const json::Object &R = at(run().getArray("results"), 0);
  const json::Object &Fix = at(R.getArray("fixes"), 0);
  checkMessage(Fix.getObject("description"));
  const json::Object &Change = at(Fix.getArray("artifactChanges"), 0);
  EXPECT_TRUE(Change.getObject("artifactLocation"));
  const json::Object &Replacement = at(Change.getArray("replacements"), 0);
  EXPECT_EQ(Replacement.getObject("deletedRegion")->getInteger("endColumn"), 2);
  EXPECT_EQ(Replacement.getObject("insertedContent")->getString("text"), "g");
}

TEST_F(SarifWriterTest, ASuppressedFindingIsListedAsSuppressed) {
  add("use-after-release", 0).Suppressed = true;
  const json::Object &R = at(run().getArray("results"), 0);
  EXPECT_EQ(at(R.getArray("suppressions"), 0).getString("kind"), "inSource");
}

TEST_F(SarifWriterTest, AFileThatFailedIsANotification) {
  Result.Files[0].Status = FileStatus::Failed;
  Result.Files[0].Reason = {{A, 2, 1}, "unknown type"};
  const json::Object &Invocation = at(run().getArray("invocations"), 0);
  EXPECT_EQ(Invocation.getBoolean("executionSuccessful"), false);
  const json::Object &N =
      at(Invocation.getArray("toolExecutionNotifications"), 0);
  EXPECT_EQ(N.getString("level"), "error");
  EXPECT_EQ(N.getObject("message")->getString("text"), "unknown type");
  checkPhysicalLocation(at(N.getArray("locations"), 0));
}

TEST_F(SarifWriterTest, TooManyResultsKeepTheWorstAndSaySo) {
  for (unsigned I = 0; I < 25003; ++I)
    add(I < 7 ? "unscoped-loop" : "use-after-release", I < 7 ? 1 : 0, I + 1);
  const json::Object &Run = run();
  const json::Array &Results = *Run.getArray("results");
  EXPECT_EQ(Results.size(), 25000u);
  EXPECT_EQ(llvm::count_if(Results,
                           [](const json::Value &R) {
                             return R.getAsObject()->getString("level") ==
                                    "warning";
                           }),
            4);
  EXPECT_EQ(at(at(Run.getArray("invocations"), 0)
                   .getArray("toolExecutionNotifications"),
               0)
                .getObject("message")
                ->getString("text"),
            "only the worst 25000 of 25003 findings are listed");
}

TEST_F(SarifWriterTest, ALongStoryIsCutToTheLimit) {
  add("use-after-release", 0).Steps.assign(1234, {{A, 1, 1}, "step"});
  const json::Object &R = at(run().getArray("results"), 0);
  EXPECT_LE(R.getArray("relatedLocations")->size(), 1000u);
  EXPECT_EQ(at(at(R.getArray("codeFlows"), 0).getArray("threadFlows"), 0)
                .getArray("locations")
                ->size(),
            1000u);
}
