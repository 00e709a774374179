// SPDX-License-Identifier: Apache-2.0
#include "tool/FileRunner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace tensorscope;
using clang::tooling::CompileCommand;

static CompileCommand command(std::vector<std::string> Arguments,
                              llvm::StringRef File = "/src/a.cpp") {
  return CompileCommand("/build", File, std::move(Arguments), "");
}

static std::string parsed(std::vector<std::string> Arguments) {
  return llvm::join(argumentsToParse(command(std::move(Arguments)), "/clang"),
                    " ");
}

TEST(CommandArgumentsTest, ParsesOnlyAndWritesNothing) {
  std::string Line = parsed({"g++", "-O2", "-MD", "-MF", "a.d", "-MT", "a.o",
                             "-o", "a.o", "-c", "/src/a.cpp"});
  EXPECT_NE(Line.find("-fsyntax-only"), std::string::npos) << Line;
  EXPECT_NE(Line.find("-O2"), std::string::npos) << Line;
  for (const char *Gone : {"-MD", "-MF", "a.d", "-MT", "a.o"})
    EXPECT_EQ(Line.find(Gone), std::string::npos) << Gone << " in " << Line;
}

TEST(CommandArgumentsTest, UsesTheHeadersOfItsOwnClang) {
  std::string Line =
      parsed({"clang++-14", "-resource-dir", "/old", "-c", "/src/a.cpp"});
  EXPECT_NE(Line.find("-resource-dir=/clang"), std::string::npos) << Line;
  EXPECT_EQ(Line.find("/old"), std::string::npos) << Line;
  Line = parsed({"clang++-14", "-resource-dir=/old", "-c", "/src/a.cpp"});
  EXPECT_EQ(Line.find("/old"), std::string::npos) << Line;
}

TEST(CommandArgumentsTest, LeavesOtherCompilersPrecompiledHeadersOut) {
  std::string Line = parsed({"clang++", "-Winvalid-pch", "-Xclang",
                             "-include-pch", "-Xclang", "/b/pch.hxx.pch",
                             "-Xclang", "-include", "-Xclang", "/b/pch.hxx",
                             "-c", "/src/a.cpp"});
  EXPECT_EQ(Line.find("pch.hxx.pch"), std::string::npos) << Line;
  EXPECT_NE(Line.find("-Xclang -include -Xclang /b/pch.hxx"),
            std::string::npos)
      << Line;
}

TEST(CommandArgumentsTest, SkipsCudaAndOtherLanguages) {
  EXPECT_EQ(reasonToSkip(command({"/opt/cuda/bin/nvcc", "-c", "k.cpp"})),
            "compiled by nvcc");
  EXPECT_EQ(reasonToSkip(command({"clang++", "-c", "k.cu"}, "/src/k.cu")),
            "CUDA or HIP source");
  EXPECT_EQ(reasonToSkip(command({"clang++", "-x", "cuda", "a.cpp"})),
            "CUDA or HIP source");
  EXPECT_EQ(reasonToSkip(command({"gcc", "-c", "start.S"}, "/src/start.S")),
            "not C or C++");
}

TEST(CommandArgumentsTest, TakesCAndCppByNameOrByFlag) {
  for (llvm::StringRef File : {"a.cpp", "a.cc", "a.cxx", "a.C", "a.c"})
    EXPECT_EQ(reasonToSkip(command({"g++", "-c", File.str()}, File)),
              std::nullopt)
        << File.str();
  EXPECT_EQ(reasonToSkip(command({"g++", "-xc++", "a.inc"}, "/src/a.inc")),
            std::nullopt);
}
