// SPDX-License-Identifier: Apache-2.0
#include "tool/Suppressions.h"
#include "checks/Analyzer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"
#include <algorithm>

namespace tensorscope {

static bool matches(llvm::StringRef Name, llvm::StringRef Check) {
  auto Pattern = llvm::GlobPattern::create(Name);
  if (!Pattern) {
    llvm::consumeError(Pattern.takeError());
    return Name == Check;
  }
  return Pattern->match(Check);
}

bool Suppressions::Directive::names(llvm::StringRef Check) const {
  return llvm::any_of(
      Names, [&](llvm::StringRef Name) { return matches(Name, Check); });
}

Suppressions::Suppressions(llvm::StringRef Text) {
  unsigned Number = 0;
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    readLine(Line, ++Number);
    Text = Rest;
  }
}

void Suppressions::readLine(llvm::StringRef Line, unsigned Number) {
  static constexpr llvm::StringLiteral Marker = "NOLINT";
  for (size_t At = Line.find(Marker); At != llvm::StringRef::npos;
       At = Line.find(Marker, At + Marker.size())) {
    llvm::StringRef Text = Line.substr(At);
    llvm::StringRef Kind =
        Text.drop_front(Marker.size()).take_while(llvm::isAlpha);
    llvm::StringRef Rest = Text.drop_front(Marker.size() + Kind.size());
    Directive D;
    D.Line = D.FirstSilenced = D.LastSilenced = Number;
    D.Names = {"*"};
    D.Spelling = (Marker + Kind).str();
    size_t Close = Rest.find(')');
    if (Rest.starts_with("(") && Close != llvm::StringRef::npos) {
      D.Names.clear();
      D.Spelling += Rest.take_front(Close + 1);
      llvm::SmallVector<llvm::StringRef> Names;
      Rest.slice(1, Close).split(Names, ',', -1, /*KeepEmpty=*/false);
      for (llvm::StringRef Name : Names)
        D.Names.push_back(Name.trim().str());
    }
    if (Kind == "END") {
      closeBlock(D);
      continue;
    }
    if (Kind == "NEXTLINE")
      D.FirstSilenced = D.LastSilenced = Number + 1;
    else if (Kind == "BEGIN")
      D.Unmatched = true;
    else if (!Kind.empty())
      continue;
    Directives.push_back(std::move(D));
  }
}

/// An end closes the nearest open block with the same names.
void Suppressions::closeBlock(const Directive &End) {
  for (Directive &Open : llvm::reverse(Directives))
    if (Open.Unmatched && Open.Names == End.Names &&
        llvm::StringRef(Open.Spelling).starts_with("NOLINTBEGIN")) {
      Open.LastSilenced = End.Line;
      Open.Unmatched = false;
      return;
    }
  Directives.push_back(End);
  Directives.back().Unmatched = true;
}

bool Suppressions::suppress(llvm::StringRef Rule, unsigned Line) {
  std::string Check = ("tensorscope-" + Rule).str();
  bool Silenced = false;
  for (Directive &D : Directives)
    if (!D.Unmatched && D.FirstSilenced <= Line && Line <= D.LastSilenced &&
        D.names(Check))
      D.Used = Silenced = true;
  return Silenced;
}

std::vector<SuppressionProblem> Suppressions::problems(
    llvm::function_ref<bool(llvm::StringRef Rule)> Ran) const {
  std::vector<SuppressionProblem> Problems;
  for (const Directive &D : Directives) {
    bool Ours = llvm::any_of(D.Names, [](llvm::StringRef Name) {
      return Name.starts_with("tensorscope-");
    });
    if (!Ours || D.Used)
      continue;
    if (D.Unmatched) {
      bool IsEnd = llvm::StringRef(D.Spelling).starts_with("NOLINTEND");
      Problems.push_back({D.Line, "'" + D.Spelling + "' has no " +
                                      (IsEnd ? "NOLINTBEGIN before it"
                                             : "NOLINTEND after it")});
      continue;
    }
    bool AllRan = llvm::all_of(allChecks(), [&](const CheckInfo &Info) {
      return !D.names(("tensorscope-" + Info.Rule).str()) || Ran(Info.Rule);
    });
    if (AllRan)
      Problems.push_back({D.Line, "'" + D.Spelling + "' silences nothing"});
  }
  return Problems;
}

} // namespace tensorscope
