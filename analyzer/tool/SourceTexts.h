// SPDX-License-Identifier: Apache-2.0
//
// The text of source files by line, read once each. For fingerprints,
// suppressions and writers, which run after the parsing processes are gone.
#ifndef TENSORSCOPE_TOOL_SOURCETEXTS_H
#define TENSORSCOPE_TOOL_SOURCETEXTS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <vector>

namespace tensorscope {

class SourceText {
public:
  explicit SourceText(std::unique_ptr<llvm::MemoryBuffer> Buffer);

  llvm::StringRef text() const { return Buffer->getBuffer(); }
  /// Without its end; empty past the last line.
  llvm::StringRef line(unsigned Number) const;
  /// The place's offset, clipped to the line's end.
  size_t offset(unsigned Line, unsigned Column) const;

private:
  std::unique_ptr<llvm::MemoryBuffer> Buffer;
  std::vector<size_t> LineStarts;
};

class SourceTexts {
public:
  /// Null when the file cannot be read.
  const SourceText *get(llvm::StringRef File);
  llvm::StringRef line(llvm::StringRef File, unsigned Number);

private:
  llvm::StringMap<std::unique_ptr<SourceText>> Texts;
};

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_SOURCETEXTS_H
