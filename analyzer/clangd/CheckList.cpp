// SPDX-License-Identifier: Apache-2.0
#include "clangd/CheckList.h"

#include "checks/Analyzer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace tensorscope {

static constexpr llvm::StringLiteral Prefix = "tensorscope-";
/// The level that `tensorscope check` has when none is given.
static constexpr unsigned DefaultLevel = 1;

bool isOurCheck(llvm::StringRef Name) {
  return Name.consume_front(Prefix) &&
         llvm::any_of(allChecks(),
                      [&](const CheckInfo &C) { return C.Rule == Name; });
}

static llvm::SmallVector<std::string> defaultChecks() {
  llvm::SmallVector<std::string> Names;
  for (const CheckInfo &C : allChecks())
    if (C.Level <= DefaultLevel)
      Names.push_back((Prefix + C.Rule).str());
  return Names;
}

/// The entries of a list, which commas or line ends part.
static llvm::SmallVector<llvm::StringRef> entriesOf(llvm::StringRef Checks) {
  llvm::SmallVector<llvm::StringRef> Entries;
  while (!Checks.empty()) {
    size_t End = Checks.find_first_of(",\n");
    llvm::StringRef Entry = Checks.substr(0, End).trim();
    if (!Entry.empty())
      Entries.push_back(Entry);
    Checks = End == llvm::StringRef::npos ? "" : Checks.substr(End + 1);
  }
  return Entries;
}

/// An entry for checks of ours alone, on or off.
static bool concernsOurs(llvm::StringRef Entry) {
  Entry.consume_front("-");
  return Entry.starts_with(Prefix);
}

bool namesOnlyOurs(llvm::StringRef Checks) {
  return llvm::all_of(entriesOf(Checks), concernsOurs);
}

std::string withOurChecks(llvm::StringRef Checks) {
  llvm::SmallVector<llvm::StringRef> Entries = entriesOf(Checks);
  auto LastClear = llvm::find(llvm::reverse(Entries), "-*");
  auto Start = LastClear.base();
  if (LastClear != Entries.rend()) {
    bool NamesOurs = std::any_of(Start, Entries.end(), [](llvm::StringRef E) {
      return E.starts_with(Prefix);
    });
    if (Start == Entries.end() || NamesOurs)
      return Checks.str();
  } else {
    Start = Entries.begin();
  }
  llvm::SmallVector<std::string> Ours = defaultChecks();
  llvm::SmallVector<llvm::StringRef> Result(Entries.begin(), Start);
  Result.append(Ours.begin(), Ours.end());
  Result.append(Start, Entries.end());
  return llvm::join(Result, ",");
}

} // namespace tensorscope
