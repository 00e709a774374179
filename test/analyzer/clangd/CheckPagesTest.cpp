// SPDX-License-Identifier: Apache-2.0
#include "clangd/CheckPages.h"

#include <gtest/gtest.h>
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"

namespace tensorscope {
namespace {

llvm::json::Value parsed(llvm::StringRef Text) { return llvm::cantFail(llvm::json::parse(Text)); }

/// What becomes of a link to clang-tidy's site on the code \p Code.
std::string linkOf(llvm::StringRef Code) {
  llvm::json::Value Message = llvm::json::Object{
      {"diagnostics",
       llvm::json::Array{llvm::json::Object{
           {"code", Code}, {"codeDescription", llvm::json::Object{{"href", "https://clang.llvm.org/page"}}}}}}};
  linkOurPages(Message);
  const llvm::json::Object* Found = (*Message.getAsObject()->getArray("diagnostics"))[0].getAsObject();
  const llvm::json::Object* Link = Found->getObject("codeDescription");
  return Link ? Link->getString("href")->str() : "";
}

TEST(CheckPagesTest, OurChecksLeadToTheirPages) {
  std::string Link = linkOf("tensorscope-use-after-release");
  ASSERT_TRUE(llvm::StringRef(Link).starts_with("file:///"));
  EXPECT_TRUE(llvm::StringRef(Link).ends_with("/checks/use-after-release.md"));
  EXPECT_TRUE(llvm::sys::fs::exists(Link.substr(7)));
}

TEST(CheckPagesTest, LinksOfOthersStay) {
  EXPECT_EQ(linkOf("bugprone-use-after-move"), "https://clang.llvm.org/page");
  EXPECT_EQ(linkOf("tensorscope-no-such-check"), "https://clang.llvm.org/page");
}

TEST(CheckPagesTest, WhatHasNoLinkOrNoDiagnosticsIsLeftAsItIs) {
  for (const char* Text :
       {R"({"diagnostics":[{"code":"tensorscope-use-after-release"}]})",
        R"({"diagnostics":[{"code":7,"codeDescription":{}},null]})", R"({"uri":"file:///x"})", "[]", "null"}) {
    llvm::json::Value Message = parsed(Text);
    linkOurPages(Message);
    EXPECT_EQ(Message, parsed(Text));
  }
}

} // namespace
} // namespace tensorscope
