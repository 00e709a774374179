// SPDX-License-Identifier: Apache-2.0
//
// One word a line, in order.
#include "tool/HeaderWords.h"
#include "clang/Basic/LangOptions.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace tensorscope {

static void addWords(const llvm::MemoryBuffer &Text, llvm::StringSet<> &Words) {
  clang::LangOptions Cxx;
  Cxx.CPlusPlus = Cxx.CPlusPlus11 = Cxx.LineComment = true;
  clang::Lexer Lexer(clang::SourceLocation(), Cxx, Text.getBufferStart(),
                     Text.getBufferStart(), Text.getBufferEnd());
  clang::Token T;
  do {
    Lexer.LexFromRawLexer(T);
    if (T.is(clang::tok::raw_identifier))
      Words.insert(T.getRawIdentifier());
  } while (T.isNot(clang::tok::eof));
}

bool writeWords(llvm::ArrayRef<std::string> Files, llvm::StringRef To) {
  llvm::StringSet<> Words;
  for (const std::string &File : Files) {
    auto Text = llvm::MemoryBuffer::getFile(File);
    if (!Text)
      return false;
    addWords(**Text, Words);
  }
  std::vector<llvm::StringRef> Sorted(Words.keys().begin(),
                                      Words.keys().end());
  llvm::sort(Sorted);
  llvm::Error Failure =
      llvm::writeToOutput(To, [&](llvm::raw_ostream &Out) {
        for (llvm::StringRef Word : Sorted)
          Out << Word << '\n';
        return llvm::Error::success();
      });
  bool Failed = bool(Failure);
  llvm::consumeError(std::move(Failure));
  return !Failed;
}

HeaderWords HeaderWords::read(llvm::StringRef Written) {
  HeaderWords Read;
  auto Text = llvm::MemoryBuffer::getFile(Written);
  if (!Text)
    return Read;
  Read.Text = std::move(*Text);
  llvm::SmallVector<llvm::StringRef, 0> Lines;
  Read.Text->getBuffer().split(Lines, '\n', -1, /*KeepEmpty=*/false);
  Read.Words.assign(Lines.begin(), Lines.end());
  return Read;
}

bool HeaderWords::hasAny(llvm::ArrayRef<std::string> Names) const {
  return llvm::any_of(Names, [&](llvm::StringRef Name) {
    return !Text || std::binary_search(Words.begin(), Words.end(), Name);
  });
}

} // namespace tensorscope
