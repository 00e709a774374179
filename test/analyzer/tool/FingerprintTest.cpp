// SPDX-License-Identifier: Apache-2.0
//
// A fingerprint stays while code moves and differs where findings differ.
#include "tool/Fingerprint.h"
#include "TemporaryFolder.h"
#include "tool/SourceTexts.h"

using namespace tensorscope;

namespace {

Finding finding(std::string File, unsigned Line) {
  Finding F;
  F.Rule = "use-after-release";
  F.Function = "void step(Model &)";
  F.At = {std::move(File), Line, 3};
  return F;
}

class FingerprintTest : public testing::Test {
protected:
  std::vector<std::string> of(std::vector<Finding> Findings,
                              std::string Root = "") {
    SourceTexts Sources;
    setFingerprints(Findings, Root.empty() ? Folder.path() : Root, Sources);
    std::vector<std::string> Result;
    for (const Finding &F : Findings)
      Result.push_back(F.Fingerprint);
    return Result;
  }
  TemporaryFolder Folder;
};

} // namespace

TEST_F(FingerprintTest, IsThirtyTwoHexDigits) {
  std::string Print = of({finding(Folder.write("a.cpp", "x;\n"), 1)})[0];
  EXPECT_EQ(Print.size(), 32u);
  EXPECT_EQ(Print.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST_F(FingerprintTest, StaysWhenTheLineMovesOrIsIndented) {
  std::string Before = Folder.write("a.cpp", "use(x);\n");
  std::string First = of({finding(Before, 1)})[0];
  Folder.write("a.cpp", "// new\n\n   use( x );  \n");
  EXPECT_EQ(of({finding(Before, 3)})[0], First);
}

TEST_F(FingerprintTest, StaysWhenTheProjectMoves) {
  std::string Here = Folder.write("one/src/a.cpp", "use(x);\n");
  std::string There = Folder.write("two/src/a.cpp", "use(x);\n");
  EXPECT_EQ(of({finding(Here, 1)}, Folder.path("one")),
            of({finding(There, 1)}, Folder.path("two")));
}

TEST_F(FingerprintTest, DiffersByRuleFunctionPathAndText) {
  std::string A = Folder.write("a.cpp", "use(x);\nuse(y);\n");
  std::string B = Folder.write("b.cpp", "use(x);\n");
  Finding Base = finding(A, 1), OtherRule = Base, OtherFunction = Base;
  OtherRule.Rule = "unretained-escape";
  OtherFunction.Function = "void step()";
  std::vector<std::string> All = of(
      {Base, OtherRule, OtherFunction, finding(B, 1), finding(A, 2)});
  std::sort(All.begin(), All.end());
  EXPECT_EQ(std::unique(All.begin(), All.end()), All.end());
}

TEST_F(FingerprintTest, EqualLinesInOneFunctionAreToldApartByOrder) {
  std::string A = Folder.write("a.cpp", "use(x);\nuse(x);\n");
  std::vector<std::string> Both = of({finding(A, 1), finding(A, 2)});
  EXPECT_NE(Both[0], Both[1]);
  Folder.write("a.cpp", "\nuse(x);\nuse(x);\n");
  EXPECT_EQ(of({finding(A, 2), finding(A, 3)}), Both);
}

TEST_F(FingerprintTest, AFileThatIsGoneStillGivesOne) {
  EXPECT_EQ(of({finding("/gone.cpp", 4)})[0].size(), 32u);
}
