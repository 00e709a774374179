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
  // Those of a compiled header are others'.
  for (unsigned I = 0; I < Sources.local_sloc_entry_size(); ++I) {
    const clang::SrcMgr::SLocEntry &Entry = Sources.getLocalSLocEntry(I);
    if (!Entry.isFile() || clang::SrcMgr::isSystem(
                               Entry.getFile().getFileCharacteristic()))
      continue;
    const clang::SrcMgr::ContentCache &Content =
        Entry.getFile().getContentCache();
    std::optional<llvm::StringRef> Text = Content.getBufferDataIfLoaded();
    if (Content.OrigEntry && Text && Text->contains("NOLINT"))
      Files.push_back(absolutePath(Content.OrigEntry->getName()));
  }
  llvm::sort(Files);
  Files.erase(std::unique(Files.begin(), Files.end()), Files.end());
  return Files;
}

} // namespace tensorscope
