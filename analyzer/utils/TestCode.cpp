// SPDX-License-Identifier: Apache-2.0
#include "utils/TestCode.h"

#include "utils/AstUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace clang;

namespace tensorscope {

static bool isTestFile(llvm::StringRef File) {
  llvm::StringRef Stem = llvm::sys::path::stem(File);
  return Stem.starts_with("test_") || Stem.ends_with("_test") ||
         Stem.ends_with("_tests") || Stem.ends_with("Test") ||
         Stem.ends_with("Tests");
}

/// `testGc`, `test_gc`, `TestGc`; not `testimony`.
static bool isTestName(llvm::StringRef Name) {
  if (!Name.consume_front("test") && !Name.consume_front("Test"))
    return false;
  return Name.empty() || Name.front() == '_' || llvm::isUpper(Name.front()) ||
         llvm::isDigit(Name.front());
}

/// A fixture of GoogleTest's or Boost.Test's.
static bool isFixture(const CXXRecordDecl *RD) {
  if (!RD || !RD->hasDefinition())
    return false;
  if (RD->getIdentifier() && qualifiedName(RD) == "testing::Test")
    return true;
  return llvm::any_of(RD->getDefinition()->bases(),
                      [](const CXXBaseSpecifier &Base) {
                        return isFixture(Base.getType()->getAsCXXRecordDecl());
                      });
}

bool isTestCode(const FunctionDecl *F, const SourceManager &SM) {
  if (isTestFile(SM.getFilename(SM.getExpansionLoc(F->getLocation()))))
    return true;
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (Method && isFixture(Method->getParent()))
    return true;
  if (!F->getDeclName().isIdentifier())
    return false;
  // Catch2 and doctest make names that nobody writes.
  llvm::StringRef Name = F->getName();
  return isTestName(Name) || Name.starts_with("CATCH2_INTERNAL_TEST") ||
         Name.starts_with("DOCTEST_ANON_FUNC") || Name == "test_method";
}

} // namespace tensorscope
