// SPDX-License-Identifier: Apache-2.0
//
// What to say of a word that a file of the user's has and nobody knows.
#ifndef TENSORSCOPE_UTILS_WORDS_H
#define TENSORSCOPE_UTILS_WORDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tensorscope {

/// "; did you mean 'x'?" for the one of \p Known that \p Word is nearest to;
/// nothing where none is near.
std::string suggestionFor(llvm::StringRef Word,
                          llvm::ArrayRef<llvm::StringRef> Known);

/// The same for the key that a YAML reader's \p Message complains about.
std::string keySuggestion(llvm::StringRef Message,
                          llvm::ArrayRef<llvm::StringRef> Known);

} // namespace tensorscope

#endif // TENSORSCOPE_UTILS_WORDS_H
