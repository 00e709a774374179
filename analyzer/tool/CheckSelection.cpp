// SPDX-License-Identifier: Apache-2.0
#include "tool/CheckSelection.h"
#include "checks/Analyzer.h"
#include "utils/Words.h"
#include "llvm/Support/GlobPattern.h"

namespace tensorscope {

CheckSelection::CheckSelection(unsigned Level) {
  for (const CheckInfo &Info : allChecks())
    if (Info.Level <= Level)
      LevelOf[Info.Rule] = Level;
}

static std::vector<llvm::StringRef> allNames() {
  std::vector<llvm::StringRef> Names;
  for (const CheckInfo &Info : allChecks())
    Names.push_back(Info.Rule);
  return Names;
}

llvm::Error CheckSelection::apply(llvm::StringRef Entry) {
  llvm::StringRef Name = Entry.trim();
  bool Off = Name.consume_front("-");
  Name.consume_front("tensorscope-");
  auto Pattern = llvm::GlobPattern::create(Name);
  if (!Pattern)
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "check '" + Entry + "': " + llvm::toString(Pattern.takeError()));
  bool Found = false;
  for (const CheckInfo &Info : allChecks()) {
    if (!Pattern->match(Info.Rule))
      continue;
    Found = true;
    if (Off)
      LevelOf.erase(Info.Rule);
    else
      LevelOf[Info.Rule] = HighestLevel;
  }
  if (!Found)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "no check is named '" + Name + "'" +
                                       suggestionFor(Name, allNames()));
  return llvm::Error::success();
}

bool CheckSelection::runs(llvm::StringRef Rule) const {
  return LevelOf.count(Rule);
}

bool CheckSelection::reports(llvm::StringRef Rule,
                             unsigned FindingLevel) const {
  auto It = LevelOf.find(Rule);
  return It != LevelOf.end() && FindingLevel <= It->second;
}

} // namespace tensorscope
