// SPDX-License-Identifier: Apache-2.0
//
// Which of LibTorch's headers may come first in a file, and which of them is worth
// sharing.
#include "tool/LeadingHeaders.h"
#include "TemporaryFolder.h"

using namespace tensorscope;
using clang::tooling::CompileCommand;

namespace {

using Headers = std::vector<std::string>;

class LeadingHeadersTest : public testing::Test {
protected:
  LeadingHeaders leading(llvm::StringRef Text,
                         std::vector<std::string> Flags = {}) {
    std::string File = Folder.write("src/a.cpp", Text);
    std::vector<std::string> Words = {"c++"};
    Words.insert(Words.end(), Flags.begin(), Flags.end());
    Words.insert(Words.end(), {"-c", File});
    return leadingHeaders(CompileCommand(Folder.path(), File, Words, ""));
  }

  /// The headers alone.
  Headers headers(llvm::StringRef Text, std::vector<std::string> Flags = {}) {
    Headers Names;
    for (const LeadingHeader &H : leading(Text, std::move(Flags)).Headers)
      Names.push_back(H.Name);
    return Names;
  }

  TemporaryFolder Folder;
};

} // namespace

TEST_F(LeadingHeadersTest, LibTorchsHeadersAreNamedInTheirOrder) {
  EXPECT_EQ(headers("// A comment.\n#include <vector>\n"
                    "#include <torch/torch.h> // all of it\n"
                    "#include \"ATen/ATen.h\"\n"),
            (Headers{"torch/torch.h", "ATen/ATen.h"}));
}

TEST_F(LeadingHeadersTest, ThoseOfTheProjectsOwnHeadersAreFound) {
  Folder.write("src/model.h", "#pragma once\n#include \"../lib/net.h\"\n");
  Folder.write("lib/net.h", "#ifndef NET_H\n#define NET_H\n"
                            "#include <torch/nn.h>\nstruct Net {};\n#endif\n");
  Folder.write("include/app/all.hpp",
               "#if !defined(ALL)\n#define ALL\n#include <c10/util/Optional.h>\n"
               "#endif\n");
  EXPECT_EQ(headers("#include \"model.h\"\n#include <app/all.hpp>\n"
                    "#include <torch/torch.h>\n",
                    {"-Iinclude"}),
            (Headers{"torch/nn.h", "c10/util/Optional.h", "torch/torch.h"}));
}

TEST_F(LeadingHeadersTest, WhatIsDefinedBeforeAHeaderIsTold) {
  Folder.write("src/config.h",
               "#pragma once\n#define CHECK(x)\n#ifdef _WIN32\n"
               "#include \"win.h\"\n#else\n#undef EXPORT\n#endif\n");
  Folder.write("src/win.h", "#ifndef WIN_H\n#define WIN_H\n#define API\n"
                            "#include <ATen/ATen.h>\n#endif\n");
  LeadingHeaders Found =
      leading("#include <c10/macros/Macros.h>\n#include \"config.h\"\n"
              "#include <torch/torch.h>\n#define LATER\n");
  ASSERT_EQ(Found.Headers.size(), 2u);
  EXPECT_EQ(Found.Headers[0].MacrosBefore, 0u);
  EXPECT_EQ(Found.Headers[1].Name, "torch/torch.h");
  EXPECT_EQ(Found.Headers[1].MacrosBefore, 3u);
  EXPECT_EQ(Found.Macros,
            (std::vector<std::string>{"CHECK", "API", "EXPORT", "LATER"}));
}

TEST_F(LeadingHeadersTest, WhatIsIncludedUnderAConditionIsNotCertain) {
  EXPECT_EQ(headers("#ifdef WITH_TORCH\n#include <torch/torch.h>\n#endif\n"),
            Headers());
  EXPECT_EQ(headers("#ifdef __cplusplus\n#include <torch/torch.h>\n#else\n"
                    "#include <torch/script.h>\n#endif\n"
                    "#include <ATen/ATen.h>\n"),
            (Headers{"torch/torch.h", "ATen/ATen.h"}));
  Folder.write("src/net.h", "#pragma once\n#include <torch/nn.h>\n");
  EXPECT_EQ(headers("#ifndef A\n#include \"net.h\"\n#endif\n"
                    "#include \"net.h\"\n"),
            (Headers{"torch/nn.h"}));
}

TEST_F(LeadingHeadersTest, AHeaderOfThatNameBesideTheFileIsTheProjects) {
  Folder.write("src/torch/mine.h", "#include <ATen/ATen.h>\n");
  EXPECT_EQ(headers("#include \"torch/mine.h\"\n"), (Headers{"ATen/ATen.h"}));
}

TEST_F(LeadingHeadersTest, WhatTheCommandIncludesComesFirst) {
  std::string File =
      Folder.write("pch.hxx", "#pragma GCC system_header\n#ifdef __cplusplus\n"
                              "#include <torch/script.h>\n#endif\n");
  EXPECT_EQ(headers("#include <torch/torch.h>\n",
                    {"-include-pch", "x.pch", "-include", File}),
            (Headers{"torch/script.h", "torch/torch.h"}));
}

TEST_F(LeadingHeadersTest, HeadersThatIncludeEachOtherEnd) {
  Folder.write("src/one.h", "#include \"two.h\"\n");
  Folder.write("src/two.h", "#include \"one.h\"\n#include <torch/torch.h>\n");
  EXPECT_EQ(headers("#include \"one.h\"\n"), (Headers{"torch/torch.h"}));
}

TEST_F(LeadingHeadersTest, NothingIsFoundWhereThereIsNothing) {
  EXPECT_EQ(headers(""), Headers());
  EXPECT_EQ(headers("#include MACRO\n#include <torch/torch.h>\n"), Headers());
  EXPECT_TRUE(leadingHeaders(CompileCommand(Folder.path(),
                                            Folder.path("absent.cpp"), {"c++"},
                                            ""))
                  .Headers.empty());
}

static std::string largest(const Headers &Names) {
  std::vector<LeadingHeader> Found;
  for (const std::string &Name : Names)
    Found.push_back({Name, 0});
  const LeadingHeader *Largest = largestHeader(Found);
  return Largest ? Largest->Name : "";
}

TEST(LargestHeaderTest, TheHeaderThatIncludesMostIsTheOneToShare) {
  EXPECT_EQ(largest({"c10/util/Optional.h", "torch/script.h",
                           "torch/torch.h", "tensorscope/tensorscope.h"}),
            "torch/torch.h");
  EXPECT_EQ(largest({"ATen/ATen.h", "torch/types.h"}), "torch/types.h");
}

TEST(LargestHeaderTest, ASmallHeaderIsNotWorthIt) {
  EXPECT_EQ(largest({"c10/util/Optional.h"}), "");
  EXPECT_EQ(largest({}), "");
}
