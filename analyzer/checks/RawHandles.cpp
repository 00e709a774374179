// SPDX-License-Identifier: Apache-2.0
//
// How raw-handle-leak tells what it found, and what it asks about makers.
#include "checks/RawHandles.h"

#include "checks/Check.h"
#include "utils/AstUtils.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace tensorscope {

bool isMadeOnceInMain(const FunctionFacts &Facts, const Fact &Made) {
  if (!Facts.Function->isMain())
    return false;
  for (const Stmt *S = Facts.ConditionOf.lookup(Made.At); S;
       S = Facts.ConditionOf.lookup(S))
    if (isa<ForStmt, WhileStmt, CXXForRangeStmt>(S))
      return false;
  return true;
}

bool isMadeByLibTorch(const Fact &Made) {
  std::string Name = Made.Callee ? qualifiedName(Made.Callee) : "";
  return llvm::StringRef(Name).starts_with("at::") ||
         llvm::StringRef(Name).starts_with("c10::") ||
         llvm::StringRef(Name).starts_with("torch::");
}

Diagnostic describeRawHandleLeak(const FlowFinding &F) {
  llvm::StringRef What = F.Remedy;
  std::string Name = "'" + F.Subject + "'";
  if (What == "twice")
    return makeDiagnostic(F, Name +
                                 " is freed here for the second time; free "
                                 "each handle once, and set it to null where "
                                 "another path may do it again");
  if (What == "taken")
    return makeDiagnostic(F, Name + " is given here to an object that frees "
                                    "it, and is freed elsewhere, too; let one "
                                    "alone own it");
  if (What == "owned")
    return makeDiagnostic(F, Name + " is freed here, and an object that it was "
                                    "given to frees it, too; let one alone own "
                                    "it");
  if (What == "foreign")
    return makeDiagnostic(F, Name + " was made by '" + F.Holder +
                                 "' and is not freed by 'delete' or 'free'; "
                                 "give it back to what made it");
  if (What == "use")
    return makeDiagnostic(F, Name + " is used after what it points to was "
                                    "freed");
  if (What == "context")
    return makeDiagnostic(
        F,
        "what this pointer points to is freed in 'backward' alone: a forward "
        "pass without one leaks it, and two free it twice; save an object "
        "that owns it");
  if (What == "array" || What == "single")
    return makeDiagnostic(
        F, Name + " was made by '" + (What == "array" ? "new[]" : "new") +
               "' and is not freed by '" +
               (What == "array" ? "delete[]" : "delete") + "'");
  if (What == "wrap")
    return makeDiagnostic(
        F, "nobody frees the memory " + (F.Subject.empty() ? "" : Name) +
               ", which this tensor refers to; give 'from_blob' a deleter that "
               "does, or clone the tensor and free the memory");
  if (What == "risk")
    return makeDiagnostic(
        F, "what '" + F.Holder + "' makes here is lost if LibTorch throws "
               "while " + Name + " alone owns it; hold it in an object that "
               "frees it");
  std::string Free =
      What == "new" ? "; delete it, or hold it in a 'std::unique_ptr'"
                    : "; free it on every path, or hold it in an object that "
                      "does";
  std::string When =
      F.IsMaybe ? " is not freed on every path" : " is never freed";
  std::string Who = F.Subject.empty()
                        ? "what '" + F.Holder + "' makes here"
                        : "what '" + F.Holder + "' makes here for " + Name;
  return makeDiagnostic(F, Who + When + Free);
}

} // namespace tensorscope
