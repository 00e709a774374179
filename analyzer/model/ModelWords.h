// SPDX-License-Identifier: Apache-2.0
//
// Words of the model files' format, and errors that name them; private to
// model/.
#ifndef TENSORSCOPE_MODEL_MODELWORDS_H
#define TENSORSCOPE_MODEL_MODELWORDS_H

#include "model/FunctionModel.h"
#include "utils/Words.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/YAMLTraits.h"
#include <optional>

namespace tensorscope {

/// A word of the file format, and what it means.
template <typename T> struct Word {
  llvm::StringLiteral Name;
  T Value;
};

template <typename T, size_t N>
std::optional<T> meaning(const Word<T> (&Words)[N], llvm::StringRef Name) {
  for (const Word<T> &W : Words)
    if (W.Name == Name)
      return W.Value;
  return std::nullopt;
}

template <typename T, size_t N>
void addNames(const Word<T> (&Words)[N], std::vector<llvm::StringRef> &Names) {
  for (const Word<T> &W : Words)
    Names.push_back(W.Name);
}

/// An error's text, in memory that lives as long as the reading: what a YAML
/// reader's \p Context is.
inline llvm::StringRef unknownWord(void *Context, llvm::StringRef What,
                                   llvm::StringRef Name,
                                   llvm::ArrayRef<llvm::StringRef> Known) {
  return static_cast<llvm::StringSaver *>(Context)->save(
      What + " '" + Name + "'" + suggestionFor(Name, Known));
}

/// The argument of `verb(argument)`, whose text after the parenthesis is
/// \p Rest. \p MayBeResult: it may be the result, or the last arguments.
inline llvm::StringRef readArgument(llvm::StringRef Rest,
                                    std::optional<int> &Arg,
                                    bool MayBeResult = false) {
  if (Rest.empty())
    return {};
  int Index = 0;
  if (!Rest.consume_back(")"))
    return "missing ')' in a model row";
  if (Rest.trim() == "this")
    Arg = ThisArg;
  else if (MayBeResult && Rest.trim() == "result")
    Arg = ResultArg;
  else if (MayBeResult && Rest.trim() == "last")
    Arg = LastArgs;
  else if (!Rest.trim().getAsInteger(10, Index) && Index >= 0)
    Arg = Index;
  else
    return MayBeResult ? "an argument is a number, 'this', 'result' or 'last'"
                       : "an argument is a number or 'this'";
  return {};
}

} // namespace tensorscope

#endif // TENSORSCOPE_MODEL_MODELWORDS_H
