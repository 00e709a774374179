// SPDX-License-Identifier: Apache-2.0
#include "tool/DiagnosticConversion.h"
#include "tool/Paths.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include <algorithm>

namespace tensorscope {

Place toPlace(clang::SourceLocation Loc, const clang::SourceManager &Sources) {
  if (Loc.isInvalid())
    return {};
  auto [File, Offset] = Sources.getDecomposedLoc(Sources.getFileLoc(Loc));
  Place At;
  if (auto Entry = Sources.getFileEntryRefForID(File))
    At.File = absolutePath(Entry->getName());
  else
    At.File = Sources.getBufferName(Sources.getLocForStartOfFile(File)).str();
  At.Line = Sources.getLineNumber(File, Offset);
  At.Column = Sources.getColumnNumber(File, Offset);
  return At;
}

static std::vector<Edit> toEdits(const std::vector<FixEdit> &Fixes,
                                 const clang::ASTContext &Context) {
  const clang::SourceManager &Sources = Context.getSourceManager();
  std::vector<Edit> Edits;
  for (const FixEdit &Fix : Fixes) {
    clang::CharSourceRange Range = clang::Lexer::makeFileCharRange(
        Fix.Range, Sources, Context.getLangOpts());
    if (Range.isInvalid())
      return {};
    Edits.push_back({toPlace(Range.getBegin(), Sources),
                     toPlace(Range.getEnd(), Sources), Fix.Text});
  }
  return Edits;
}

Finding toFinding(const Diagnostic &Found, const clang::ASTContext &Context) {
  const clang::SourceManager &Sources = Context.getSourceManager();
  Finding Result;
  Result.Rule = Found.Rule;
  Result.Level = Found.Level;
  Result.Conf = Found.Conf;
  Result.At = toPlace(Found.Loc, Sources);
  Result.Message = Found.Message;
  for (const Note &N : Found.Notes)
    Result.Steps.push_back({toPlace(N.Loc, Sources), N.Message});
  Result.Fix = toEdits(Found.Fixes, Context);
  Result.Function = Found.Function;
  return Result;
}

std::vector<std::string> filesWithNoLint(const clang::SourceManager &Sources) {
  std::vector<std::string> Files;
  for (auto It = Sources.fileinfo_begin(); It != Sources.fileinfo_end(); ++It) {
    const clang::SrcMgr::ContentCache &Content = *It->second;
    std::optional<llvm::StringRef> Text = Content.getBufferDataIfLoaded();
    if (!Text || !Text->contains("NOLINT"))
      continue;
    clang::FileID File = Sources.translateFile(It->first);
    if (File.isValid() &&
        !Sources.isInSystemHeader(Sources.getLocForStartOfFile(File)))
      Files.push_back(absolutePath(It->first.getName()));
  }
  llvm::sort(Files);
  return Files;
}

} // namespace tensorscope
