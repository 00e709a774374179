// SPDX-License-Identifier: Apache-2.0
//
// Reads inputs: at a terminal with a prompt, editing and history, else line by
// line. An input goes on while a bracket is open or its line ends in `\`.
#ifndef TENSORSCOPE_REPL_INPUTS_H
#define TENSORSCOPE_REPL_INPUTS_H

#include "llvm/LineEditor/LineEditor.h"
#include <optional>
#include <string>

namespace tensorscope {

/// Whether brackets are open at the end of \p Code, or its last line ends in a
/// backslash.
bool goesOn(llvm::StringRef Code);

class Inputs {
public:
  /// \p History is a file; empty for none.
  explicit Inputs(llvm::StringRef History);

  bool fromTerminal() const { return Editor.has_value(); }

  /// The next input, the \p Number th; none at the end. At a terminal an input
  /// that ctrl-C gave up is empty; elsewhere ctrl-C is the end.
  std::optional<std::string> next(unsigned Number);

private:
  std::optional<std::string> nextLine(const std::string &Prompt);

  std::optional<llvm::LineEditor> Editor;
};

} // namespace tensorscope

#endif // TENSORSCOPE_REPL_INPUTS_H
