// SPDX-License-Identifier: Apache-2.0
//
// Every identifier in the text of files, whatever the conditions around it: a
// macro of another name changes nothing in them.
#ifndef TENSORSCOPE_TOOL_HEADERWORDS_H
#define TENSORSCOPE_TOOL_HEADERWORDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>
#include <vector>

namespace tensorscope {

/// Writes the identifiers in \p Files to the file \p To; false if it can't.
bool writeWords(llvm::ArrayRef<std::string> Files, llvm::StringRef To);

class HeaderWords {
public:
  /// Of a file that was written.
  static HeaderWords read(llvm::StringRef Written);

  /// Whether one of \p Names is among them; yes, for any name, if the file
  /// could not be read.
  bool hasAny(llvm::ArrayRef<std::string> Names) const;

private:
  /// Null: not read.
  std::unique_ptr<llvm::MemoryBuffer> Text;
  std::vector<llvm::StringRef> Words;
};

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_HEADERWORDS_H
