// SPDX-License-Identifier: Apache-2.0
#include "repl/Inputs.h"
#include "repl/Interrupt.h"
#include "clang/Basic/LangOptions.h"
#include "clang/Lex/Lexer.h"
#include <cstdio>
#include <iostream>
#include <unistd.h>

namespace tensorscope {

static int bracketsOf(const clang::Token &Token) {
  switch (Token.getKind()) {
  case clang::tok::l_paren:
  case clang::tok::l_brace:
  case clang::tok::l_square:
    return 1;
  case clang::tok::r_paren:
  case clang::tok::r_brace:
  case clang::tok::r_square:
    return -1;
  default:
    return 0;
  }
}

bool goesOn(llvm::StringRef Code) {
  if (Code.rtrim(" \t").ends_with("\\"))
    return true;
  std::string Text = Code.str(); // the lexer wants a zero at the end
  clang::LangOptions Options;
  Options.CPlusPlus = Options.CPlusPlus11 = Options.CPlusPlus14 = true;
  Options.CPlusPlus17 = Options.CPlusPlus20 = Options.LineComment = true;
  clang::Lexer Lexer(clang::SourceLocation(), Options, Text.data(), Text.data(),
                     Text.data() + Text.size());
  int Open = 0;
  clang::Token Token;
  do {
    Lexer.LexFromRawLexer(Token);
    Open += bracketsOf(Token);
  } while (Token.isNot(clang::tok::eof));
  return Open > 0;
}

Inputs::Inputs(llvm::StringRef History) {
  if (!::isatty(STDIN_FILENO) || !::isatty(STDOUT_FILENO))
    return;
  Editor.emplace("tensorscope repl", History);
}

std::optional<std::string> Inputs::nextLine(const std::string &Prompt) {
  if (Editor) {
    Editor->setPrompt(Prompt);
    auto Line = Editor->readLine();
    if (Line)
      Editor->saveHistory(); // the program may end in any way
    return Line;
  }
  std::string Line;
  if (!std::getline(std::cin, Line))
    return std::nullopt;
  if (!Line.empty() && Line.back() == '\r')
    Line.pop_back();
  return Line;
}

std::optional<std::string> Inputs::next(unsigned Number) {
  std::string First = "tensorscope [" + std::to_string(Number) + "]> ";
  std::string Further(First.size() - 5, ' ');
  std::string Code;
  takeInterrupt(); // what was meant for the last input
  while (true) {
    auto Line = nextLine(Code.empty() ? First : Further + "...> ");
    if (takeInterrupt()) {
      if (!Editor)
        return std::nullopt;
      std::clearerr(stdin);
      std::cout << std::endl;
      return "";
    }
    if (!Line && Code.empty())
      return std::nullopt;
    if (!Line)
      return Code;
    Code += *Line;
    if (!goesOn(Code))
      return Code;
    if (llvm::StringRef(Code).rtrim(" \t").ends_with("\\"))
      Code.resize(Code.find_last_of('\\'));
    Code += '\n';
  }
}

} // namespace tensorscope
