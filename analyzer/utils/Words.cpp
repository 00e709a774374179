// SPDX-License-Identifier: Apache-2.0
#include "utils/Words.h"

namespace tensorscope {

std::string suggestionFor(llvm::StringRef Word,
                          llvm::ArrayRef<llvm::StringRef> Known) {
  // A third of the letters may be wrong; more is another word.
  unsigned Nearest = Word.size() / 3 + 1;
  llvm::StringRef Best;
  for (llvm::StringRef Candidate : Known) {
    unsigned Distance = Word.edit_distance(Candidate, true, Nearest);
    if (Distance < Nearest || (Distance == Nearest && Best.empty())) {
      Nearest = Distance;
      Best = Candidate;
    }
  }
  return Best.empty() ? "" : "; did you mean '" + Best.str() + "'?";
}

std::string keySuggestion(llvm::StringRef Message,
                          llvm::ArrayRef<llvm::StringRef> Known) {
  llvm::StringRef Key = Message.split("unknown key '").second;
  return Key.empty() ? "" : suggestionFor(Key.split('\'').first, Known);
}

} // namespace tensorscope
